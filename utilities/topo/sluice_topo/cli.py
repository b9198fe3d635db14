# SPDX-License-Identifier: Apache-2.0
"""The command line of sluice-topo."""
import argparse
import contextlib
import os
import signal
import sys

from . import config, docker, graph, lab, plot, report, state, system, \
    traffic
from .errors import TopoError, UsageError


def _say(args):
    """Where progress goes: JSON stands alone on standard output."""
    if args.quiet:
        return lambda text: None
    out = sys.stderr if args.json else sys.stdout
    return lambda text: print(text, file=out, flush=True)


def _print_json(value):
    print(lab.as_json(value))


def do_up(args):
    topo = lab.read(args.file)
    with state.State(topo.name).locked() as st:
        was_up = lab.Lab(topo, st, args.runtime, _say(args)).up()
    if args.json:
        _print_json({"name": topo.name, "runtime": args.runtime,
                     "was_up": was_up})
    else:
        _say(args)("%s is up: %d nodes, %d links" % (
            topo.name, len(topo.nodes), len(topo.links)))
    return 0


def do_down(args):
    if args.all:
        found = [state.State(n) for n in state.all_names()]
    elif args.what is not None and os.path.exists(args.what) and \
            not _is_up(args.what):
        _say(args)("%s is not up" % args.what)
        return 0
    else:
        found = [lab.find(args.what)]
    for st in found:
        with st.locked():
            with lab.unharmed():
                lab.destroy(st)
        _say(args)("%s is down" % st.name)
    return 0


def _is_up(what):
    with contextlib.suppress(TopoError):
        return bool(lab.find(what))
    return False


def do_show(args):
    shown = lab.open_up(lab.find(args.what)).show()
    if args.json:
        _print_json(shown)
    else:
        print(report.show_table(shown))
    return 0 if all(n["state"] == "up" for n in shown["nodes"]) and \
        all(x["state"] == "up" for x in shown["links"]) else 1


def do_list(args):
    rows = []
    for name in state.all_names():
        head = state.State(name).load().head()
        rows.append({"name": name, "runtime": head.get("runtime"),
                     "file": head.get("file"),
                     "created": head.get("created"),
                     "complete": state.State(name).load().is_complete()})
    if args.json:
        _print_json(rows)
    elif rows:
        print(report.table([("name", "runtime", "created", "file")] + [
            (r["name"], r["runtime"] or "-", r["created"] or "-",
             (r["file"] or "-") + ("" if r["complete"] else " (not whole)"))
            for r in rows], left=4))
    return 0


def do_exec(args):
    words = args.command
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        raise UsageError("exec: which command? sluice-topo exec NODE -- "
                         "COMMAND")
    the_lab = lab.open_up(lab.find(args.topology))
    node = the_lab.topo.nodes.get(args.node)
    if node is None:
        raise UsageError("there is no node '%s': the nodes are %s" % (
            args.node, ", ".join(the_lab.topo.nodes)))
    argv = the_lab.runtime.argv(node, words, tty=sys.stdin.isatty())
    sys.stdout.flush()
    os.execvpe(argv[0], argv, lab.environment())


@contextlib.contextmanager
def _plot_folder(path):
    """Made before the run, not after it; a run that fails leaves none."""
    made = path and not os.path.isdir(path)
    try:
        if made:
            os.makedirs(path)
    except OSError as e:
        raise TopoError("--plot %s: %s" % (path, e.strerror))
    try:
        yield
    except BaseException:
        if made:
            with contextlib.suppress(OSError):  # there are pictures in it
                os.rmdir(path)
        raise


def do_run(args):
    topo = lab.read(args.file)
    traffic.seconds_of(topo, args.duration)
    with _plot_folder(args.plot):
        return _run(args, topo)


def _run(args, topo):
    say = _say(args)
    with state.State(topo.name).locked() as st:
        the_lab = lab.Lab(topo, st, args.runtime, say)
        was_up = the_lab.up()
        try:
            say("%s is up: %d nodes, %d links; traffic ..." % (
                topo.name, len(topo.nodes), len(topo.links)))
            run = traffic.run(the_lab, args.duration,
                              plot.sample if args.plot else None)
            if args.plot:
                say("%d pictures in %s" % (plot.write(run, args.plot),
                                           args.plot))
        finally:
            if not was_up and not args.keep:
                with lab.unharmed():
                    lab.destroy(st)
        if args.json:
            result = report.as_object(run)
            _print_json(result)
            return 0 if result["ok"] else 1
        return 0 if report.say(run, say) else 1


