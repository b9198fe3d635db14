/* SPDX-License-Identifier: Apache-2.0
 *
 * Ports in memory: for unit tests, for tests/sim (whole fabrics on a virtual
 * clock) and for benchmarks of the datapath alone.  A port has a receive
 * queue that its peer, or a test, puts frames into with the time at which
 * they are due, and, when it has no peer, a queue of what it sent.
 *
 * Frames are copied between ports, because the ports of a pair belong to
 * different datapaths with pools of their own.  Whoever runs the datapaths of
 * two connected ports does so from one thread.
 */
#include "netdev/netdev.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames of a queue that was not given a capacity, at most. */
#define MEM_MAX_FRAMES 65536u
/* Frames that a port without a peer keeps for netdev_mem_take(). */
#define MEM_MAX_SENT 4096u
/* Frames that a queue has room for at first. */
#define MEM_MIN_SLOTS 32u
/* What a frame may have beyond the largest frame of a pool: a tag. */
#define MEM_TAG_ROOM 4u
#define MEM_MACCTL   0x8808

struct mem_slot {
    uint64_t due_ns; /* when it has arrived */
    uint32_t len;    /* its octets */
    bool is_macctl;  /* EtherType 0x8808: goes first */
    bool taken;      /* was handed over ahead of those before it */
};

/* Frames in order of arrival; a ring that doubles until it reaches its
 * capacity.  Growing is for queues without a capacity only: with one, all
 * room is there from the start. */
struct mem_queue {
    struct mem_slot *slots; /* n_slots of them */
    uint8_t *bytes;         /* n_slots frames, `stride` apart */
    uint32_t stride;        /* longest frame */
    uint32_t n_slots;       /* a power of two */
    uint32_t capacity;      /* most frames */
    uint32_t head;          /* index of the oldest, not reduced */
    uint32_t tail;          /* one past the newest, not reduced */
    uint32_t n_macctl;      /* MAC control frames not yet taken */
    uint64_t last_due_ns;   /* of the newest: a wire keeps order */
};

struct mem {
    struct netdev dev;             /* first: what others see */
    struct pkt_pool *pool;         /* buffers to receive into */
    uint32_t frame_bytes;          /* largest frame of the pool */
    struct mem *peer;              /* other end; null: none */
    uint64_t now_ns;               /* virtual time */
    uint64_t delay_ns;             /* of the cable to the peer */
    uint64_t line_rate_bps;        /* see netdev_mem_set_line_rate */
    uint32_t tx_limit;             /* frames per tx call */
    bool down;                     /* see netdev_mem_set_down */
    struct mem_queue in;           /* arriving */
    struct mem_queue out;          /* sent, while there is no peer */
    struct netdev_mem_load load;   /* n 0: off */
    uint32_t load_next;            /* next template */
    uint32_t load_number;          /* copies made */
    struct netdev_mem_watch watch; /* fn null: none */
};

static struct mem *
mem_of(struct netdev *dev)
{
    assert(dev->cls == &netdev_mem);
    return (struct mem *) dev;
}

static const struct mem *
mem_of_const(const struct netdev *dev)
{
    assert(dev->cls == &netdev_mem);
    return (const struct mem *) dev;
}

static uint8_t *
slot_bytes(const struct mem_queue *q, uint32_t i)
{
    return q->bytes + (size_t) (i & (q->n_slots - 1)) * q->stride;
}

static struct mem_slot *
slot_at(const struct mem_queue *q, uint32_t i)
{
    return &q->slots[i & (q->n_slots - 1)];
}

/* Room for n_slots (a power of two), what lies in the queue is kept. */
static bool
queue_resize(struct mem_queue *q, uint32_t n_slots, uint32_t stride)
{
    struct mem_queue to = *q;

    to.n_slots = n_slots;
    to.stride = stride;
    to.slots = calloc(n_slots, sizeof(*to.slots));
    to.bytes = malloc((size_t) n_slots * stride);
    if (!to.slots || !to.bytes) {
        free(to.slots);
        free(to.bytes);
        return false;
    }
    for (uint32_t i = q->head; i != q->tail; i++) {
        *slot_at(&to, i) = *slot_at(q, i);
        memcpy(slot_bytes(&to, i), slot_bytes(q, i), slot_at(q, i)->len);
    }
    free(q->slots);
    free(q->bytes);
    *q = to;
    return true;
}

