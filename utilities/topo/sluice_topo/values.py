# SPDX-License-Identifier: Apache-2.0
"""Values of labels: sizes, rates, times, lists.  Each function takes the text
and returns the value, or raises ValueError that says what is allowed."""
import re

_SIZE = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_RATE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_TIME = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def _scaled(text, units, what):
    m = re.fullmatch(r"(\d{1,18}(?:\.\d{1,9})?)([A-Za-z]*)", text.strip())
    if not m or m.group(2) not in units:
        raise ValueError("'%s' is not %s" % (text, what))
    whole, _, part = m.group(1).partition(".")
    scale = units[m.group(2)]
    # In whole numbers: no rounding of large values.
    return int(whole) * scale + (
        int(part) * scale // 10 ** len(part) if part else 0)


def size(text):
    return _scaled(text, _SIZE, "a size such as 64K or 4M")


def rate(text):
    return _scaled(text, _RATE, "a rate such as 200M or 10G")


def time_ns(text):
    return _scaled(text, _TIME, "a time such as 5us, 300ms or 2s")


def number(text, low, high):
    if not re.fullmatch(r"\d{1,18}", text.strip()) or \
            not low <= int(text) <= high:
        raise ValueError("'%s' is not a number from %d to %d" % (
            text, low, high))
    return int(text)


def flag(text):
    if text not in ("on", "off"):
        raise ValueError("'%s' is not on or off" % text)
    return text == "on"


def word(text, allowed):
    if text not in allowed:
        raise ValueError("'%s' is not one of %s" % (text, ", ".join(allowed)))
    return text


def mac(text):
    text = text.strip().lower()
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", text) or \
            int(text[:2], 16) & 1 or text == "00:00:00:00:00:00":
        raise ValueError("'%s' is not the address of a station such as "
                         "02:00:00:00:00:01" % text)
    return text


def words(text):
    return [w for w in re.split(r"[,\s]+", text.strip()) if w]


def numbers(text, low, high, none="none", all="all"):
    """A list such as "3,4" or "3 5-7"; ascending, each once."""
    if text.strip() == none:
        return []
    if text.strip() == all:
        return list(range(low, high + 1))
    out = set()
    for item in words(text):
        first, _, last = item.partition("-")
        a = number(first, low, high)
        b = number(last, low, high) if last else a
        if b < a:
            raise ValueError("'%s' runs backwards" % item)
        out.update(range(a, b + 1))
    if not out:
        raise ValueError("an empty list; say none")
    return sorted(out)


def by_number(text, value, low=0, high=7, default=None):
    """{number: value} of "3:64K 4:32K"; one value alone is for the numbers in
    default."""
    out = {}
    for item in words(text):
        key, colon, rest = item.partition(":")
        if not colon:
            if default is None:
                raise ValueError("'%s' is not NUMBER:VALUE" % item)
            for n in default:
                out.setdefault(n, value(item))
            continue
        for n in numbers(key, low, high):
            out[n] = value(rest)
    if not out and text.strip() == "":
        raise ValueError("an empty list")
    return out


def pairs(text):
    """{key: value} of "to=storage,prio=3"."""
    out = {}
    for item in words(text):
        key, eq, value = item.partition("=")
        if not eq or not key or not value:
            raise ValueError("'%s' is not KEY=VALUE" % item)
        if key in out:
            raise ValueError("'%s' is given twice" % key)
        out[key] = value
    return out


def show_rate(bps):
    for unit, scale in (("G", 10**9), ("M", 10**6), ("K", 10**3)):
        if bps >= scale and bps % (scale // 1000) == 0:
            return "%g%s" % (bps / scale, unit)
    return "%d" % bps
