/* SPDX-License-Identifier: Apache-2.0
 *
 * Presets: see preset.h.  Control thread.
 */
#include "conf/preset.h"

#include "conf/field.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What a preset sets anew, whatever it says. */
#define ANEW                                                             \
    "{\"pfc\": null, \"pause\": null, \"map\": null, \"groups\": null, " \
    "\"queues\": null}"

/* SONiC's: of DSCP, 3, 4, 5, 8, 46 and 48 have a class of their own. */
static const char sonic[] =
    "{\"pfc\": {\"priorities\": [3, 4]},"
    " \"map\": {\"trust\": \"dscp\", \"dscp_to_priority\":"
    " [1,1,1,3,4,2,1,1, 0,1,1,1,1,1,1,1, 1,1,1,1,1,1,1,1,"
    " 1,1,1,1,1,1,1,1, 1,1,1,1,1,1,1,1, 1,1,1,1,1,1,5,1,"
    " 6,1,1,1,1,1,1,1, 1,1,1,1,1,1,1,1]},"
    " \"groups\": {\"3\": {\"alpha\": 0}, \"4\": {\"alpha\": 0}},"
    " \"queues\": {"
    " \"0\": {\"mode\": \"ets\", \"weight\": 14},"
    " \"1\": {\"mode\": \"ets\", \"weight\": 14},"
    " \"2\": {\"mode\": \"ets\", \"weight\": 14},"
    " \"3\": {\"mode\": \"ets\", \"weight\": 15},"
    " \"4\": {\"mode\": \"ets\", \"weight\": 15},"
    " \"5\": {\"mode\": \"ets\", \"weight\": 14},"
    " \"6\": {\"mode\": \"ets\", \"weight\": 14},"
    " \"7\": {\"mode\": \"strict\"}}}";

const struct conf_preset conf_presets[] = {
    {"none", "no lossless class: every default", "{}"},
    {"sonic",
     "lossless 3 and 4, trust dscp, alpha 1; ETS 15 % for 3 and 4, 14 % for "
     "0, 1, 2, 5 and 6; 7 strict",
     sonic},
    {"fcoe", "lossless 3, trust pcp",
     "{\"pfc\": {\"priorities\": [3]}, \"map\": {\"trust\": \"pcp\"}}"},
    {NULL, NULL, NULL},
};

static int
refuse(const char *name, struct err *err)
{
    char text[40], list[80] = "";
    const char *names[8], *near;
    size_t n = 0, used = 0;

    for (; conf_presets[n].name; n++) {
        names[n] = conf_presets[n].name;
        used += (size_t) snprintf(list + used, sizeof(list) - used, "%s%s",
                                  n ? ", " : "", names[n]);
    }
    near = conf_suggest(name, names, n);
    conf_plain_text(name, text, sizeof(text));
    return err_set(err, ENOENT, NULL, text, list,
                   "there is no preset \"%s\"%s%s%s: allowed are %s", text,
                   near ? ", did you mean \"" : "", near ? near : "",
                   near ? "\"?" : "", list);
}

static int
edit_port(struct conf_port *p, const char *text, struct err *err)
{
    struct json_object *edit = json_tokener_parse(text);
    int rc;

    assert(edit);
    rc = conf_port_edit(p, edit, NULL, err);
    json_object_put(edit);
    return rc;
}

static int
give(struct conf_port *p, const struct conf_preset *preset, struct err *err)
{
    int rc = edit_port(p, ANEW, err);

    return rc ? rc : edit_port(p, preset->port, err);
}

/* The defaults of a bridge's ports: the map of the preset. */
static int
give_map(struct conf_bridge *b, const struct conf_preset *preset,
         struct err *err)
{
    struct json_object *port = json_tokener_parse(preset->port), *map = NULL;
    struct json_object *anew = json_tokener_parse("{\"map\": null}");
    struct json_object *edit = json_object_new_object();
    int rc;

    json_object_object_get_ex(port, "map", &map);
    if (map)
        json_object_object_add(edit, "map", json_object_get(map));
    rc = conf_bridge_edit(b, anew, NULL, err);
    if (!rc)
        rc = conf_bridge_edit(b, edit, NULL, err);
    json_object_put(edit);
    json_object_put(anew);
    json_object_put(port);
    return rc;
}

int
conf_preset_apply(struct conf_bridge *b, struct conf_port *p, const char *name,
                  struct err *err)
{
    const struct conf_preset *preset = conf_presets;
    uint32_t i;
    int rc;

    while (preset->name && strcmp(preset->name, name))
        preset++;
    if (!preset->name)
        return refuse(name, err);
    if (p)
        return give(p, preset, err);
    rc = give_map(b, preset, err);
    for (i = 0; i < b->n_ports && !rc; i++)
        rc = give(b->ports[i], preset, err);
    return rc;
}