static void
queue_uninit(struct mem_queue *q)
{
    free(q->slots);
    free(q->bytes);
}

static uint32_t
pow2_at_least(uint32_t n)
{
    uint32_t p = MEM_MIN_SLOTS;

    while (p < n)
        p *= 2;
    return p;
}

/* The slot that the next frame goes to, or null when the queue is full. */
static uint8_t *
queue_room(struct mem_queue *q)
{
    uint32_t n = q->tail - q->head;

    if (n >= q->capacity)
        return NULL;
    if (n == q->n_slots && !queue_resize(q, q->n_slots * 2, q->stride))
        return NULL;
    return slot_bytes(q, q->tail);
}

/* The frame that was written where queue_room() said is now in the queue. */
static void
queue_push(struct mem_queue *q, uint32_t len, uint64_t due_ns)
{
    const uint8_t *frame = slot_bytes(q, q->tail);
    struct mem_slot *s = slot_at(q, q->tail);

    /* What a test injects comes at once, maybe behind what is on its way. */
    if (due_ns < q->last_due_ns)
        due_ns = q->last_due_ns;
    q->last_due_ns = due_ns;
    s->due_ns = due_ns;
    s->len = len;
    s->taken = false;
    s->is_macctl = len >= 14 && frame[12] == MEM_MACCTL >> 8 &&
                   frame[13] == (MEM_MACCTL & 0xff);
    q->n_macctl += s->is_macctl;
    q->tail++;
}

/* Takes frame i, and with it those at the head that were taken before. */
static void
queue_drop(struct mem_queue *q, uint32_t i)
{
    struct mem_slot *s = slot_at(q, i);

    s->taken = true;
    q->n_macctl -= s->is_macctl;
    while (q->head != q->tail && slot_at(q, q->head)->taken)
        q->head++;
}

/* Frames at the head that have arrived by now: a wire keeps order. */
static uint32_t
queue_arrived(const struct mem_queue *q, uint64_t now_ns)
{
    uint32_t first = q->head, n = q->tail - q->head;

    while (n > 0) {
        uint32_t half = n / 2;

        if (slot_at(q, first + half)->due_ns <= now_ns) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first - q->head;
}

/* A queue that has a capacity stands for a receive ring. */
static void
set_capacity(struct mem *m, uint32_t capacity)
{
    uint32_t high = capacity / NETDEV_RING_HIGH;

    m->in.capacity = capacity;
    m->dev.rx_high = high ? high : UINT32_MAX;
    counter_set(&m->dev.stats.n_ring_slots, capacity);
}

static void
note_peak(struct mem *m)
{
    uint32_t n = m->in.tail - m->in.head;

    if (n > counter_get(&m->dev.stats.ring_peak))
        counter_set(&m->dev.stats.ring_peak, n);
}

/* --- operations ------------------------------------------------------- */

static void
mem_close(struct netdev *dev)
{
    struct mem *m = mem_of(dev);

    if (m->peer)
        m->peer->peer = NULL;
    queue_uninit(&m->in);
    queue_uninit(&m->out);
    free(m);
}

/* A locally administered address that follows from the name. */
static void
mac_from_name(const char *name, uint8_t mac[6])
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *name; name++)
        h = (h ^ (uint8_t) *name) * UINT64_C(0x100000001b3);
    mac[0] = 0x02;
    for (int i = 1; i < 6; i++)
        mac[i] = (uint8_t) (h >> (8 * i));
}

