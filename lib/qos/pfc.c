/* SPDX-License-Identifier: Apache-2.0
 *
 * Pause state of a port: see pfc.h.
 */
#include "qos/pfc.h"

#include "base/clock.h"

#include <assert.h>
#include <string.h>

/* What the frame that is due is. */
enum due {
    DUE_NOTHING,
    DUE_PFC,   /* how the priorities are */
    DUE_PAUSE, /* stop */
    DUE_UNPAUSE,
};

static bool
obeys_pause(const struct pfc_conf *conf)
{
    return conf->pause_rx && conf->enabled == 0;
}

/* Priorities that a PFC frame can pause. */
static uint8_t
obeyed(const struct pfc_conf *conf)
{
    return obeys_pause(conf) ? 0 : conf->honoured;
}

/* How long a pause that we send lasts at a peer that counts quanta by a faster
 * rate than ours. */
static uint64_t
shortest_pause(const struct pfc_conf *conf)
{
    uint64_t bps =
        conf->peer_bps > conf->rate_bps ? conf->peer_bps : conf->rate_bps;

    return macctl_quanta_ns(conf->quanta, bps);
}

static void
take_conf(struct pfc *pfc, const struct pfc_conf *conf)
{
    assert(conf->rate_bps > 0 && conf->quanta > 0);
    pfc->conf = *conf;
    pfc->lasts_ns = shortest_pause(conf);
    /* Half of it is left when the repeat goes out; a pause so short that this
     * would make more than one frame in 50 us is not kept alive that fast. */
    pfc->refresh_ns = pfc->lasts_ns / 2;
    if (pfc->refresh_ns < PFC_REFRESH_MIN_NS)
        pfc->refresh_ns = PFC_REFRESH_MIN_NS;
}

void
pfc_init(struct pfc *pfc, const struct pfc_conf *conf)
{
    memset(pfc, 0, sizeof(*pfc));
    take_conf(pfc, conf);
}

static void
rx_resume(struct pfc *pfc, int p, uint64_t end_ns)
{
    uint64_t ns = end_ns - pfc->since_ns[p];

    assert(end_ns >= pfc->since_ns[p]);
    counter_set_bits(&pfc->paused, pfc->paused & (uint8_t) ~(1u << p));
    counter_add(&pfc->n.rx_paused_ns[p], ns);
    counter_set(&pfc->n.rx_last_ns[p], ns);
    counter_set(&pfc->n.rx_last_at_ns[p], end_ns);
    if (ns > pfc->n.rx_longest_ns[p]) {
        counter_set(&pfc->n.rx_longest_ns[p], ns);
        counter_set(&pfc->n.rx_longest_at_ns[p], end_ns);
    }
}

static void
rx_resume_mask(struct pfc *pfc, uint8_t mask, uint64_t now_ns)
{
    for (int p = 0; p < N_PRIO; p++)
        if (pfc->paused & mask & (1u << p))
            rx_resume(pfc, p, now_ns);
}

void
pfc_set(struct pfc *pfc, const struct pfc_conf *conf, uint64_t now_ns)
{
    bool was_pause = obeys_pause(&pfc->conf);
    uint8_t keep = obeys_pause(conf) ? 0xff : conf->honoured;

    pfc_rx_expire(pfc, now_ns);
    if (conf->rate_bps != pfc->conf.rate_bps ||
        conf->quanta != pfc->conf.quanta)
        pfc->resend = pfc->asserted != 0 || pfc->pause_asserted;
    take_conf(pfc, conf);
    if (obeys_pause(conf) != was_pause)
        keep = 0;
    rx_resume_mask(pfc, (uint8_t) ~keep, now_ns);
}

void
pfc_ignore(struct pfc *pfc, uint8_t prios, uint64_t now_ns)
{
    pfc_rx_expire(pfc, now_ns);
    pfc->ignored = prios;
    rx_resume_mask(pfc, prios, now_ns);
}

void
pfc_force(struct pfc *pfc, uint8_t prios)
{
    pfc->forced = prios;
}

