/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any JSON as a config_db.json.  Whatever is in it, the
 * translation ends, says why when it refuses, and what it makes is refused by
 * the model or valid; a refusal edits nothing.
 */
#include "conf/sonic.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static void
check(struct json_object *db)
{
    struct json_object *edit, *notes = NULL;
    struct conf *c = conf_create();
    struct conf_bridge *b;
    struct conf_port *p;
    struct err err;

    err_clear(&err);
    require(!conf_add_bridge(c, "br0", &b, &err));
    require(!conf_add_port(c, b, "Ethernet0", "mem", &p, &err));
    require(!conf_add_port(c, b, "Ethernet4", "mem", &p, &err));
    if (conf_sonic_translate(db, NULL, true, b, &edit, &notes, &err)) {
        require(err.msg[0] != '\0' && err.code != 0);
    } else {
        require(json_object_is_type(edit, json_type_object));
        require(json_object_is_type(notes, json_type_array));
        json_object_put(edit);
        json_object_put(notes);
        err_clear(&err);
        if (conf_sonic_import(db, NULL, true, b, &notes, &err)) {
            require(err.msg[0] != '\0');
        } else {
            err_clear(&err);
            require(!conf_validate(c, &err) || err.msg[0] != '\0');
            json_object_put(notes);
        }
    }
    conf_destroy(c);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct json_tokener *tok = json_tokener_new_ex(8);
    struct json_object *db =
        n ? json_tokener_parse_ex(tok, (const char *) data, (int) n) : NULL;

    if (json_tokener_get_error(tok) == json_tokener_success)
        check(db);
    json_object_put(db);
    json_tokener_free(tok);
    return 0;
}