static int
mem_open(const struct netdev_args *args, struct netdev **out, struct err *err)
{
    struct mem *m = calloc(1, sizeof(*m));
    uint32_t stride;

    if (!m)
        return err_sys(err, ENOMEM, "mem port %s", args->name);
    m->dev.cls = &netdev_mem;
    m->pool = args->pool;
    m->frame_bytes = pkt_pool_frame_bytes(args->pool);
    m->tx_limit = UINT32_MAX;
    stride = (m->frame_bytes + MEM_TAG_ROOM + 63u) & ~63u;
    m->in.capacity = MEM_MAX_FRAMES;
    if (args->ring_bytes)
        set_capacity(m, args->ring_bytes < stride ? 1
                                                  : args->ring_bytes / stride);
    m->out.capacity = MEM_MAX_SENT;
    if (!queue_resize(&m->in, MEM_MIN_SLOTS, stride) ||
        !queue_resize(&m->out, MEM_MIN_SLOTS, stride)) {
        mem_close(&m->dev);
        return err_sys(err, ENOMEM, "mem port %s", args->name);
    }
    snprintf(m->dev.name, sizeof(m->dev.name), "%s", args->name);
    if (args->have_mac)
        memcpy(m->dev.mac, args->mac, sizeof(m->dev.mac));
    else
        mac_from_name(args->name, m->dev.mac);
    /* A frame of the pool without its header and two tags. */
    m->dev.mtu = args->mtu ? args->mtu : m->frame_bytes - 22;
    m->dev.has_lookahead = true;
    *out = &m->dev;
    return 0;
}

/* Hands frame i over; false when the pool is empty.  A frame that no buffer
 * holds is dropped: *p is null then. */
static bool
rx_one(struct mem *m, uint32_t i, struct pkt **p)
{
    struct mem_queue *q = &m->in;
    const struct mem_slot *s = slot_at(q, i);

    *p = NULL;
    if (s->len > m->frame_bytes || s->len < 14) {
        counter_add(s->len < 14 ? &m->dev.stats.rx_bad
                                : &m->dev.stats.rx_oversize,
                    1);
        queue_drop(q, i);
        return true;
    }
    *p = s->is_macctl ? pkt_alloc_ctl(m->pool) : pkt_alloc(m->pool);
    if (!*p) {
        counter_add(&m->dev.stats.rx_no_buffer, 1);
        return false;
    }
    memcpy((*p)->data, slot_bytes(q, i), s->len);
    (*p)->len = s->len;
    queue_drop(q, i);
    return true;
}

static uint32_t
rx_load(struct mem *m, struct pkt *pkts[], uint32_t max)
{
    const struct netdev_mem_load *l = &m->load;
    uint32_t wanted = l->per_rx < max ? l->per_rx : max;
    uint32_t n = pkt_alloc_bulk(m->pool, pkts, wanted);

    if (n < wanted)
        counter_add(&m->dev.stats.rx_no_buffer, 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = m->load_next;
        struct pkt *p = pkts[i];

        memcpy(p->data, l->frames[k], l->lens[k]);
        p->len = l->lens[k];
        m->load_next = k + 1 < l->n ? k + 1 : 0;
    }
    if (l->stamp)
        l->stamp(l->arg, pkts, n, m->load_number);
    m->load_number += n;
    return n;
}

static uint32_t
rx_queue(struct mem *m, struct pkt *pkts[], uint32_t max)
{
    struct mem_queue *q = &m->in;
    uint32_t n = 0;

    for (uint32_t i = q->head; q->n_macctl && i != q->tail && n < max; i++) {
        const struct mem_slot *s = slot_at(q, i);

        if (s->due_ns > m->now_ns)
            break;
        if (!s->is_macctl || s->taken)
            continue;
        if (!rx_one(m, i, &pkts[n]))
            return n;
        n += pkts[n] != NULL;
    }
    while (n < max && q->head != q->tail &&
           slot_at(q, q->head)->due_ns <= m->now_ns) {
        if (!rx_one(m, q->head, &pkts[n]))
            return n;
        n += pkts[n] != NULL;
    }
    return n;
}

