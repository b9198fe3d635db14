/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, the audit itself: that it sees what is wrong.  The other tests ask
 * it after every turn and would not notice an audit that is always content.
 * It looks inside the datapath to break it.
 */
#include "dp/dp_priv.h"
#include "tests/unit/dp_rig.h"

static struct rig rig;

static void
init(void)
{
    rig_init(&rig, 2);
    rig.conf[1].pfc.honoured = 1 << 3;
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, 1 << 3, 65535);
    for (uint32_t i = 0; i < 4; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 100, i);
    rig_settle(&rig);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_audit, .init = init, .fini = uninit);

static bool
content(void)
{
    struct dp_audit audit;
    bool ok = dp_audit(rig.dp, &audit);

    cr_assert_eq(ok, audit.ok);
    return ok;
}

Test(dp_audit, adds_up)
{
    struct dp_audit audit;

    cr_assert(dp_audit(rig.dp, &audit));
    cr_assert_eq(audit.rx, 6);
    cr_assert_eq(audit.copies, 0);
    cr_assert_eq(audit.tx, 2);
    cr_assert_eq(audit.held, 4);
    cr_assert_eq(audit.drops, 0);
    cr_assert_eq(audit.held_bytes, 400);
    cr_assert_eq(audit.charged_bytes, 400);
    cr_assert(content(), "it leaves marks behind");
}

/* Changes *word by one, asks, and changes it back. */
#define NOTICED(word)                                                 \
    do {                                                              \
        (word)++;                                                     \
        cr_assert_not(content(), "a wrong " #word " is not noticed"); \
        (word)--;                                                     \
        cr_assert(content());                                         \
    } while (0)

Test(dp_audit, notices_what_is_wrong)
{
    struct dp_port *in = rig.state[0], *out = rig.state[1];
    struct dp_queue *queue = &out->queue[3];

    NOTICED(in->n.rx_frames);
    NOTICED(in->n.copies);
    NOTICED(out->n.tx_frames);
    NOTICED(out->n.drops[DP_DROP_QUEUE_LIMIT]);
    NOTICED(out->n.held);
    NOTICED(in->group[3].shared_used);
    NOTICED(in->group[3].headroom_used);
    NOTICED(in->group[3].n_held);
    NOTICED(in->group[4].reserved_used);
    NOTICED(rig.dp->buf[0].shared_used);
    NOTICED(queue->frames);
    NOTICED(queue->bytes);
    NOTICED(queue->head_len);
    NOTICED(out->n.q_frames[3]);
    NOTICED(out->n.q_bytes[3]);
    NOTICED(queue->head->charge_bytes);
    NOTICED(queue->head->pg);
}

Test(dp_audit, notices_a_broken_list)
{
    struct dp_queue *queue = &rig.state[1]->queue[3];
    struct pkt *second = queue->head->next;

    queue->head->next = second->next;
    cr_assert_not(content());
    queue->head->next = second;
    queue->tail = second;
    cr_assert_not(content());
}

Test(dp_audit, notices_a_queue_that_is_not_served)
{
    rig.state[1]->ready = 0;
    cr_assert_not(content());
    rig.state[1]->ready = 1 << 3;
    dp_set_del(&rig.dp->busy, 1);
    cr_assert_not(content());
}

Test(dp_audit, sets_find_every_slot)
{
    struct dp_set s = {0};
    int expect = 0;

    for (int i = 0; i < DP_MAX_PORTS; i += 5)
        dp_set_add(&s, (uint16_t) i);
    dp_set_add(&s, DP_MAX_PORTS - 1);
    for (int i = dp_set_next(&s, 0); i >= 0; i = dp_set_next(&s, i + 1)) {
        cr_assert_eq(i, expect);
        cr_assert(dp_set_has(&s, (uint16_t) i));
        expect += 5;
    }
    cr_assert_eq(expect, 260);
}
