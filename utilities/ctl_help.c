/* SPDX-License-Identifier: Apache-2.0
 *
 * The nouns of sluicectl, and what it says about itself: help, usage and the
 * list of commands that the completion reads.  All of it comes from the
 * tables, so that it cannot be out of date.
 */
#include "ctl.h"

#include <stdio.h>
#include <string.h>

const struct ctl_noun *const ctl_nouns[] = {
    &ctl_status_noun, &ctl_bridge,   &ctl_port,
    &ctl_pfc,         &ctl_pause,    &ctl_watchdog,
    &ctl_drill,       &ctl_buffer,   &ctl_pool,
    &ctl_profile,     &ctl_headroom, &ctl_queue,
    &ctl_map,         &ctl_mac,      &ctl_flow,
    &ctl_group,       &ctl_meter,    &ctl_table_noun,
    &ctl_stats,       &ctl_events,   &ctl_apply,
    &ctl_export,      &ctl_audit,    &ctl_doctor,
    &ctl_controller,  &ctl_preset,   &ctl_import,
    &ctl_rpc,         NULL,
};

static const struct {
    unsigned option;   /* enum ctl_option */
    const char *usage; /* as in help */
} option_usage[] = {
    {CTL_O_DRY_RUN, "--dry-run"}, {CTL_O_WATCH, "--watch [SECONDS]"},
    {CTL_O_COUNT, "--count N"},   {CTL_O_DURATION, "--timeout SECONDS"},
    {CTL_O_RAW, "--raw"},         {CTL_O_PERSISTENT, "--persistent"},
    {CTL_O_PERSIST, "--persist"},
};

bool
ctl_is_key(const char *word)
{
    size_t n = strcspn(word, "=");

    for (size_t i = 0; ctl_nouns[i]; i++)
        for (const struct ctl_verb *v = ctl_nouns[i]->verbs; v->name; v++)
            for (const struct ctl_key *k = v->keys; k && k->name; k++)
                if (strlen(k->name) == n && !strncmp(k->name, word, n))
                    return true;
    return false;
}

/* How the value of a key is written. */
static const char *
value_usage(const struct ctl_key *key)
{
    switch (key->kind) {
    case CTL_QTY:
        return key->unit == RPC_U_BYTES ? "SIZE"
               : key->unit == RPC_U_BPS ? "RATE"
               : key->unit == RPC_U_NS  ? "TIME"
               : key->unit == RPC_U_S   ? "TIME"
               : key->unit == RPC_U_MS  ? "TIME"
                                        : "N";
    case CTL_WORD:
        return "WORD";
    case CTL_SWITCH:
        return "on|off";
    case CTL_PRIOS:
        return "P,P|none|all";
    case CTL_VIDS:
        return "V,V-V|all";
    case CTL_LIST:
        return "WORD,WORD";
    case CTL_MAP:
        return key->word ? "N:N|keep..." : "N:N...";
    case CTL_ENABLE:
        return "P:on|off...";
    case CTL_QUEUE_MODE:
        return "Q:PERCENT%|strict...";
    case CTL_QUEUE_QTY:
        return key->unit == RPC_U_BPS     ? "Q:RATE..."
               : key->unit == RPC_U_BYTES ? "Q:SIZE..."
                                          : "Q:N...";
    case CTL_QUEUE_SWITCH:
        return "Q:on|off...";
    case CTL_QUEUE_TEXT:
        return "Q:NAME...";
    case CTL_ALPHA:
        return "N|none";
    case CTL_QUEUE_ALPHA:
        return "Q:N|none...";
    case CTL_CABLE:
        return "LENGTH|TIME";
    case CTL_NOISE:
    case CTL_FLAG:
        return "";
    case CTL_TEXT:
    default:
        return "TEXT";
    }
}

static void
print_key_usage(FILE *out, const struct ctl_key *key)
{
    const char *word = key->kind == CTL_QTY && key->word ? key->word : "";

    if (key->bare)
        fprintf(out, " [[%s] %s]", key->name, value_usage(key));
    else if (key->required)
        fprintf(out, " %s %s", key->name, value_usage(key));
    else if (key->kind == CTL_NOISE || key->kind == CTL_FLAG)
        fprintf(out, " [%s]", key->name);
    else
        fprintf(out, " [%s %s%s%.*s]", key->name, value_usage(key),
                *word ? "|" : "", (int) strcspn(word, "="), word);
}

