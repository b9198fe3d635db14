# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += db/libdb.a
db_libdb_a_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) $(SQLITE_CFLAGS)
db_libdb_a_SOURCES = \
	db/store.c \
	db/store_buffer.c \
	db/store.h \
	db/store_commit.c \
	db/store_control.c \
	db/store_flows.c \
	db/store_int.h \
	db/store_load.c \
	db/store_open.c
nodist_db_libdb_a_SOURCES = db/sql.h

# A migration makes the version that its name begins with.
DB_MIGRATIONS = \
	db/migrations/001-initial.sql \
	db/migrations/002-ring-bytes.sql \
	db/migrations/003-maps-wred.sql \
	db/migrations/004-watchdog.sql \
	db/migrations/005-buffers.sql \
	db/migrations/006-ofport.sql \
	db/migrations/007-openflow.sql \
	db/migrations/008-backpressure.sql \
	db/migrations/009-flows.sql \
	db/migrations/010-max-flows.sql
EXTRA_DIST += db/may_include db/schema.sql $(DB_MIGRATIONS)

# The SQL as C strings, a line each: nothing but sed is needed for it.
SQL_TO_C = $(SED) -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/        "/' \
	-e 's/$$/\\n"/'

BUILT_SOURCES += db/sql.h
CLEANFILES += db/sql.h db/sql.h.tmp
db/sql.h: db/schema.sql $(DB_MIGRATIONS) Makefile
	$(AM_V_at)$(MKDIR_P) db
	$(AM_V_GEN){ \
	echo '/* Made from db/schema.sql and db/migrations. */' && \
	echo 'static const char sql_schema[] =' && \
	$(SQL_TO_C) $(srcdir)/db/schema.sql && echo '        ;' && \
	echo 'static const struct sql_migration sql_migrations[] = {' && \
	for f in $(DB_MIGRATIONS); do \
		n=`echo $$f | $(SED) -e 's,.*/0*,,' -e 's/-.*//'`; \
		echo "    {$$n," && $(SQL_TO_C) $(srcdir)/$$f && echo '    },' \
			|| exit 1; \
	done && echo '};'; } >$@.tmp && mv $@.tmp $@
db/libdb_a-store_open.$(OBJEXT): db/sql.h

DB_LIBS = db/libdb.a $(CONF_LIBS) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/test_store tests/unit/test_store_faults \
	tests/unit/test_store_flows
TESTS += tests/unit/test_store tests/unit/test_store_faults \
	tests/unit/test_store_flows
tests_unit_test_store_flows_SOURCES = tests/unit/test_store_flows.c \
	tests/unit/store_rig.c tests/unit/store_rig.h
tests_unit_test_store_flows_CPPFLAGS = $(tests_unit_test_store_CPPFLAGS)
tests_unit_test_store_flows_LDADD = $(DB_LIBS) $(UNIT_LIBS)
tests_unit_test_store_SOURCES = tests/unit/test_store.c \
	tests/unit/conf_random.c tests/unit/conf_random.h \
	tests/unit/store_rig.c tests/unit/store_rig.h
tests_unit_test_store_CPPFLAGS = $(AM_CPPFLAGS) $(JSONC_CFLAGS) \
	$(SQLITE_CFLAGS) -I$(top_srcdir)/tests/unit
tests_unit_test_store_LDADD = $(DB_LIBS) $(UNIT_LIBS)
tests_unit_test_store_faults_SOURCES = tests/unit/test_store_faults.c \
	tests/unit/conf_random.c tests/unit/conf_random.h \
	tests/unit/store_rig.c tests/unit/store_rig.h
tests_unit_test_store_faults_CPPFLAGS = $(tests_unit_test_store_CPPFLAGS)
tests_unit_test_store_faults_LDADD = $(DB_LIBS) $(UNIT_LIBS)