def do_graph(args):
    topo = lab.read(args.file)
    print(graph.dot(topo) if args.dot else graph.text(topo))
    return 0


def do_config(args):
    topo = lab.read(args.file)
    node = topo.nodes.get(args.node)
    if node is None or not node.has_daemon:
        raise UsageError("there is no switch '%s': the switches are %s" % (
            args.node, ", ".join(n.name for n in topo.switches())))
    _print_json(config.switch(topo, node))
    return 0


def do_watch(args):
    """Not for people: what `up` leaves behind with Docker."""
    the_lab = lab.open_up(state.State(args.name))
    docker.watch(the_lab.runtime, the_lab.readdress)


def parser(version):
    p = argparse.ArgumentParser(
        prog="sluice-topo", description="Topologies of lossless switches and "
        "PFC-capable hosts from one file, in containerlab's format.")
    p.add_argument("--version", action="version", version="sluice-topo (Sluice) %s" % version)
    sub = p.add_subparsers(dest="verb", metavar="COMMAND", required=True)

    def verb(name, fn, help):
        v = sub.add_parser(name, help=help, description=help)
        v.set_defaults(fn=fn)
        v.add_argument("-j", "--json", action="store_true",
                       help="print the result as JSON")
        v.add_argument("-q", "--quiet", action="store_true",
                       help="do not tell what is being done")
        return v

    def runtime(v):
        v.add_argument("--runtime", choices=sorted(lab.RUNTIMES),
                       default="netns", help="what nodes are (netns)")

    v = verb("up", do_up, "make a topology, or what is missing of it")
    v.add_argument("file", metavar="FILE")
    runtime(v)
    v = verb("down", do_down, "take a topology down, without a trace")
    v.add_argument("what", metavar="NAME|FILE", nargs="?")
    v.add_argument("--all", action="store_true", help="all that are up")
    v = verb("show", do_show, "nodes and links, and their state")
    v.add_argument("what", metavar="NAME|FILE", nargs="?")
    v = verb("exec", do_exec, "run a command in a node")
    v.add_argument("-t", "--topology", metavar="NAME|FILE",
                   help="when more than one is up")
    v.add_argument("node", metavar="NODE")
    v.add_argument("command", metavar="-- COMMAND",
                   nargs=argparse.REMAINDER)
    v = verb("run", do_run, "up, traffic, report, down")
    v.add_argument("file", metavar="FILE")
    runtime(v)
    v.add_argument("--duration", type=float, metavar="SECONDS",
                   help="of load; the file's own without it")
    v.add_argument("--plot", metavar="DIR",
                   help="write an SVG for each link and class there")
    v.add_argument("--keep", action="store_true",
                   help="leave the topology up")
    v = verb("graph", do_graph, "a picture of a topology file")
    v.add_argument("file", metavar="FILE")
    v.add_argument("--dot", action="store_true",
                   help="for Graphviz instead of as text")
    v = verb("config", do_config, "the configuration that the labels of a "
             "file make for a switch, as sluicectl apply takes it")
    v.add_argument("file", metavar="FILE")
    v.add_argument("node", metavar="NODE")
    v = verb("list", do_list, "the topologies that are up")
    v = sub.add_parser("watch")
    v.set_defaults(fn=do_watch)
    v.add_argument("name")
    return p


def _on_signal(sig, _frame):
    sys.exit(128 + sig)


def main(argv=None, folders=(), version=""):
    system.FOLDERS[:] = folders
    args = parser(version).parse_args(argv)
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sig, _on_signal)
    try:
        return args.fn(args)
    except TopoError as e:
        print("sluice-topo: %s" % e, file=sys.stderr)
        return e.status
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as e:
        print("sluice-topo: %s" % e, file=sys.stderr)
        return 1
