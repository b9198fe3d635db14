/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of flows, groups and meters: read line by line, sent to the daemon in
 * requests that are not too long, as one transaction.  What is wrong is said
 * with the line of the file.
 */
#include "ctl.h"
#include "ctl_lines.h"

#include "ofp/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINES  8000   /* of a request */
#define MAX_OCTETS 500000 /* of them */
#define MAX_STAGED 200000 /* lines of a transaction, see flow.stage */

struct lines {
    const char *file;         /* as given; null: from the command line */
    struct json_object *text; /* all lines, without comments */
    unsigned *number;         /* of each in its file */
    size_t room;              /* of number */
    size_t sent;              /* lines before those of this request */
};

static struct lines now; /* what ctl_blame_line() looks at */

/* All of a file ("-": standard input), null when it was complained about. */
static char *
read_all(const char *command, const char *name)
{
    FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
    char *text = NULL;
    size_t n = 0, room = 0, got = 1;
    int error = 0;

    while (f && got > 0) {
        if (room - n < 65536) {
            room = room ? 2 * room : 131072;
            text = realloc(text, room);
            if (!text)
                abort();
        }
        got = fread(text + n, 1, room - n - 1, f);
        n += got;
    }
    if (!f || ferror(f))
        error = errno ? errno : EIO;
    if (f && f != stdin)
        fclose(f);
    if (!error && memchr(text, '\0', n))
        error = EILSEQ;
    if (error) {
        ctl_complain("%s: cannot read %s: %s", command, name,
                     error == EILSEQ ? "it has a NUL octet, which no text has"
                                     : strerror(error));
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

static void
add_line(struct lines *l, const char *s, unsigned number)
{
    size_t n = json_object_array_length(l->text);

    if (n == l->room) {
        l->room = l->room ? 2 * l->room : 256;
        l->number = realloc(l->number, l->room * sizeof(*l->number));
        if (!l->number)
            abort();
    }
    l->number[n] = number;
    json_object_array_add(l->text, json_object_new_string(s));
}

static enum ctl_status
read_file(struct ctl *ctl, const char *file, struct lines *l)
{
    char *text = read_all(ctl->noun->name, file);
    struct ofp_lines *lines = calloc(1, sizeof(*lines));
    enum ctl_status status = CTL_OK;

    if (!lines)
        abort();
    if (!text) {
        free(lines);
        return CTL_USAGE;
    }
    lines->rest = text;
    while (ofp_lines_next(lines))
        add_line(l, lines->line, lines->number);
    if (lines->too_long) {
        ctl_complain("%s:%u: a line is longer than %d octets", file,
                     lines->number, OFP_TEXT_MAX - 1);
        status = CTL_USAGE;
    }
    free(lines);
    free(text);
    return status;
}

/* "flows.txt:17: " for an error whose path is /params/flows/16. */
static const char *
blame_line(struct ctl *ctl, struct json_object *error)
{
    static char where[300];
    const char *path = ctl_text(ctl_get(error, "data"), "path");
    const char *last = strrchr(path, '/');
    unsigned long i;

    (void) ctl;
    if (!now.file || !last || strncmp(path, "/params/", 8) || last[1] < '0' ||
        last[1] > '9')
        return "";
    i = strtoul(last + 1, NULL, 10) + now.sent;
    if (i >= json_object_array_length(now.text))
        return "";
    snprintf(where, sizeof(where), "%s:%u: ", now.file, now.number[i]);
    return where;
}

/* The next lines, as many as a request takes. */
static struct json_object *
next_lines(const struct lines *l, size_t *at)
{
    struct json_object *a = json_object_new_array();
    size_t n_octets = 0, n = json_object_array_length(l->text);

    while (*at < n && json_object_array_length(a) < MAX_LINES &&
           n_octets < MAX_OCTETS) {
        struct json_object *s = json_object_array_get_idx(l->text, *at);

        n_octets += (size_t) json_object_get_string_len(s) + 4;
        json_object_array_add(a, json_object_get(s));
        ++*at;
    }
    return a;
}

/* All but the last lines are staged; *at is then at those. */
static enum ctl_status
stage(struct ctl *ctl, const struct lines *l, const char *name, size_t *at)
{
    size_t n = json_object_array_length(l->text);
    enum ctl_status status = CTL_OK;

    while (!status) {
        size_t end = *at;
        struct json_object *a = next_lines(l, &end), *p, *result = NULL;

        if (end == n) {
            json_object_put(a);
            break;
        }
        p = json_object_new_object();
        json_object_object_add(p, "transaction", json_object_new_string(name));
        json_object_object_add(p, "lines", a);
        status = ctl_call(ctl, "flow.stage", p, &result);
        json_object_put(result);
        *at = end;
    }
    return status;
}

static enum ctl_status
call(struct ctl *ctl, const char *method, const char *member,
     struct json_object *params, struct json_object *lines,
     const char *transaction, struct json_object **result)
{
    struct json_object *p = json_object_new_object();

    json_object_object_foreach (params, key, value)
        json_object_object_add(p, key, json_object_get(value));
    json_object_object_add(p, member, lines);
    if (transaction)
        json_object_object_add(p, "transaction",
                               json_object_new_string(transaction));
    return ctl_call(ctl, method, p, result);
}

/* Of what no transaction can hold: a request after another. */
static enum ctl_status
send_in_turn(struct ctl *ctl, const char *method, const char *member,
             struct json_object *params, struct json_object **result)
{
    size_t at = 0, n = json_object_array_length(now.text);
    enum ctl_status status = CTL_OK;

    while (!status && at < n) {
        struct json_object *a;

        now.sent = at;
        a = next_lines(&now, &at);
        json_object_put(*result);
        *result = NULL;
        status = call(ctl, method, member, params, a, NULL, result);
    }
    if (status && now.sent)
        ctl_complain("the first %zu lines took effect", now.sent);
    return status;
}

static enum ctl_status
send_as_one(struct ctl *ctl, const char *method, const char *member,
            struct json_object *params, struct json_object **result)
{
    struct json_object *last;
    enum ctl_status status;
    char name[48];
    size_t at = 0, n_staged;

    snprintf(name, sizeof(name), "sluicectl-%ld", (long) getpid());
    status = stage(ctl, &now, name, &at);
    if (status)
        return status;
    n_staged = at;
    last = next_lines(&now, &at);
    return call(ctl, method, member, params, last, n_staged ? name : NULL,
                result);
}

enum ctl_status
ctl_send_lines(struct ctl *ctl, const struct ctl_lines *what,
               struct json_object *params, struct json_object **result)
{
    enum ctl_status status = CTL_OK;

    memset(&now, 0, sizeof(now));
    now.text = json_object_new_array();
    if (what->file) {
        now.file = strcmp(what->file, "-") ? what->file : "standard input";
        status = read_file(ctl, what->file, &now);
    } else {
        add_line(&now, what->line ? what->line : "", 1);
    }
    ctl->blame = blame_line;
    if (!status && !what->as_one && ctl_len(now.text) > MAX_STAGED)
        status = send_in_turn(ctl, what->method, what->member, params, result);
    else if (!status)
        status = send_as_one(ctl, what->method, what->member, params, result);
    ctl->blame = NULL;
    json_object_put(now.text);
    free(now.number);
    memset(&now, 0, sizeof(now));
    return status;
}
