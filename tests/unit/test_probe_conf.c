/* SPDX-License-Identifier: Apache-2.0
 *
 * utilities/probe_conf and probe_options: what is taken, and that a refusal
 * names the option, the value and what is allowed.
 */
#include "utilities/probe_options.h"

#include "base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define DST "dst=02:00:00:00:00:0b"

static struct probe_conf conf;
static struct err err;

static void
fresh(void)
{
    probe_conf_init(&conf);
    err_clear(&err);
}

TestSuite(probe_conf, .init = fresh);

Test(probe_conf, flow_defaults)
{
    const struct probe_flow_conf *f = &conf.flows[0];

    cr_assert_eq(probe_conf_add_flow(&conf, "prio=3," DST, &err), 0);
    cr_assert_eq(conf.n_flows, 1);
    cr_assert_eq(f->prio, 3);
    cr_assert_eq(f->vid, 0);
    cr_assert_eq(f->id, 1);
    cr_assert_eq(f->rate_bps, 0);
    cr_assert_eq(f->count, 0);
    cr_assert_eq(f->n_sizes, 1);
    cr_assert_eq(f->sizes[0].bytes, 1514);
    cr_assert_eq(f->dst[5], 0x0b);
    cr_assert_not(f->have_src);
    cr_assert_not(f->udp);
}

Test(probe_conf, flow_with_everything)
{
    const struct probe_flow_conf *f = &conf.flows[0];

    cr_assert_eq(probe_conf_add_flow(
                     &conf,
                     "prio=7,dst=broadcast,src=02:00:00:00:00:01,"
                     "vlan=4094,rate=60M,size=64:7/576:4/1514:1,count=9,"
                     "at=2ms,for=1s,id=77,type=udp,skip=5,dup=6,swap=7,"
                     "corrupt=8",
                     &err),
                 0, "%s", err.msg);
    cr_assert_eq(f->prio, 7);
    cr_assert_eq(f->dst[0], 0xff);
    cr_assert(f->have_src);
    cr_assert_eq(f->vid, 4094);
    cr_assert_eq(f->rate_bps, 60000000);
    cr_assert_eq(f->n_sizes, 3);
    cr_assert_eq(f->sizes[1].bytes, 576);
    cr_assert_eq(f->sizes[1].weight, 4);
    cr_assert_eq(f->count, 9);
    cr_assert_eq(f->start_ns, 2 * NS_PER_MS);
    cr_assert_eq(f->duration_ns, NS_PER_S);
    cr_assert_eq(f->id, 77);
    cr_assert(f->udp);
    cr_assert_eq(f->skip_every + f->dup_every + f->swap_every +
                     f->corrupt_every,
                 26);
}

Test(probe_conf, untagged_and_imix)
{
    cr_assert_eq(probe_conf_add_flow(&conf, "prio=0,vlan=none,size=imix," DST,
                                     &err),
                 0);
    cr_assert_eq(conf.flows[0].vid, PROBE_VLAN_NONE);
    cr_assert_eq(conf.flows[0].n_sizes, 3);
    cr_assert_eq(conf.flows[0].sizes[0].weight, 7);
}