/* MAC control frames that have arrived. */
static uint32_t
n_control(const struct mem *m)
{
    const struct mem_queue *q = &m->in;
    uint32_t n = 0;

    for (uint32_t i = q->head; n < q->n_macctl && i != q->tail; i++) {
        const struct mem_slot *s = slot_at(q, i);

        if (s->due_ns > m->now_ns)
            break;
        n += s->is_macctl && !s->taken;
    }
    return n;
}

static uint32_t
mem_rx(struct netdev *dev, struct pkt *pkts[], uint32_t max)
{
    struct mem *m = mem_of(dev);
    uint32_t n;

    if (max == 0)
        return m->down ? 0 : n_control(m);
    if (m->load.n)
        return rx_load(m, pkts, max);
    n = m->down ? 0 : rx_queue(m, pkts, max);
    if (dev->rx_high != UINT32_MAX)
        dev->rx_level = m->down ? 0 : queue_arrived(&m->in, m->now_ns);
    return n;
}

/* Writes a frame, padded, where the next one of q goes; its length, or 0 when
 * q is full. */
static uint32_t
queue_write(struct mem_queue *q, const struct pkt *p)
{
    uint8_t *to = queue_room(q);
    uint32_t len = pkt_tx_len(p);

    if (!to || len > q->stride)
        return 0;
    pkt_copy_out(p, to);
    if (len < PKT_MIN_LEN) {
        memset(to + len, 0, PKT_MIN_LEN - len);
        len = PKT_MIN_LEN;
    }
    return len;
}

/* Shows what was written where the next frame of q goes to who watches. */
static bool
is_lost(const struct mem *m, const struct mem_queue *q, uint32_t len,
        uint64_t due_ns)
{
    return m->watch.fn &&
           !m->watch.fn(m->watch.arg, slot_bytes(q, q->tail), len, due_ns);
}

static void
tx_to_peer(struct mem *m, const struct pkt *p)
{
    struct mem *to = m->peer;
    struct mem_queue *q = &to->in;
    uint64_t due_ns = m->now_ns + m->delay_ns;
    uint32_t len = to->down ? 0 : queue_write(q, p);

    if (!len) {
        counter_add(&to->dev.stats.rx_ring_drops, 1);
        return;
    }
    if (m->line_rate_bps)
        due_ns += len * UINT64_C(8000000000) / m->line_rate_bps;
    if (due_ns < q->last_due_ns)
        due_ns = q->last_due_ns; /* a wire keeps order */
    if (is_lost(m, q, len, due_ns))
        return;
    queue_push(q, len, due_ns);
    note_peak(to);
}

static void
tx_one(struct mem *m, const struct pkt *p)
{
    uint32_t len;

    if (m->peer) {
        tx_to_peer(m, p);
        return;
    }
    len = queue_write(&m->out, p);
    if (len && !is_lost(m, &m->out, len, m->now_ns))
        queue_push(&m->out, len, m->now_ns);
    else if (!len)
        counter_add(&m->dev.stats.tx_queue_drops, 1);
}

static enum netdev_tx
mem_tx(struct netdev *dev, struct pkt *const pkts[], uint32_t n,
       uint32_t *n_sent)
{
    struct mem *m = mem_of(dev);
    uint32_t take = n < m->tx_limit ? n : m->tx_limit;

    *n_sent = 0;
    if (m->down)
        return NETDEV_TX_DOWN;
    if (!m->load.n) {
        for (uint32_t i = 0; i < take; i++)
            tx_one(m, pkts[i]);
    }
    *n_sent = take;
    if (take == n)
        return NETDEV_TX_OK;
    counter_add(&m->dev.stats.tx_again, 1);
    return NETDEV_TX_AGAIN;
}

static int
mem_fd(const struct netdev *dev)
{
    (void) dev;
    return -1;
}

static uint64_t
mem_rx_deadline(const struct netdev *dev)
{
    const struct mem *m = mem_of_const(dev);

    if (m->load.n)
        return 0;
    if (m->down || m->in.head == m->in.tail)
        return UINT64_MAX;
    return slot_at(&m->in, m->in.head)->due_ns;
}

