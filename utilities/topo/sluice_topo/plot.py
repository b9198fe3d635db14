# SPDX-License-Identifier: Apache-2.0
"""Samples of a run, and a picture (SVG) of each link, direction and class.

Three bands over one time axis: what was offered and delivered; what the
receiving switch held, with its XOFF and XON lines; and the part of the time
for which the receiver paused the sender.  Lines differ by their dashes and
have their names beside them: colour tells nothing more.
"""
import html
import os
import re
import time

from . import values

EVERY_S = 0.05
TAIL_S = 0.5      # after the load
WIDTH, LEFT, RIGHT = 760, 70, 110
BANDS = ((60, 150), (250, 130), (420, 50))  # top and height


# --------------------------------------------------------------- sampling ---

def sample(connections, began, duration):
    """Asks every switch again and again until the load is over; [(seconds,
    {(node, port, prio): {...}})]."""
    out = []
    while time.monotonic() < began + duration + TAIL_S:
        at = time.monotonic()
        found = {}
        for node, rpc in connections.items():
            _of_switch(node, rpc, found)
        # When it was half asked.
        out.append(((at + time.monotonic()) / 2 - began, found))
        time.sleep(max(0, at + EVERY_S - time.monotonic()))
    return out


def _of_switch(node, rpc, found):
    for q in rpc.call("queue.show"):
        found[node, q["port"], q["queue"]] = {
            "out_offered": q["tx_bytes"] + q["bytes"] + q["drop_bytes"],
            "out_sent": q["tx_bytes"]}
    for g in rpc.call("buffer.show")["groups"]:
        found.setdefault((node, g["port"], g["group"]), {}).update(
            in_bytes=g["rx_bytes"], held=sum(g["used"].values()),
            xoff=g["limit_bytes"], xon=g["xon_bytes"],
            lossless=g["lossless"])
    for p in rpc.call("pfc.counters"):
        for prio in range(8):
            found.setdefault((node, p["port"], prio), {}).update(
                paused_ns=p["tx"]["paused_ns"][prio],
                told_ns=p["rx"]["paused_ns"][prio])


# ----------------------------------------------------------------- series ---

def _column(samples, key, member):
    return [(t, found.get(key, {}).get(member, 0)) for t, found in samples]


def _rate(points):
    """Bits per second between samples of an octet counter."""
    return [(t1, max(0, v1 - v0) * 8 / (t1 - t0))
            for (t0, v0), (t1, v1) in zip(points, points[1:]) if t1 > t0]


def _part(points):
    """The part of the time, of a counter of nanoseconds."""
    return [(t1, min(1, max(0, v1 - v0) / 1e9 / (t1 - t0)))
            for (t0, v0), (t1, v1) in zip(points, points[1:]) if t1 > t0]


def _host_offer(run, host, prio):
    """What the flows of a host offer in a class, as configured."""
    total = 0
    for flow in run.stations[host.name].flows if host.name in run.stations \
            else ():
        if flow.prio == prio:
            total += values.rate(flow.pairs["rate"]) if "rate" in \
                flow.pairs else run.stations[host.name].rate or 0
    return [(0, total), (run.duration, total)] if total else []


class Series:
    """What there is to draw of one direction of a link, in one class."""

    def __init__(self, run, sender, receiver, prio):
        s = run.samples
        near = (sender.node.name, sender.name, prio)
        far = (receiver.node.name, receiver.name, prio)
        self.title = "%s to %s, priority %d" % (sender, receiver, prio)
        self.file = "%s--%s-prio%d.svg" % tuple(
            re.sub(r"[^A-Za-z0-9_.-]", "_", str(x)) if not isinstance(x, int)
            else x for x in (sender, receiver, prio))
        self.held = self.xoff = self.xon = None
        if sender.node.has_daemon:
            self.offered = _rate(_column(s, near, "out_offered"))
        else:
            self.offered = _host_offer(run, sender.node, prio)
        if receiver.node.has_daemon:
            self.delivered = _rate(_column(s, far, "in_bytes"))
            self.held = _column(s, far, "held")
            about = s[-1][1].get(far, {}) if s else {}
            if about.get("lossless"):
                self.xoff, self.xon = about["xoff"], about["xon"]
            self.paused = _part(_column(s, far, "paused_ns"))
        else:
            self.delivered = _rate(_column(s, near, "out_sent"))
            self.paused = _part(_column(s, near, "told_ns"))

    def is_empty(self):
        return not any(v for _, v in self.delivered) and \
            not any(v for _, v in self.paused)


def all_series(run):
    prios = sorted({f.prio for s in run.stations.values() for f in s.flows})
    for link in run.topo.links:
        a, b = link.ends
        if a.node is None or b.node is None:
            continue
        for sender, receiver in ((a, b), (b, a)):
            if not (sender.node.has_daemon or receiver.node.has_daemon):
                continue
            for prio in prios:
                series = Series(run, sender, receiver, prio)
                if not series.is_empty():
                    yield series


