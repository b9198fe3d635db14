/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of JSON: what apply and import read.
 */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The call around the configuration takes some octets of its own. */
#define MAX_FILE (RPC_LONG_REQUEST - 256)

/* Reads the file ("-": standard input); null when it was complained about. */
static char *
read_file(const char *command, const char *name, size_t *n)
{
    FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
    char *text = malloc(MAX_FILE + 1);
    bool failed;

    if (!text)
        abort();
    if (!f) {
        ctl_complain("%s: cannot open %s: %s", command, name, strerror(errno));
        free(text);
        return NULL;
    }
    *n = fread(text, 1, MAX_FILE + 1, f);
    failed = ferror(f);
    if (failed)
        ctl_complain("%s: cannot read %s: %s", command, name, strerror(errno));
    else if (*n > MAX_FILE)
        ctl_complain("%s: %s is too long; allowed: at most %d octets", command,
                     name, MAX_FILE);
    if (f != stdin)
        fclose(f);
    if (failed || *n > MAX_FILE) {
        free(text);
        return NULL;
    }
    return text;
}

static bool
may_be_long(void *ctx)
{
    (void) ctx;
    return true;
}

static struct rpc_stream *
open_stream(void)
{
    struct rpc_stream *s = rpc_stream_create();

    rpc_stream_let_long(s, may_be_long, NULL);
    return s;
}

/* Offset of the octet at which text stops being JSON.  Octet by octet: the
 * error of a longer piece says only that it is somewhere in it. */
static size_t
find_error(const char *text, size_t n)
{
    struct rpc_stream *s = open_stream();
    size_t at = 0;

    while (at < n) {
        struct json_object *o = NULL;
        enum rpc_code code;
        size_t used;

        if (rpc_stream_feed(s, text + at, 1, &used, &o, &code) ==
            RPC_FEED_ERROR)
            break;
        if (rpc_stream_reason(s)[0]) /* refused, once it is complete */
            break;
        json_object_put(o);
        at += used;
    }
    rpc_stream_destroy(s);
    return at;
}

/* Where in the text an offset is. */
static void
locate(const char *text, size_t offset, size_t *line, size_t *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < offset; i++) {
        ++*column;
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

/* One JSON text and nothing else; null when it was complained about. */
static struct json_object *
parse(const char *command, const char *name, const char *text, size_t n)
{
    struct rpc_stream *s = open_stream();
    struct json_object *o = NULL;
    size_t used = 0, line, column;
    enum rpc_code code;
    enum rpc_feed fed = rpc_stream_feed(s, text, n, &used, &o, &code);

    if (fed == RPC_FEED_TEXT && used + strspn(text + used, " \t\r\n") == n &&
        json_object_is_type(o, json_type_object)) {
        rpc_stream_destroy(s);
        return o;
    }
    if (fed != RPC_FEED_TEXT)
        used = fed == RPC_FEED_MORE ? n : find_error(text, n);
    locate(text, used, &line, &column);
    ctl_complain("%s: %s, line %zu, column %zu: %s", command, name, line,
                 column,
                 fed == RPC_FEED_ERROR || fed == RPC_FEED_REFUSED
                     ? rpc_stream_reason(s)
                 : fed == RPC_FEED_MORE ? "the file ends too early"
                 : o == NULL || !json_object_is_type(o, json_type_object)
                     ? "no JSON object"
                     : "something behind the configuration");
    json_object_put(o);
    rpc_stream_destroy(s);
    return NULL;
}

struct json_object *
ctl_read_json(const char *command, const char *name)
{
    struct json_object *o;
    size_t n = 0;
    char *text = read_file(command, name, &n);

    if (!text)
        return NULL;
    text[n] = '\0';
    o = parse(command, name, text, n);
    free(text);
    return o;
}