static void
rx_pause(struct pfc *pfc, uint8_t mask, int p, uint16_t quanta,
         uint64_t now_ns)
{
    if (!(mask & (1u << p)))
        return;
    if (quanta == 0) {
        rx_resume_mask(pfc, (uint8_t) (1u << p), now_ns);
        return;
    }
    if (!(pfc->paused & (1u << p))) {
        counter_set(&pfc->since_ns[p], now_ns);
        counter_set_bits(&pfc->paused, (uint8_t) (pfc->paused | 1u << p));
        counter_add(&pfc->n.rx_pauses[p], 1);
    }
    counter_set(&pfc->until_ns[p],
                now_ns + macctl_quanta_ns(quanta, pfc->conf.rate_bps));
}

static void
rx_pfc_frame(struct pfc *pfc, const struct macctl *m, uint64_t now_ns)
{
    uint8_t obey = obeyed(&pfc->conf);

    counter_add(&pfc->n.rx_frames, 1);
    if (m->enable & ~obey)
        counter_add(&pfc->n.rx_not_enabled, 1);
    for (int p = 0; p < N_PRIO; p++) {
        if (!(m->enable & (1u << p)))
            continue;
        counter_add(&pfc->n.rx_pfc[p], 1);
        if (m->time[p] > 0)
            counter_add(&pfc->n.rx_xoff[p], 1);
        rx_pause(pfc, obey & (uint8_t) ~pfc->ignored, p, m->time[p], now_ns);
    }
}

void
pfc_rx(struct pfc *pfc, const struct macctl *m, uint64_t now_ns)
{
    pfc_rx_expire(pfc, now_ns);
    switch (m->kind) {
    case MACCTL_PFC:
        rx_pfc_frame(pfc, m, now_ns);
        break;
    case MACCTL_PAUSE:
        counter_add(&pfc->n.rx_pause, 1);
        if (obeys_pause(&pfc->conf))
            for (int p = 0; p < N_PRIO; p++)
                rx_pause(pfc, 0xff, p, m->time[0], now_ns);
        break;
    case MACCTL_UNSUPPORTED:
        counter_add(&pfc->n.rx_unsupported, 1);
        break;
    case MACCTL_MALFORMED:
        counter_add(&pfc->n.rx_malformed, 1);
        break;
    case MACCTL_NONE:
        assert(!"a data frame is not for pfc_rx()");
        break;
    }
}

uint8_t
pfc_rx_expire_slow(struct pfc *pfc, uint64_t now_ns)
{
    for (int p = 0; p < N_PRIO; p++)
        if (pfc->paused & (1u << p) && now_ns >= pfc->until_ns[p])
            rx_resume(pfc, p, pfc->until_ns[p]);
    return pfc->paused;
}

uint64_t
pfc_rx_deadline(const struct pfc *pfc)
{
    uint64_t next = CLOCK_NEVER;

    if (!pfc->paused)
        return next;
    for (int p = 0; p < N_PRIO; p++)
        if (pfc->paused & (1u << p) && pfc->until_ns[p] < next)
            next = pfc->until_ns[p];
    return next;
}

static bool
refresh_due(const struct pfc *pfc, uint64_t now_ns)
{
    return pfc->resend || now_ns >= pfc->sent_ns + pfc->refresh_ns;
}

static uint8_t
wanted(const struct pfc *pfc, uint8_t xoff)
{
    return (xoff & pfc->conf.enabled) | pfc->forced;
}

/* What the peer holds against us in the mode that we have left goes first:
 * it must not outlive the change. */
static enum due
what_is_due(const struct pfc *pfc, uint8_t xoff, uint64_t now_ns)
{
    uint8_t want = wanted(pfc, xoff);
    bool want_pause = xoff && pfc->conf.pause_tx && pfc->conf.enabled == 0;

    if (pfc->pause_asserted && !want_pause)
        return DUE_UNPAUSE;
    if (want != pfc->asserted)
        return DUE_PFC;
    if (want_pause && !pfc->pause_asserted)
        return DUE_PAUSE;
    if ((want || want_pause) && refresh_due(pfc, now_ns))
        return want ? DUE_PFC : DUE_PAUSE;
    return DUE_NOTHING;
}

