# SPDX-License-Identifier: Apache-2.0
#
# sluice-topo: a script, and its package beside the demo's files.
topodir = $(pkgdatadir)/topo
topopackagedir = $(topodir)/sluice_topo
dist_topopackage_DATA = \
	utilities/topo/sluice_topo/__init__.py \
	utilities/topo/sluice_topo/cli.py \
	utilities/topo/sluice_topo/config.py \
	utilities/topo/sluice_topo/docker.py \
	utilities/topo/sluice_topo/document.py \
	utilities/topo/sluice_topo/errors.py \
	utilities/topo/sluice_topo/expect.py \
	utilities/topo/sluice_topo/graph.py \
	utilities/topo/sluice_topo/lab.py \
	utilities/topo/sluice_topo/links.py \
	utilities/topo/sluice_topo/model.py \
	utilities/topo/sluice_topo/names.py \
	utilities/topo/sluice_topo/netns.py \
	utilities/topo/sluice_topo/plot.py \
	utilities/topo/sluice_topo/report.py \
	utilities/topo/sluice_topo/rpc.py \
	utilities/topo/sluice_topo/state.py \
	utilities/topo/sluice_topo/system.py \
	utilities/topo/sluice_topo/traffic.py \
	utilities/topo/sluice_topo/values.py

bin_SCRIPTS += utilities/topo/sluice-topo
CLEANFILES += utilities/topo/sluice-topo utilities/topo/sluice-topo.tmp
EXTRA_DIST += utilities/topo/sluice-topo.in
utilities/topo/sluice-topo: utilities/topo/sluice-topo.in Makefile
	$(AM_V_GEN)$(MKDIR_P) utilities/topo && \
		sed -e 's|@topodir[@]|$(topodir)|g' \
		-e 's|@bindir[@]|$(bindir)|g' -e 's|@sbindir[@]|$(sbindir)|g' \
		-e 's|@VERSION[@]|$(VERSION)|g' \
		$(srcdir)/utilities/topo/sluice-topo.in > $@.tmp && \
		chmod +x $@.tmp && mv $@.tmp $@
dist_man_MANS += docs/man/sluice-topo.1

# What our image brings: what runs in a container, and links for Compose.
EXTRA_DIST += utilities/docker/compose-links utilities/docker/sluice-container
