#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns what a session of tilewright-sweep on a GPU brought back into a page with a table and pictures.

    perf/report.py RESULTS perf/results/NAME

RESULTS is the folder with bench.jsonl, ladder.jsonl or both, and, where those steps ran, machine.txt, cts.jsonl, e2e.jsonl, confirm.jsonl.
NAME gets README.md, a picture per suite and device, and what the page can be made of again: copies of bench.jsonl, ladder.jsonl and machine.txt, and
checks.jsonl with the totals of each kind of check and the lines of those that failed. A time stands beside its verdict; a ratio above 1
says that ours is faster. The same input gives the same bytes.
"""

import argparse
import collections
import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python/src")]

from ladder import page as ladder_page
from tilewright_sweep.contest import late_note

KEPT = ("bench.jsonl", "ladder.jsonl", "machine.txt")
CHECKS = "checks.jsonl"

COUNTED = {"cts.jsonl": "conformance suite", "e2e.jsonl": "end-to-end cases", "confirm.jsonl": "beliefs of the simulator"}

VERDICTS = {"pass": "passed", "ok": "passed", True: "passed", "fail": "failed", False: "failed", "skip": "skipped"}


def read_lines(path):
    """The JSON lines of a file; a last one that was cut off is left out."""
    lines = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return lines


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            break
    return f"{value * scale:.3g} {unit}"


def rate(line):
    """Of the resource that limits: FLOP/s where that floor is higher, else B/s."""
    flops, moved = line.get("flops_per_s"), line.get("bytes_per_s")
    ceilings = line.get("ceilings")
    most = ceilings and ceilings.get(line.get("ceiling", "flops_per_s"))
    if flops and (not most or flops / most >= (moved or 0) / ceilings["bytes_per_s"]):
        return f"{flops * 1e-12:.3g} TFLOP/s"
    return f"{moved * 1e-9:.4g} GB/s" if moved else ""


def peer_names(lines):
    return list(dict.fromkeys(name for line in lines for name in line.get("peers", {})))


def peer_cell(line, name):
    peer = line.get("peers", {}).get(name)
    if peer is None:
        return ""
    if "ratio" not in peer:
        return peer["error"][:40]
    marks = [text for text in (peer["verdict"], late_note(peer)) if text not in ("ok", "")]
    if peer.get("tuned"):
        marks.append(f"{peer['ratio_tuned']:.2f}× of ours tuned" if "ratio_tuned" in peer else "tuned, ours is not")
    return f"{seconds(peer['median_s'])}, {peer['ratio']:.2f}×" + (f" ({'; '.join(marks)})" if marks else "")


def target_of(line):
    return line["config"]["target"]


def by_problem(lines):
    """[{target: line}] per problem, in the order of the lines; a later line of a problem replaces an earlier one."""
    problems = {}
    for line in lines:
        problems.setdefault((line["problem"]["function"], *line["problem"]["inputs"]), {})[target_of(line)] = line
    return list(problems.values())


def ours_cells(line):
    """Verdict, median, spread, rate and share of the floor."""
    if line is None:
        return [""] * 5
    if "median_s" not in line:
        return [f"{line['verdict']}: {line.get('error', '')[:60]}", "", "", "", ""]
    tuned = line.get("tuned", {})
    median = seconds(line["median_s"]) + (f" (tuned {seconds(tuned['median_s'])})" if "median_s" in tuned else "")
    share = f"{100 * line['share']:.1f} %" if "share" in line else ""
    spread = ", ".join(filter(None, (f"{100 * line['spread']:.0f} %", late_note(line))))
    return [line["verdict"], median, spread, rate(line), share]


def table(lines):
    """A row per problem, the columns of each target, then those of its peers."""
    targets = list(dict.fromkeys(map(target_of, lines)))
    peers = {target: peer_names([line for line in lines if target_of(line) == target]) for target in targets}
    head = ["problem"]
    for target in targets:
        of = f" (`{target}`)" if len(targets) > 1 else ""
        head += ["verdict" + of, "median" + of, "spread", "", "of the floor"]
        head += [f"{name}, ratio{of}" for name in peers[target]]
    rows = [head, ["---"] * len(head)]
    for problem in by_problem(lines):
        row = [f"`{next(iter(problem.values()))['problem']['function']}`"]
        for target in targets:
            line = problem.get(target)
            row += ours_cells(line) + [peer_cell(line, name) if line else "" for name in peers[target]]
        rows.append(row)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def contenders(lines):
    """{label: {problem number: (line of ours, seconds)}}: a target's own, then its peers'."""
    targets = list(dict.fromkeys(map(target_of, lines)))
    result = {}
    for target in targets:
        of = f" {target}" if len(targets) > 1 else ""
        for row, problem in enumerate(by_problem(lines)):
            line = problem.get(target, {})
            if "median_s" not in line:
                continue
            result.setdefault("tilewright" + of, {})[row] = line, line["median_s"]
            if "median_s" in line.get("tuned", {}):
                result.setdefault("tilewright tuned" + of, {})[row] = line, line["tuned"]["median_s"]
            for name, peer in line["peers"].items():
                if "median_s" in peer:
                    result.setdefault(name + of, {})[row] = line, peer["median_s"]
    return result


def picture(lines, title, path):
    """A bar per contender: the share of the floor, or the speed, where the first of ours is 1. False where there is nothing
    to hold ours against."""
    floors = all("floor_s" in line for line in lines)
    bars = contenders(lines)
    if not floors and len(bars) < 2:
        return False
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tilewright"
    from matplotlib import pyplot

    problems = by_problem(lines)
    height = 0.8 / len(bars)
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.3 * len(problems) * max(2, len(bars) * 0.7)))
    first = [next((line["median_s"] for line in problem.values() if "median_s" in line), 0) for problem in problems]
    for i, (name, rows) in enumerate(bars.items()):
        axes.barh([row + i * height for row in rows],
                  [(line["floor_s"] if floors else first[row]) / taken for row, (line, taken) in rows.items()], height,
                  label=name)
    labels = [(next(iter(problem.values())), all(line["verdict"] == "ok" for line in problem.values()))
              for problem in problems]
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(problems))],
                    [line["problem"]["function"] + ("" if good else " (WRONG)") for line, good in labels])
    axes.invert_yaxis()
    axes.set_xlabel("share of the measured ceiling" if floors else f"speed, {next(iter(bars))} = 1")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_title(title)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True


def checks(folder):
    """Per kind of check that ran a line with its totals, then one for each that is neither right nor left out; of an
    earlier page's folder what it kept."""
    found = []
    for name in COUNTED:
        totals, bad = collections.Counter(), []
        for line in read_lines(folder / name):
            verdict = line.get("verdict", line.get("agrees"))
            if verdict is not None:
                verdict = VERDICTS.get(verdict, verdict)
                totals[verdict] += 1
                bad += [{"of": name, "line": line}] * (verdict not in ("passed", "skipped"))
        if totals:
            found += [{"of": name, "totals": {k: totals[k] for k in sorted(totals, key=str)}}, *bad]
    return found or read_lines(folder / CHECKS)