void
ctl_print_usage(FILE *out, const struct ctl_noun *noun,
                const struct ctl_verb *verb)
{
    fprintf(out, "sluicectl %s", noun->name);
    if (!noun->is_command)
        fprintf(out, " %s", verb->name);
    for (int i = 0; i < CTL_MAX_WORDS && verb->args[i].label; i++)
        fprintf(out, verb->args[i].optional ? " [%s]" : " %s",
                verb->args[i].label);
    for (const struct ctl_key *k = verb->keys; k && k->name; k++)
        print_key_usage(out, k);
    for (size_t i = 0; i < sizeof(option_usage) / sizeof(option_usage[0]); i++)
        if (verb->options & option_usage[i].option)
            fprintf(out, " [%s]", option_usage[i].usage);
    putc('\n', out);
}

void
ctl_help_noun(const struct ctl_noun *noun)
{
    printf("%s\n\n", noun->doc);
    for (const struct ctl_verb *v = noun->verbs; v->name; v++) {
        fputs("  ", stdout);
        ctl_print_usage(stdout, noun, v);
        printf("      %s\n", v->doc);
        for (const struct ctl_key *k = v->keys; k && k->name; k++) {
            if (k->kind == CTL_NOISE)
                continue;
            printf("        %-16s  %s", k->name, k->doc);
            for (size_t i = 0; k->choices && k->choices[i]; i++)
                printf("%s%s", i ? ", " : ": ", k->choices[i]);
            putchar('\n');
        }
        putchar('\n');
    }
    if (!noun->is_command && noun->verbs[1].name)
        printf("\"sluicectl %s\" alone is \"sluicectl %s %s\".\n", noun->name,
               noun->name, noun->verbs[0].name);
    puts("\"key value\" and \"key=value\" mean the same.  Sizes take K, M, G; "
         "rates K, M, G;\ntimes ns, us, ms, s.");
}

void
ctl_help_all(void)
{
    puts("usage: sluicectl [OPTIONS] NOUN [VERB] [WORDS]\n"
         "\n"
         "Controls sluiced, the switch daemon.\n");
    for (size_t i = 0; ctl_nouns[i]; i++) {
        const struct ctl_noun *n = ctl_nouns[i];
        char verbs[80] = "";
        size_t len = 0;

        for (const struct ctl_verb *v = n->verbs; !n->is_command && v->name;
             v++)
            len += (size_t) snprintf(verbs + len, sizeof(verbs) - len, "%s%s",
                                     v == n->verbs ? "" : "|", v->name);
        printf("  %-8s %-31s %s\n", n->name, verbs, n->doc);
    }
    puts("\n"
         "Options:\n"
         "  -s, --socket WHERE   socket of the daemon, or tcp:ADDRESS:PORT\n"
         "                       [$SLUICE_SOCKET, else " RPC_DEFAULT_SOCKET
         "]\n"
         "  -j, --json           print the result as JSON\n"
         "      --tsv            print tab-separated, with plain numbers\n"
         "      --timeout S      wait at most S seconds for an answer [30]\n"
         "      --list-commands  every command, tab-separated\n"
         "  -h, --help           this, or behind a noun: help about it\n"
         "  -V, --version        the version\n"
         "\n"
         "Exit status: 0 done, 1 refused or not so, 2 bad usage, 3 no "
         "daemon.");
}

void
ctl_list_commands(void)
{
    for (size_t i = 0; ctl_nouns[i]; i++)
        for (const struct ctl_verb *v = ctl_nouns[i]->verbs; v->name; v++) {
            printf("%s\t%s\t", ctl_nouns[i]->name,
                   ctl_nouns[i]->is_command ? "" : v->name);
            for (int j = 0; j < CTL_MAX_WORDS && v->args[j].label; j++)
                printf("%s%s", j ? " " : "", v->args[j].label);
            putchar('\t');
            for (const struct ctl_key *k = v->keys; k && k->name; k++)
                printf("%s%s", k == v->keys ? "" : " ", k->name);
            putchar('\t');
            for (size_t j = 0, n = 0;
                 j < sizeof(option_usage) / sizeof(option_usage[0]); j++)
                if (v->options & option_usage[j].option)
                    printf("%s%.*s", n++ ? " " : "",
                           (int) strcspn(option_usage[j].usage, " "),
                           option_usage[j].usage);
            putchar('\n');
        }
}
