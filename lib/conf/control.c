/* SPDX-License-Identifier: Apache-2.0
 *
 * Targets of controllers, and what they demand of the rest: see control.h.
 * Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;           /* before the colon */
    enum conf_target_type type; /* what it stands for */
    bool passive;               /* the same */
} kinds[] = {
    {"tcp", CONF_TARGET_TCP, false},   {"ssl", CONF_TARGET_SSL, false},
    {"unix", CONF_TARGET_UNIX, false}, {"ptcp", CONF_TARGET_TCP, true},
    {"pssl", CONF_TARGET_SSL, true},   {"punix", CONF_TARGET_UNIX, true},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* "6653", to the end. */
static bool
read_port(const char *text, uint16_t *port, const char **why)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long n = digits && digits < 6 ? strtoul(text, NULL, 10) : 0;

    if (n < 1 || n > 65535 || text[digits]) {
        *why = "has a port that is not 1 to 65535";
        return false;
    }
    *port = (uint16_t) n;
    return true;
}

/* "192.0.2.1" or "[2001:db8::1]", of n octets. */
static bool
read_ip(const char *text, size_t n, char ip[46], const char **why)
{
    bool brackets = n > 2 && text[0] == '[' && text[n - 1] == ']';
    uint8_t address[16];

    *why = "has no IP address (IPv6 ones stand in brackets)";
    if (brackets) {
        text++;
        n -= 2;
    }
    if (!n || n > 45)
        return false;
    memcpy(ip, text, n);
    ip[n] = '\0';
    return inet_pton(brackets ? AF_INET6 : AF_INET, ip, address) == 1;
}

/* IP[:PORT] */
static bool
read_active(const char *text, struct conf_target *t, const char **why)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
    const char *colon = strchr(end ? end : text, ':');
    size_t n = colon ? (size_t) (colon - text) : strlen(text);

    t->port = CONF_OPENFLOW_PORT;
    return read_ip(text, n, t->ip, why) &&
           (!colon || read_port(colon + 1, &t->port, why));
}

/* [PORT][:IP] */
static bool
read_passive(const char *text, struct conf_target *t, const char **why)
{
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t) (colon - text) : strlen(text);
    char port[8] = "";

    t->port = CONF_OPENFLOW_PORT;
    snprintf(port, sizeof(port), "%.*s", (int) (n > 7 ? 7 : n), text);
    if (n && !read_port(port, &t->port, why))
        return false;
    return !colon || read_ip(colon + 1, strlen(colon + 1), t->ip, why);
}

static bool
read_path(const char *text, struct conf_target *t, const char **why)
{
    if (text[0] != '/')
        *why = "has a path that is not absolute";
    else if (strlen(text) >= sizeof(t->path))
        *why = "has a path of more than 107 octets";
    else
        strcpy(t->path, text);
    return t->path[0];
}

bool
conf_target_parse(const char *text, struct conf_target *t, const char **why)
{
    const char *colon = strchr(text, ':');
    struct conf_target r = {.port = 0};
    size_t k = 0;
    bool ok;

    *why = NULL;
    for (const char *p = text; *p; p++)
        if ((unsigned char) *p <= ' ' || (unsigned char) *p > '~')
            *why = "has a character that is not printable ASCII";
    if (strlen(text) > CONF_TARGET_MAX)
        *why = "is too long";
    if (*why)
        return false;
    while (k < N_KINDS &&
           (!colon || strlen(kinds[k].word) != (size_t) (colon - text) ||
            strncmp(kinds[k].word, text, (size_t) (colon - text))))
        k++;
    if (k == N_KINDS) {
        *why = "is of no known type";
        return false;
    }
    r.type = kinds[k].type;
    r.passive = kinds[k].passive;
    if (r.type == CONF_TARGET_UNIX)
        ok = read_path(colon + 1, &r, why);
    else if (r.passive)
        ok = read_passive(colon + 1, &r, why);
    else
        ok = read_active(colon + 1, &r, why);
    if (ok) {
        *t = r;
        *why = NULL;
    }
    return ok;
}

static bool
target_ok(const char *text, const char **why)
{
    struct conf_target t;

    return conf_target_parse(text, &t, why);
}

const struct section_key conf_target_key = {target_ok, CONF_TARGET_ALLOWED,
                                            "target"};

bool
conf_needs_ssl(const struct conf_openflow *of)
{
    struct conf_target t;
    const char *why;

    for (uint32_t i = 0; i < of->n_controllers; i++)
        if (conf_target_parse(of->controller[i].target, &t, &why) &&
            t.type == CONF_TARGET_SSL)
            return true;
    return false;
}

int
conf_add_controller(struct conf_bridge *b, const char *target,
                    struct conf_controller **c, struct err *err)
{
    const struct section *s =
        object_section(&conf_bridge_object, "controllers");
    struct place in;
    int rc;

    place_bridge(&in, b, err);
    rc = conf_check_named(s, b, target, &in);
    if (!rc)
        *c = section_elem(s, b, section_add(s, b, target));
    return rc;
}

/* All three files or none; a target may need them. */
int
conf_check_control(const struct conf_bridge *b, const struct place *in)
{
    const struct conf_openflow *of = &b->of;
    const char *const file[] = {of->ssl.private_key, of->ssl.certificate,
                                of->ssl.ca_certificate};
    static const char *const member[] = {"private_key", "certificate",
                                         "ca_certificate"};
    struct place at;
    int n = 0;

    place_section(&at, in, object_section(&conf_bridge_object, "ssl"), 0);
    for (int i = 0; i < 3; i++)
        n += file[i][0] != '\0';
    for (int i = 0; i < 3; i++)
        if (!file[i][0] && (n || conf_needs_ssl(of)))
            return place_refuse(&at, member[i], "none",
                                "a file, beside the two others",
                                n ? "has no file, and the others have"
                                  : "has no file, and a target needs it");
    return 0;
}
