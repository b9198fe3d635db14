/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of key=value: see probe_kv.h.
 */
#include "probe_kv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_LIST 512 /* octets of a list, with its NUL */

int
probe_kv_refuse(struct err *err, const char *option, const char *key,
                const char *value, const char *allowed)
{
    char path[96];

    snprintf(path, sizeof(path), "--%s%s%s", option, key ? " " : "",
             key ? key : "");
    return err_set(err, EINVAL, path, value, allowed, "%s: \"%s\" is not %s",
                   path, value, allowed);
}

int
probe_kv_num(void *member, const struct probe_key *k, const char *option,
             const char *key, const char *value, struct err *err)
{
    char allowed[96], lo[32], hi[32];
    int64_t v;

    if (rpc_parse_quantity(value, k->unit, &v, NULL) == 0 && v >= k->min &&
        v <= k->max) {
        if (k->width == 1)
            *(uint8_t *) member = (uint8_t) v;
        else if (k->width == 4)
            *(uint32_t *) member = (uint32_t) v;
        else
            *(uint64_t *) member = (uint64_t) v;
        return 0;
    }
    rpc_format_quantity(k->min, k->unit, lo, sizeof(lo));
    rpc_format_quantity(k->max, k->unit, hi, sizeof(hi));
    snprintf(allowed, sizeof(allowed), "a quantity from %s to %s", lo, hi);
    return probe_kv_refuse(err, option, key, value, allowed);
}

static int
unknown_key(const struct probe_key *keys, const char *option, const char *key,
            struct err *err)
{
    char allowed[160] = "one of";
    size_t at = strlen(allowed);

    for (const struct probe_key *k = keys; k->name && at < sizeof(allowed);
         k++)
        at += (size_t) snprintf(allowed + at, sizeof(allowed) - at, " %s",
                                k->name);
    return probe_kv_refuse(err, option, NULL, key, allowed);
}

/* One "key=value"; *i is the row that it is of. */
static int
parse_item(void *base, const struct probe_key *keys, const char *option,
           char *item, uint32_t *i, struct err *err)
{
    char *value = strchr(item, '=');

    if (!value)
        return probe_kv_refuse(err, option, NULL, item,
                               "of the form key=value");
    *value++ = '\0';
    for (*i = 0; keys[*i].name && strcmp(keys[*i].name, item) != 0;)
        ++*i;
    if (!keys[*i].name)
        return unknown_key(keys, option, item, err);
    if (keys[*i].parse)
        return keys[*i].parse(base, value, err);
    return probe_kv_num((char *) base + keys[*i].offset, &keys[*i], option,
                        item, value, err);
}

int
probe_kv_parse(void *base, const struct probe_key *keys, const char *option,
               const char *text, uint32_t *given, struct err *err)
{
    char copy[MAX_LIST];

    *given = 0;
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int) sizeof(copy))
        return probe_kv_refuse(err, option, NULL, text,
                               "at most 511 octets long");
    for (char *save, *item = strtok_r(copy, ",", &save); item;
         item = strtok_r(NULL, ",", &save)) {
        uint32_t i = 0;
        int e = parse_item(base, keys, option, item, &i, err);

        if (e)
            return e;
        *given |= 1u << i;
    }
    for (const struct probe_key *k = keys; k->name; k++) {
        if (k->required && !(*given & 1u << (k - keys)))
            return err_set(err, EINVAL, option, "", k->name,
                           "--%s needs %s=", option, k->name);
    }
    return 0;
}