Test(probe_conf, refusals_name_key_value_and_what_is_allowed)
{
    static const struct {
        const char *text, *in_path, *value;
    } bad[] = {
        {"prio=8," DST, "prio", "8"},
        {"prio=-1," DST, "prio", "-1"},
        {"prio=," DST, "prio", ""},
        {"prio=3,dst=1:2:3", "dst", "1:2:3"},
        {"prio=3,vlan=4095," DST, "vlan", "4095"},
        {"prio=3,size=59," DST, "size", "59"},
        {"prio=3,size=9217," DST, "size", "9217"},
        {"prio=3,size=64:0," DST, "size", "64:0"},
        {"prio=3,size=64:," DST, "size", "64:"},
        {"prio=3,size=64/," DST, "size", "64/"},
        {"prio=3,size=64:1:2," DST, "size", "64:1:2"},
        {"prio=3,rate=fast," DST, "rate", "fast"},
        {"prio=3,rate=2000G," DST, "rate", "2000G"},
        {"prio=3,count=0," DST, "count", "0"},
        {"prio=3,skip=1," DST, "skip", "1"},
        {"prio=3,type=tcp," DST, "type", "tcp"},
        {"prio=3,for=0," DST, "for", "0"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fresh();
        cr_assert_eq(probe_conf_add_flow(&conf, bad[i].text, &err), EINVAL,
                     "%s", bad[i].text);
        cr_assert(strstr(err.path, bad[i].in_path), "%s: %s", bad[i].text,
                  err.path);
        cr_assert_str_eq(err.value, bad[i].value);
        cr_assert_neq(err.allowed[0], '\0', "%s", bad[i].text);
        cr_assert_eq(conf.n_flows, 0);
    }
}

Test(probe_conf, what_is_missing_or_unknown_is_named)
{
    cr_assert_eq(probe_conf_add_flow(&conf, "prio=3", &err), EINVAL);
    cr_assert(strstr(err.msg, "dst"), "%s", err.msg);
    cr_assert_eq(probe_conf_add_flow(&conf, DST, &err), EINVAL);
    cr_assert(strstr(err.msg, "prio"), "%s", err.msg);
    cr_assert_eq(probe_conf_add_flow(&conf, "prio=3,prioo=3," DST, &err),
                 EINVAL);
    cr_assert(strstr(err.msg, "prioo"), "%s", err.msg);
    cr_assert_eq(probe_conf_add_flow(&conf, "prio", &err), EINVAL);
    cr_assert(strstr(err.msg, "key=value"), "%s", err.msg);
}

Test(probe_conf, lists_are_bounded)
{
    char text[600];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cr_assert_eq(probe_conf_add_flow(&conf, text, &err), EINVAL);
    cr_assert(strstr(err.allowed, "at most 511"), "%s", err.allowed);
}

Test(probe_conf, flows_are_bounded)
{
    for (int i = 0; i < PROBE_MAX_FLOWS; i++)
        cr_assert_eq(probe_conf_add_flow(&conf, "prio=1," DST, &err), 0);
    cr_assert_eq(probe_conf_add_flow(&conf, "prio=1," DST, &err), ENOSPC);
    cr_assert_eq(conf.n_flows, PROBE_MAX_FLOWS);
}

Test(probe_conf, slow_thresholds_follow_the_buffer)
{
    cr_assert_eq(probe_conf_add_slow(&conf, "prio=3,rate=50M", &err), 0);
    cr_assert_eq(conf.slow[3].buffer_bytes, 262144);
    cr_assert_eq(conf.slow[3].xoff_bytes, 131072);
    cr_assert_eq(conf.slow[3].xon_bytes, 65536);
    cr_assert_eq(probe_conf_add_slow(&conf,
                                     "prio=4,rate=1M,buffer=64K,xoff=65K",
                                     &err),
                 EINVAL);
    cr_assert(strstr(err.msg, "xoff"), "%s", err.msg);
    cr_assert_eq(probe_conf_add_slow(&conf, "prio=4,rate=1M,xoff=8K,xon=9K",
                                     &err),
                 EINVAL);
    cr_assert(strstr(err.msg, "xon"), "%s", err.msg);
    cr_assert_not(conf.slow[4].used);
}

Test(probe_conf, priorities)
{
    uint8_t mask = 0;

    cr_assert_eq(probe_conf_parse_prios("3,4", &mask, &err), 0);
    cr_assert_eq(mask, 0x18);
    cr_assert_eq(probe_conf_parse_prios("all", &mask, &err), 0);
    cr_assert_eq(mask, 0xff);
    cr_assert_eq(probe_conf_parse_prios("none", &mask, &err), 0);
    cr_assert_eq(mask, 0);
    mask = 0x55;
    for (const char *const *t =
             (const char *const[]){"", "8", "3,", ",3", "3 4", "33", NULL};
         *t; t++)
        cr_assert_eq(probe_conf_parse_prios(*t, &mask, &err), EINVAL, "%s",
                     *t);
    cr_assert_eq(mask, 0x55);
}

/* Parses a command line of words with a blank between. */
static enum probe_options
parse(const char *line)
{
    static char text[512];
    char *argv[40] = {"sluice-probe"};
    int argc = 1;

    snprintf(text, sizeof(text), "%s", line);
    for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc] = NULL;
    return probe_options_parse(argc, argv, &conf, &err);
}

Test(probe_conf, a_whole_command_line)
{
    cr_assert_eq(parse("--iface eth0 send --flow prio=3,rate=60M," DST
                       " receive -d 5s --pfc 3 --rate 200M --slow "
                       "prio=3,rate=50M --pause-once prio=3,at=2s,for=300ms "
                       "--expect 2 --idle 1s --strict --json"),
                 PROBE_OPTIONS_RUN, "%s", err.msg);
    cr_assert_str_eq(conf.iface, "eth0");
    cr_assert(conf.send && conf.receive && conf.strict && conf.json);
    cr_assert_eq(conf.duration_ns, 5 * NS_PER_S);
    cr_assert_eq(conf.pfc_prios, 8);
    cr_assert_eq(conf.rate_bps, 200000000);
    cr_assert_eq(conf.pauses[0].at_ns, 2 * NS_PER_S);
    cr_assert_eq(conf.pauses[0].for_ns, 300 * NS_PER_MS);
    cr_assert_eq(conf.expect, 2);
}

Test(probe_conf, duration_is_bounded_by_default)
{
    cr_assert_eq(parse("-i eth0 receive"), PROBE_OPTIONS_RUN);
    cr_assert_eq(conf.duration_ns, 10 * NS_PER_S);
}

Test(probe_conf, refused_command_lines)
{
    static const struct {
        const char *line, *says;
    } bad[] = {
        {"receive", "--iface"},
        {"-i eth0", "nothing to do"},
        {"-i eth0 send", "--flow"},
        {"-i eth0 receive --flow prio=3," DST, "send"},
        {"-i eth0 recieve", "recieve"},
        {"-i eth0 receive --bogus", "--bogus"},
        {"-i eth0 receive --duration", "--duration"},
        {"-i eth0 receive --duration 0", "--duration"},
        {"-i eth0 receive --quanta 65536", "--quanta"},
        {"-i eth0 send -f prio=1," DST " --slow prio=1,rate=1M", "--slow"},
        {"-i eth0 receive --pause-once prio=3,for=1s", "--pfc"},
        {"-i eth0 send -f prio=1,type=udp,size=64," DST, "86 or more"},
        {"-i eth0 send -f prio=1,id=2," DST " -f prio=2," DST, "id"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        err_clear(&err);
        cr_assert_eq(parse(bad[i].line), PROBE_OPTIONS_BAD, "%s", bad[i].line);
        cr_assert(strstr(err.msg, bad[i].says), "%s: %s", bad[i].line,
                  err.msg);
    }
    cr_assert_eq(parse("--help"), PROBE_OPTIONS_HELP);
    cr_assert_eq(parse("-V"), PROBE_OPTIONS_VERSION);
}