# -------------------------------------------------------------------- SVG ---

class _Svg:
    def __init__(self, title, span):
        self.span = span  # seconds of the axis
        self.out = [
            '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="520" '
            'viewBox="0 0 %d 520" font-family="sans-serif" font-size="12">' %
            (WIDTH, WIDTH),
            '<title>%s</title>' % html.escape(title),
            '<defs><pattern id="hatch" width="6" height="6" patternUnits='
            '"userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" '
            'height="6" fill="#fff"/><line x1="0" y1="0" x2="0" y2="6" '
            'stroke="#933" stroke-width="3"/></pattern></defs>',
            '<rect width="100%" height="100%" fill="#fff"/>']
        self.text(LEFT, 30, title, size=15)

    def text(self, x, y, text, anchor="start", size=12):
        self.out.append('<text x="%.1f" y="%.1f" text-anchor="%s" font-size='
                        '"%d">%s</text>' % (x, y, anchor, size,
                                            html.escape(text)))

    def x(self, t):
        return LEFT + (WIDTH - LEFT - RIGHT) * t / self.span

    def band(self, number, name, top_value, unit):
        """The frame of a band, with its scale."""
        top, height = BANDS[number]
        self.out.append('<rect x="%d" y="%d" width="%d" height="%d" fill='
                        '"none" stroke="#888"/>' % (
                            LEFT, top, WIDTH - LEFT - RIGHT, height))
        self.text(LEFT, top - 6, name)
        self.text(LEFT - 6, top + 10, unit(top_value), "end")
        self.text(LEFT - 6, top + height, unit(0), "end")

    def y(self, number, value, top_value):
        top, height = BANDS[number]
        return top + height * (1 - min(value, top_value) / top_value)

    def line(self, number, points, top_value, dash, colour, label, at):
        """A line with its name beside its end, `at` pixels below the top."""
        if not points:
            return
        path = " ".join("%.1f,%.1f" % (self.x(t), self.y(number, v, top_value))
                        for t, v in points if 0 <= t <= self.span)
        style = 'fill="none" stroke="%s" stroke-width="1.6"%s' % (
            colour, ' stroke-dasharray="%s"' % dash if dash else "")
        self.out.append('<polyline points="%s" %s/>' % (path, style))
        y = BANDS[number][0] + at
        x = WIDTH - RIGHT + 6
        self.out.append('<line x1="%d" y1="%d" x2="%d" y2="%d" %s/>' % (
            x, y, x + 24, y, style))
        self.text(x + 28, y + 4, label)

    def hatched(self, number, points):
        """Bars between samples, as high as the part of the time."""
        top, height = BANDS[number]
        last = 0
        for t, part in points:
            if part > 0.001 and 0 <= t <= self.span:
                x0, x1 = self.x(max(0, last)), self.x(t)
                self.out.append(
                    '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill='
                    '"url(#hatch)" stroke="#933" stroke-width="0.4"/>' % (
                        x0, top + height * (1 - part), max(0.5, x1 - x0),
                        height * part))
            last = t

    def axis(self):
        y = BANDS[-1][0] + BANDS[-1][1]
        step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10)
                    if self.span / s <= 10)
        for n in range(int(self.span / step) + 1):
            self.text(self.x(n * step), y + 16, "%g" % (n * step), "middle")
        self.text(self.x(self.span), y + 32, "seconds", "end")

    def done(self):
        return "\n".join(self.out + ["</svg>", ""])


def svg(series, span):
    out = _Svg(series.title, span)
    top = max([v for _, v in series.offered + series.delivered] + [1e6]) * 1.1
    out.band(0, "offered and delivered", top,
             lambda v: "%.3g Mb/s" % (v / 1e6))
    out.line(0, series.offered, top, "7 4", "#555", "offered", 12)
    out.line(0, series.delivered, top, "", "#06c", "delivered", 30)
    if series.held is not None:
        top = max([v for _, v in series.held] + [series.xoff or 0, 1024]) * 1.1
        out.band(1, "held by the receiver for this class", top,
                 lambda v: "%.3g KiB" % (v / 1024))
        out.line(1, series.held, top, "", "#06c", "held", 12)
        if series.xoff is not None:
            for value, dash, label, at in (
                    (series.xoff, "10 4", "XOFF", 30),
                    (series.xon, "2 3", "XON", 48)):
                out.line(1, [(0, value), (span, value)], top, dash, "#333",
                         label, at)
    out.band(2, "part of the time for which the receiver paused the sender",
             1, lambda v: "%g %%" % (v * 100))
    out.hatched(2, series.paused)
    out.axis()
    return out.done()


def write(run, folder):
    """Writes the pictures; how many."""
    os.makedirs(folder, exist_ok=True)
    span = run.duration + TAIL_S
    n = 0
    for series in all_series(run):
        with open(os.path.join(folder, series.file), "w") as f:
            f.write(svg(series, span))
        n += 1
    return n
