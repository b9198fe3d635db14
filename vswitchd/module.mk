# SPDX-License-Identifier: Apache-2.0
sbin_PROGRAMS += vswitchd/sluiced
vswitchd_sluiced_SOURCES = \
	vswitchd/bridge.c \
	vswitchd/bridge.h \
	vswitchd/build.c \
	vswitchd/build.h \
	vswitchd/commit.c \
	vswitchd/counts.c \
	vswitchd/counts.h \
	vswitchd/daemon.h \
	vswitchd/doctor.h \
	vswitchd/doctor_host.c \
	vswitchd/doctor_peer.c \
	vswitchd/dp_thread.c \
	vswitchd/dp_thread.h \
	vswitchd/events.c \
	vswitchd/events.h \
	vswitchd/files.c \
	vswitchd/files.h \
	vswitchd/flow_frame.c \
	vswitchd/flow_frame.h \
	vswitchd/flow_persist.c \
	vswitchd/flow_persist.h \
	vswitchd/flow_text.c \
	vswitchd/flow_text.h \
	vswitchd/history.c \
	vswitchd/history.h \
	vswitchd/host.c \
	vswitchd/host.h \
	vswitchd/json.c \
	vswitchd/json.h \
	vswitchd/links.c \
	vswitchd/links.h \
	vswitchd/m_audit.c \
	vswitchd/m_bridge.c \
	vswitchd/m_buffer.c \
	vswitchd/m_clear.c \
	vswitchd/m_config.c \
	vswitchd/m_controller.c \
	vswitchd/m_daemon.c \
	vswitchd/m_doctor.c \
	vswitchd/m_drill.c \
	vswitchd/m_events.c \
	vswitchd/m_flow.c \
	vswitchd/m_flow_dump.c \
	vswitchd/m_flow_trace.c \
	vswitchd/m_graph.c \
	vswitchd/m_group.c \
	vswitchd/m_headroom.c \
	vswitchd/m_history.c \
	vswitchd/m_mac.c \
	vswitchd/m_map.c \
	vswitchd/m_pfc.c \
	vswitchd/m_pool.c \
	vswitchd/m_port.c \
	vswitchd/m_preset.c \
	vswitchd/m_queue.c \
	vswitchd/m_stats.c \
	vswitchd/m_watchdog.c \
	vswitchd/m_watermark.c \
	vswitchd/main.c \
	vswitchd/memory.c \
	vswitchd/memory.h \
	vswitchd/methods.c \
	vswitchd/methods.h \
	vswitchd/ofbridge.c \
	vswitchd/ofbridge.h \
	vswitchd/ofports.c \
	vswitchd/ofports.h \
	vswitchd/of.c \
	vswitchd/of.h \
	vswitchd/of_async.c \
	vswitchd/of_fail.c \
	vswitchd/of_int.h \
	vswitchd/of_ops.c \
	vswitchd/of_peer.c \
	vswitchd/of_stats.c \
	vswitchd/of_target.c \
	vswitchd/of_tls.c \
	vswitchd/options.c \
	vswitchd/options.h \
	vswitchd/privs.c \
	vswitchd/privs.h \
	vswitchd/reactor.c \
	vswitchd/reactor.h \
	vswitchd/rpc_server.c \
	vswitchd/rpc_server.h \
	vswitchd/sched.c \
	vswitchd/sched.h \
	vswitchd/txn.c \
	vswitchd/txn.h \
	vswitchd/watch.c \
	vswitchd/watch.h
vswitchd_sluiced_CPPFLAGS = $(AM_CPPFLAGS) \
	$(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS) $(JSONC_CFLAGS) $(CAPNG_CFLAGS) $(SYSTEMD_CFLAGS)
vswitchd_sluiced_LDADD = \
	lib/ofproto/libofproto.a \
	db/libdb.a \
	lib/rpc/librpc.a \
	lib/ofconn/libofconn.a \
	lib/conf/libconf.a \
	lib/dp/libdp.a \
	lib/netdev/libnetdev.a \
	lib/flow/libflow.a \
	lib/ofp/libofp.a \
	lib/qos/libqos.a \
	lib/pkt/libpkt.a \
	lib/wire/libwire.a \
	lib/base/libbase.a \
	$(LIBEVENT_LIBS) $(OPENSSL_LIBS) $(LIBNL_LIBS) $(XDP_LIBS) $(JSONC_LIBS) $(SQLITE_LIBS) \
	$(CAPNG_LIBS) $(SYSTEMD_LIBS) -lm
EXTRA_DIST += vswitchd/may_include

# Where systemd looks below any prefix that it knows.
unitdir = $(prefix)/lib/systemd/system
nodist_unit_DATA = vswitchd/sluiced.service
EXTRA_DIST += vswitchd/sluiced.service.in
CLEANFILES += vswitchd/sluiced.service vswitchd/sluiced.service.tmp
vswitchd/sluiced.service: $(srcdir)/vswitchd/sluiced.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) vswitchd && \
	$(SED) -e 's|@sbindir[@]|$(sbindir)|' \
		$(srcdir)/vswitchd/sluiced.service.in >$@.tmp && mv $@.tmp $@

dist_man_MANS += docs/man/sluiced.8
