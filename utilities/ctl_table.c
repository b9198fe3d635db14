/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables for people and tab-separated rows for scripts.  sluicectl's nouns
 * call it.
 */
#include "ctl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64

struct ctl_table {
    enum ctl_format format;         /* how it will be printed */
    char *titles;                   /* cut up in place */
    const char *title[MAX_COLUMNS]; /* into it */
    bool right[MAX_COLUMNS];        /* numbers: to the right */
    size_t n_columns;               /* of the titles */
    char **cells;                   /* row by row */
    size_t n_cells;                 /* filled in */
    size_t n_room;                  /* of cells */
};

static void *
need(void *p)
{
    if (!p)
        abort();
    return p;
}

struct ctl_table *
ctl_table_create(const struct ctl *ctl, const char *titles)
{
    struct ctl_table *t = need(calloc(1, sizeof(*t)));
    char *rest, *title;

    t->format = ctl->format;
    t->titles = rest = need(strdup(titles));
    while ((title = strsep(&rest, "|"))) {
        assert(t->n_columns < MAX_COLUMNS);
        t->right[t->n_columns] = *title == '>';
        t->title[t->n_columns++] = title + (*title == '>');
    }
    return t;
}

void
ctl_table_text(struct ctl_table *t, const char *text)
{
    if (t->n_cells == t->n_room) {
        t->n_room = t->n_room ? 2 * t->n_room : 64;
        t->cells = need(realloc(t->cells, t->n_room * sizeof(*t->cells)));
    }
    t->cells[t->n_cells++] = need(strdup(text));
}

void
ctl_table_printf(struct ctl_table *t, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    ctl_table_text(t, text);
}

/* As long as it is, in the unit that it is read in: no pause is a round
 * number of nanoseconds. */
void
ctl_table_span(struct ctl_table *t, int64_t ns)
{
    static const struct {
        int64_t ns;
        int digits;
        const char *name;
    } units[] = {{1000000000, 9, "s"}, {1000000, 6, "ms"}, {1000, 3, "us"}};
    char text[32];
    size_t n, i = 0;

    while (i < 3 && (ns < units[i].ns || (i == 0 && ns < 10 * units[0].ns)))
        i++;
    if (t->format == CTL_TSV || i == 3 || ns <= 0) {
        ctl_table_qty(t, ns, RPC_U_NS);
        return;
    }
    n = (size_t) snprintf(text, sizeof(text), "%" PRId64 ".%0*" PRId64,
                          ns / units[i].ns, units[i].digits, ns % units[i].ns);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    ctl_table_printf(t, "%.*s%s", (int) n, text, units[i].name);
}

void
ctl_table_qty(struct ctl_table *t, int64_t v, enum rpc_unit unit)
{
    char text[32];

    if (t->format == CTL_TSV)
        ctl_table_printf(t, "%" PRId64, v);
    else
        ctl_table_text(t, rpc_format_quantity(v, unit, text, sizeof(text)));
}

void
ctl_put_clean(const char *text, FILE *out)
{
    for (const unsigned char *c = (const unsigned char *) text; *c; c++) {
        /* C0, DEL, and C1 as UTF-8 writes them. */
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) {
            putc('?', out);
            c++;
        } else {
            putc(*c < 0x20 || *c == 0x7f ? '?' : *c, out);
        }
    }
}

/* How many columns a text takes: characters, not octets. */
static size_t
width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char) *text & 0xc0) != 0x80;
    return n;
}

static void
put_cell(const char *text, size_t width, bool right, bool last)
{
    size_t n = width_of(text), pad = width > n ? width - n : 0;

    for (size_t i = 0; right && i < pad; i++)
        putchar(' ');
    ctl_put_clean(text, stdout);
    for (size_t i = 0; !right && !last && i < pad; i++)
        putchar(' ');
    fputs(last ? "\n" : "  ", stdout);
}

static void
print_tsv(const struct ctl_table *t)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        /* Titles become names: small letters, no blanks. */
        for (const char *c = t->title[i]; *c; c++) {
            if (*c >= 'A' && *c <= 'Z')
                putchar(*c - 'A' + 'a');
            else
                putchar(*c == ' ' ? '_' : *c);
        }
        putchar(i + 1 < t->n_columns ? '\t' : '\n');
    }
    for (size_t i = 0; i < t->n_cells; i++) {
        ctl_put_clean(t->cells[i], stdout);
        putchar((i + 1) % t->n_columns ? '\t' : '\n');
    }
}

static void
print_aligned(const struct ctl_table *t)
{
    size_t width[MAX_COLUMNS];

    for (size_t i = 0; i < t->n_columns; i++)
        width[i] = width_of(t->title[i]);
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t n = width_of(t->cells[i]);

        if (n > width[i % t->n_columns])
            width[i % t->n_columns] = n;
    }
    for (size_t i = 0; i < t->n_columns; i++)
        put_cell(t->title[i], width[i], t->right[i], i + 1 == t->n_columns);
    for (size_t i = 0; i < t->n_columns; i++) {
        for (size_t j = 0; j < width[i]; j++)
            putchar('-');
        fputs(i + 1 == t->n_columns ? "\n" : "  ", stdout);
    }
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t c = i % t->n_columns;

        put_cell(t->cells[i], width[c], t->right[c], c + 1 == t->n_columns);
    }
}

void
ctl_table_print(struct ctl_table *t, const char *empty)
{
    assert(t->n_cells % t->n_columns == 0);
    if (t->format == CTL_TSV)
        print_tsv(t);
    else if (t->n_cells)
        print_aligned(t);
    else if (empty)
        printf("%s\n", empty);
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t->titles);
    free(t);
}