def counts(known):
    """A line of the page per kind of check."""
    totals = {line["of"]: line["totals"] for line in known if "totals" in line}
    for name, what in COUNTED.items():
        yield f"* {what}: " + (", ".join(f"{n} {k}" for k, n in totals[name].items()) if name in totals else "not run")


def page(folder, output, pictures):
    lines = read_lines(folder / "bench.jsonl")
    climbed = read_lines(folder / "ladder.jsonl")
    if not lines and not climbed:
        raise SystemExit(f"report.py: error: {folder / 'bench.jsonl'} has no line; perf/bench/run.py writes it")
    text = [f"# {output.name}", ""]
    machine = folder / "machine.txt"
    if machine.exists():
        text += ["```", machine.read_text().rstrip(), "```", ""]
    text += [*counts(checks(folder)), ""]
    if climbed:
        text += [ladder_page.tables(climbed), ""]
    groups = collections.defaultdict(list)
    for line in lines:
        groups[line["suite"], line["device"]].append(line)
    for (suite, device), group in groups.items():
        first = group[0]
        text += [f"## {suite} on {device}", "",
                 "; ".join([first["driver"], "target " + ", ".join(f"`{t}`" for t in dict.fromkeys(map(target_of, group))),
                           f"version {first['version']}", *(f"peers in {name}" for name in dict.fromkeys(
                               line["framework"] for line in group if line.get("peers")))]) + ".", ""]
        measured = [line["ceilings"] for line in group if "ceilings" in line]
        if measured:
            c = measured[0]
            text += [f"Measured ceilings: {c['flops_per_s'] * 1e-12:.0f} TFLOP/s (the library's product of 8192³ halves), "
                     f"{c['mma_flops_per_s'] * 1e-12:.0f} TFLOP/s (mma.sync alone), {c['bytes_per_s'] * 1e-12:.2f} TB/s (copy).", ""]
        clocks = [line["clocks"] for line in group if line.get("clocks")]
        if clocks:
            text += [f"Clocks right after: {min(c['sm_mhz'] for c in clocks)} to {max(c['sm_mhz'] for c in clocks)} MHz.", ""]
        text += [table(group), ""]
        if pictures:
            name = f"{suite}-{device.replace(':', '')}.svg"
            if not picture(group, f"{suite} on {device}", output / name):
                continue
            text += [f"![{suite} on {device}]({name})", ""]
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--no-pictures", action="store_true", help="the table alone; needs no matplotlib")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    try:
        text = page(arguments.results, arguments.output, not arguments.no_pictures)
    except ImportError as error:
        sys.exit(f"report.py: error: {error}; pip install matplotlib, or --no-pictures")
    (arguments.output / "README.md").write_text(text)
    known = checks(arguments.results)
    if known:
        (arguments.output / CHECKS).write_text("".join(json.dumps(line) + "\n" for line in known))
    for name in KEPT:
        source = arguments.results / name
        if source.exists() and source.resolve() != (arguments.output / name).resolve():
            shutil.copy(source, arguments.output / name)
    print(arguments.output / "README.md")


if __name__ == "__main__":
    main()