const struct netdev_class netdev_mem = {
    .type = "mem",
    .open = mem_open,
    .close = mem_close,
    .rx = mem_rx,
    .tx = mem_tx,
    .fd = mem_fd,
    .poll_kernel = NULL,
    .rx_deadline = mem_rx_deadline,
};

/* --- what tests do to a port ------------------------------------------ */

static void
set_peer(struct mem *m, struct mem *peer, uint64_t delay_ns, uint32_t capacity)
{
    uint32_t n_slots = m->in.n_slots;
    uint32_t stride = m->in.stride;

    m->peer = peer;
    m->delay_ns = delay_ns;
    if (capacity) {
        set_capacity(m, capacity);
        n_slots = pow2_at_least(capacity);
    }
    if (stride < peer->out.stride)
        stride = peer->out.stride;
    if (n_slots > m->in.n_slots || stride > m->in.stride) {
        bool ok = queue_resize(&m->in, n_slots, stride);

        assert(ok);
        (void) ok;
    }
}

void
netdev_mem_connect(struct netdev *a, struct netdev *b, uint64_t delay_ns,
                   uint32_t capacity)
{
    struct mem *ma = mem_of(a);
    struct mem *mb = mem_of(b);

    assert(ma != mb && !ma->peer && !mb->peer);
    set_peer(ma, mb, delay_ns, capacity);
    set_peer(mb, ma, delay_ns, capacity);
}

void
netdev_mem_set_delay(struct netdev *dev, uint64_t delay_ns)
{
    mem_of(dev)->delay_ns = delay_ns;
}

void
netdev_mem_set_now(struct netdev *dev, uint64_t now_ns)
{
    mem_of(dev)->now_ns = now_ns;
}

bool
netdev_mem_inject(struct netdev *dev, const void *frame, uint32_t len)
{
    struct mem *m = mem_of(dev);
    uint8_t *to = NULL;

    if (len > m->in.stride) {
        counter_add(&m->dev.stats.rx_oversize, 1);
        return true;
    }
    if (!m->down)
        to = queue_room(&m->in);
    if (!to) {
        counter_add(&m->dev.stats.rx_ring_drops, 1);
        return false;
    }
    if (len)
        memcpy(to, frame, len);
    queue_push(&m->in, len, m->now_ns);
    note_peak(m);
    return true;
}

uint32_t
netdev_mem_take(struct netdev *dev, void *frame, uint32_t room)
{
    struct mem_queue *q = &mem_of(dev)->out;
    uint32_t len;

    if (q->head == q->tail)
        return 0;
    len = slot_at(q, q->head)->len;
    assert(len <= room);
    (void) room;
    memcpy(frame, slot_bytes(q, q->head), len);
    queue_drop(q, q->head);
    return len;
}

void
netdev_mem_set_load(struct netdev *dev, const struct netdev_mem_load *load)
{
    struct mem *m = mem_of(dev);

    m->load_next = 0;
    m->load_number = 0;
    if (!load) {
        m->load.n = 0;
        return;
    }
    for (uint32_t i = 0; i < load->n; i++)
        assert(load->lens[i] >= 14 && load->lens[i] <= m->frame_bytes);
    m->load = *load;
}

void
netdev_mem_set_tx_limit(struct netdev *dev, uint32_t n)
{
    mem_of(dev)->tx_limit = n;
}

void
netdev_mem_set_line_rate(struct netdev *dev, uint64_t rate_bps)
{
    mem_of(dev)->line_rate_bps = rate_bps;
}

void
netdev_mem_set_down(struct netdev *dev, bool down)
{
    mem_of(dev)->down = down;
}

void
netdev_mem_set_watch(struct netdev *dev, const struct netdev_mem_watch *watch)
{
    struct mem *m = mem_of(dev);

    m->watch = watch ? *watch : (struct netdev_mem_watch){0};
}

uint32_t
netdev_mem_n_queued(const struct netdev *dev)
{
    const struct mem_queue *q = &mem_of_const(dev)->in;
    uint32_t n = 0;

    for (uint32_t i = q->head; i != q->tail; i++)
        n += !slot_at(q, i)->taken;
    return n;
}
