/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl audit and doctor: does everything add up, and are the lossless
 * classes really lossless?
 */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- audit ------------------------------------------------------------------
 */

static int64_t
sum_of_members(struct json_object *o)
{
    int64_t sum = 0;

    if (json_object_is_type(o, json_type_object)) {
        json_object_object_foreach (o, name, v) {
            (void) name;
            sum += json_object_get_int64(v);
        }
    }
    return sum;
}

static void
show_audit(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(
        ctl, "Bridge|Adds up|>Rx|>Copies|>Tx|>Held|>Drops|>Kernel drops|"
             ">Charged bytes|>Held bytes");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *b = ctl_at(result, i);

        ctl_table_text(t, ctl_text(b, "bridge"));
        ctl_table_text(t, ctl_bool(b, "ok") ? "yes" : "NO");
        ctl_table_qty(t, ctl_int(b, "rx"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(b, "copies"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(b, "tx"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(b, "held"), RPC_U_NONE);
        ctl_table_qty(t, sum_of_members(ctl_get(b, "drops")), RPC_U_NONE);
        ctl_table_qty(t, sum_of_members(ctl_get(b, "kernel_drops")),
                      RPC_U_NONE);
        ctl_table_qty(t, ctl_int(b, "charged_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(b, "held_bytes"), RPC_U_NONE);
    }
    ctl_table_print(t, "no bridges");
}

static enum ctl_status
run_audit(struct ctl *ctl, struct json_object *params)
{
    struct json_object *result = NULL;
    enum ctl_status status =
        ctl_call(ctl, "audit.show", json_object_get(params), &result);

    if (status)
        return status;
    for (size_t i = 0; i < ctl_len(result); i++)
        if (!ctl_bool(ctl_at(result, i), "ok"))
            status = CTL_REFUSED;
    ctl_show(ctl, result);
    return status;
}

/* --- doctor -----------------------------------------------------------------
 */

static const struct {
    const char *member; /* of "terms" */
    const char *says;   /* for people */
    bool is_sum;        /* stands below a line */
} terms[] = {
    {"cable_bytes", "cable, there and back", false},
    {"reaction_bytes", "the peer's reaction time", false},
    {"macphy_bytes", "MAC and PHY delay", false},
    {"rx_mtu_bytes", "a frame that the peer has begun", false},
    {"tx_mtu_bytes", "a frame that delays our PFC frame", false},
    {"hw_bytes", "hardware in all", true},
    {"stall_bytes", "arrived while our thread did not run", false},
    {"late_bytes", "and while PFC was on the emulated cable", false},
    {"batch_bytes", "one batch of the peer, 32 frames", false},
    {"sw_bytes", "software in all, with the cable", true},
    {"total_bytes", "needed: the larger of both", true},
};

static void
print_size(const char *says, int64_t bytes, bool is_sum)
{
    printf("  %s%-38s %12" PRId64 "\n", is_sum ? "= " : "  ", says, bytes);
}

static void
print_finding(struct json_object *f)
{
    fputs("  ! ", stdout);
    ctl_put_clean(ctl_text(f, "message"), stdout);
    if (ctl_int(f, "short_bytes"))
        printf(" (%" PRId64 " bytes short)", ctl_int(f, "short_bytes"));
    putchar('\n');
    if (ctl_get(f, "command")) {
        fputs("    try: ", stdout);
        ctl_put_clean(ctl_text(f, "command"), stdout);
        putchar('\n');
    }
}

static void
print_diagnosis(struct json_object *d)
{
    struct json_object *t = ctl_get(d, "terms");
    struct json_object *findings = ctl_get(d, "findings");

    printf("port ");
    ctl_put_clean(ctl_text(d, "port"), stdout);
    printf(", priority %" PRId64 ", group %" PRId64 ": lossless: ",
           ctl_int(d, "priority"), ctl_int(d, "group"));
    ctl_put_clean(ctl_text(d, "lossless"), stdout);
    putchar('\n');
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
        if (ctl_get(t, terms[i].member))
            print_size(terms[i].says, ctl_int(t, terms[i].member),
                       terms[i].is_sum);
    print_size("headroom that there is", ctl_int(d, "headroom_bytes"), false);
    print_size("headroom that is needed", ctl_int(d, "needed_bytes"), false);
    print_size("receive ring that there is", ctl_int(d, "ring_bytes"), false);
    print_size("receive ring that is needed", ctl_int(d, "ring_needed_bytes"),
               false);
    for (size_t i = 0; i < ctl_len(findings); i++)
        print_finding(ctl_at(findings, i));
}

static void
print_doctor_tsv(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(
        ctl, "port|bridge|priority|group|lossless|headroom_bytes|"
             "needed_bytes|ring_bytes|ring_needed_bytes|hw_bytes|sw_bytes|"
             "findings");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *d = ctl_at(result, i);

        ctl_table_text(t, ctl_text(d, "port"));
        ctl_table_text(t, ctl_text(d, "bridge"));
        ctl_table_qty(t, ctl_int(d, "priority"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(d, "group"), RPC_U_NONE);
        ctl_table_text(t, ctl_text(d, "lossless"));
        ctl_table_qty(t, ctl_int(d, "headroom_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(d, "needed_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(d, "ring_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(d, "ring_needed_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(ctl_get(d, "terms"), "hw_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(ctl_get(d, "terms"), "sw_bytes"), RPC_U_NONE);
        ctl_table_printf(t, "%zu", ctl_len(ctl_get(d, "findings")));
    }
    ctl_table_print(t, NULL);
}

static void
show_doctor(struct ctl *ctl, struct json_object *result)
{
    if (ctl->format == CTL_TSV) {
        print_doctor_tsv(ctl, result);
        return;
    }
    for (size_t i = 0; i < ctl_len(result); i++) {
        if (i)
            putchar('\n');
        print_diagnosis(ctl_at(result, i));
    }
    if (!ctl_len(result))
        puts("no lossless priorities (make one: sluicectl pfc set PORT prio "
             "3:on)");
}

static enum ctl_status
run_doctor(struct ctl *ctl, struct json_object *params)
{
    struct json_object *result = NULL;
    enum ctl_status status =
        ctl_call(ctl, "doctor.show", json_object_get(params), &result);

    if (status)
        return status;
    for (size_t i = 0; i < ctl_len(result); i++)
        if (!strcmp(ctl_text(ctl_at(result, i), "lossless"), "no"))
            status = CTL_REFUSED;
    ctl_show(ctl, result);
    return status;
}

static const struct ctl_verb audit_verbs[] = {
    {.name = "show",
     .args = {{"BRIDGE", "bridge", true}},
     .doc = "Does rx + copies = tx + held + drops?  Exit status 1 if not.",
     .show = show_audit,
     .run = run_audit},
    {.name = NULL}};

static const struct ctl_verb doctor_verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .doc = "Every term of the headroom rule.  Exit status 1 if a lossless "
            "class is not.",
     .show = show_doctor,
     .run = run_doctor},
    {.name = NULL}};

const struct ctl_noun ctl_audit = {.name = "audit",
                                   .doc =
                                       "Whether every frame is accounted for.",
                                   .verbs = audit_verbs,
                                   .is_command = true};
const struct ctl_noun ctl_doctor = {
    .name = "doctor",
    .doc = "Whether lossless classes are lossless, and why.",
    .verbs = doctor_verbs,
    .is_command = true};
