/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of OpenFlow: how a bridge is controlled, and by whom, both ways.  See
 * store_int.h.  Control thread.
 */
#include "db/store.h"
#include "db/store_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
load_file(const struct store *s, sqlite3_stmt *stmt, int column,
          char file[CONF_FILE_MAX + 1], const char *bridge, struct err *err)
{
    const char *text = store_text_at(stmt, column);

    if (strlen(text) > CONF_FILE_MAX || (text[0] && text[0] != '/'))
        return store_refuse_row(s, "bridge_openflow", bridge,
                                "has a file that is none", err);
    memset(file, 0, CONF_FILE_MAX + 1);
    strcpy(file, text);
    return 0;
}

int
store_load_openflow(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                    struct err *err)
{
    struct conf_bridge *b;
    const char *id;
    int rc = conf_need_bridge(c, store_text_at(stmt, 0), &b, err);

    if (rc)
        return rc;
    if (!conf_fail_mode_find(store_text_at(stmt, 1), &b->of.fail_mode))
        return store_refuse_row(s, "bridge_openflow", b->name,
                                "fail_mode is unknown", err);
    id = store_text_at(stmt, 2);
    b->of.datapath_id = strcmp(id, "auto") ? strtoull(id, NULL, 16) : 0;
    if (strcmp(id, "auto") &&
        (strlen(id) != 16 || strspn(id, "0123456789abcdef") != 16 ||
         !b->of.datapath_id))
        return store_refuse_row(s, "bridge_openflow", b->name,
                                "datapath_id is none", err);
    if (!store_all_integers(stmt, 3, 1) || !store_all_integers(stmt, 7, 1))
        return store_refuse_row(s, "bridge_openflow", b->name,
                                "has no integer", err);
    b->of.management = store_u64_at(stmt, 3) != 0;
    b->of.max_flows = store_u64_at(stmt, 7) > UINT32_MAX
                          ? UINT32_MAX
                          : (uint32_t) store_u64_at(stmt, 7);
    rc = load_file(s, stmt, 4, b->of.ssl.private_key, b->name, err);
    if (!rc)
        rc = load_file(s, stmt, 5, b->of.ssl.certificate, b->name, err);
    return rc ? rc
              : load_file(s, stmt, 6, b->of.ssl.ca_certificate, b->name, err);
}

static uint32_t
ms_at(sqlite3_stmt *stmt, int column)
{
    uint64_t v = store_u64_at(stmt, column);

    return v > UINT32_MAX ? UINT32_MAX : (uint32_t) v;
}

int
store_load_controller(const struct store *s, struct conf *c,
                      sqlite3_stmt *stmt, struct err *err)
{
    struct conf_controller *ctl;
    struct conf_bridge *b;
    int rc = conf_need_bridge(c, store_text_at(stmt, 0), &b, err);

    if (!rc)
        rc = conf_add_controller(b, store_text_at(stmt, 1), &ctl, err);
    if (rc)
        return rc;
    if (!store_all_integers(stmt, 2, 2))
        return store_refuse_row(s, "controller", ctl->target, "has no integer",
                                err);
    ctl->probe_ms = ms_at(stmt, 2);
    ctl->max_backoff_ms = ms_at(stmt, 3);
    return 0;
}

static const char *
file_of(const char *file)
{
    return file[0] ? file : NULL;
}

/* They are few, and change together. */
int
store_put_control(const struct store *s, const struct conf_bridge *b,
                  struct err *err)
{
    const struct conf_openflow *of = &b->of;
    char id[17] = "auto";
    int rc;

    if (of->datapath_id)
        snprintf(id, sizeof(id), "%016llx",
                 (unsigned long long) of->datapath_id);
    rc = store_run(s, err,
                   "INSERT OR REPLACE INTO bridge_openflow (bridge,"
                   " fail_mode, datapath_id, management, private_key,"
                   " certificate, ca_certificate, max_flows)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                   "sssisssi", b->name, conf_fail_mode_name(of->fail_mode), id,
                   (int64_t) of->management, file_of(of->ssl.private_key),
                   file_of(of->ssl.certificate),
                   file_of(of->ssl.ca_certificate), (int64_t) of->max_flows);
    if (!rc)
        rc = store_run(s, err, "DELETE FROM controller WHERE bridge = ?", "s",
                       b->name);
    for (uint32_t i = 0; i < of->n_controllers && !rc; i++)
        rc = store_run(s, err,
                       "INSERT INTO controller (bridge, target, probe_ms,"
                       " max_backoff_ms) VALUES (?, ?, ?, ?)",
                       "ssii", b->name, of->controller[i].target,
                       (int64_t) of->controller[i].probe_ms,
                       (int64_t) of->controller[i].max_backoff_ms);
    return rc;
}