bool
pfc_tx_poll_slow(const struct pfc *pfc, uint8_t xoff, uint64_t now_ns,
                 const uint8_t src[6], uint8_t frame[MACCTL_LEN])
{
    uint8_t want = wanted(pfc, xoff);
    uint16_t time[N_PRIO];

    switch (what_is_due(pfc, xoff, now_ns)) {
    case DUE_PFC:
        for (int p = 0; p < N_PRIO; p++)
            time[p] = want & (1u << p) ? pfc->conf.quanta : 0;
        macctl_encode_pfc(frame, src, want | pfc->asserted, time);
        return true;
    case DUE_PAUSE:
        macctl_encode_pause(frame, src, pfc->conf.quanta);
        return true;
    case DUE_UNPAUSE:
        macctl_encode_pause(frame, src, 0);
        return true;
    case DUE_NOTHING:
        break;
    }
    return false;
}

static void
tx_ended(struct pfc *pfc, int p, uint64_t now_ns)
{
    uint64_t ns = now_ns - pfc->asserted_ns[p];

    counter_add(&pfc->n.tx_paused_ns[p], ns);
    counter_set(&pfc->n.tx_last_ns[p], ns);
    counter_set(&pfc->n.tx_last_at_ns[p], now_ns);
    if (ns > pfc->n.tx_longest_ns[p]) {
        counter_set(&pfc->n.tx_longest_ns[p], ns);
        counter_set(&pfc->n.tx_longest_at_ns[p], now_ns);
    }
}

/* The peer is told again to stop these: it may have gone on meanwhile. */
static void
tx_again(struct pfc *pfc, uint8_t prios, uint64_t now_ns)
{
    if (now_ns <= pfc->sent_ns + pfc->lasts_ns)
        return;
    for (int p = 0; p < N_PRIO; p++)
        if (prios >> p & 1)
            counter_add(&pfc->n.tx_lapses[p], 1);
}

static void
tx_done_pfc(struct pfc *pfc, uint8_t want, uint64_t now_ns)
{
    uint8_t said = want | pfc->asserted;

    counter_add(&pfc->n.tx_frames, 1);
    tx_again(pfc, want & pfc->asserted, now_ns);
    for (int p = 0; p < N_PRIO; p++) {
        bool is = want & (1u << p), was = pfc->asserted & (1u << p);

        if (!(said & (1u << p)))
            continue;
        counter_add(&pfc->n.tx_pfc[p], 1);
        if (is)
            counter_add(&pfc->n.tx_xoff[p], 1);
        if (is && !was) {
            counter_add(&pfc->n.tx_pauses[p], 1);
            counter_set(&pfc->asserted_ns[p], now_ns);
        } else if (was && !is) {
            tx_ended(pfc, p, now_ns);
        }
    }
    counter_set_bits(&pfc->asserted, want);
}

void
pfc_tx_done(struct pfc *pfc, uint8_t xoff, uint64_t now_ns)
{
    switch (what_is_due(pfc, xoff, now_ns)) {
    case DUE_PFC:
        tx_done_pfc(pfc, wanted(pfc, xoff), now_ns);
        break;
    case DUE_PAUSE:
        counter_add(&pfc->n.tx_pause, 1);
        if (pfc->pause_asserted)
            tx_again(pfc, 0xff, now_ns);
        counter_set_flag(&pfc->pause_asserted, true);
        break;
    case DUE_UNPAUSE:
        counter_add(&pfc->n.tx_pause, 1);
        counter_set_flag(&pfc->pause_asserted, false);
        break;
    case DUE_NOTHING:
        return;
    }
    pfc->sent_ns = now_ns;
    pfc->resend = false;
}

uint64_t
pfc_tx_deadline(const struct pfc *pfc)
{
    if (!pfc->asserted && !pfc->pause_asserted)
        return CLOCK_NEVER;
    if (pfc->resend || pfc->asserted & ~(pfc->conf.enabled | pfc->forced))
        return pfc->sent_ns;
    return pfc->sent_ns + pfc->refresh_ns;
}
