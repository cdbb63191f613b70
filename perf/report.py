#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns what a run of perf/on-gpu brought back into a page with a table and pictures.

    perf/report.py RESULTS perf/results/NAME

RESULTS is the folder with bench.jsonl and, where those steps ran, machine.txt, cts.jsonl, e2e.jsonl, confirm.jsonl.
NAME gets README.md, a picture per suite and device, and a copy of bench.jsonl, so that the page can be made again. A time stands beside
its verdict; a ratio above 1 says that ours is faster. The same input gives the same bytes.
"""

import argparse
import collections
import json
import pathlib
import shutil
import sys

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
    if flops and (not ceilings or flops / ceilings["flops_per_s"] >= (moved or 0) / ceilings["bytes_per_s"]):
        return f"{flops * 1e-12:.3g} TFLOP/s"
    return f"{moved * 1e-9:.4g} GB/s" if moved else ""


def peer_names(lines):
    return list(dict.fromkeys(name for line in lines for name in line["peers"]))


def peer_cell(line, name):
    peer = line["peers"].get(name)
    if peer is None:
        return ""
    if "ratio" not in peer:
        return peer["error"][:40]
    mark = "" if peer["verdict"] == "ok" else f" ({peer['verdict']})"
    return f"{seconds(peer['median_s'])}, {peer['ratio']:.2f}×{mark}"


def table(lines):
    names = peer_names(lines)
    head = ["problem", "verdict", "median", "spread", "", "of the floor", *[f"{name}, ratio" for name in names]]
    rows = [head, ["---"] * len(head)]
    for line in lines:
        share = f"{100 * line['share']:.1f} %" if "share" in line else ""
        rows.append([f"`{line['problem']['function']}`", line["verdict"], seconds(line["median_s"]),
                     f"{100 * line['spread']:.0f} %", rate(line), share, *[peer_cell(line, name) for name in names]])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def picture(lines, title, path):
    """Times over ours, a bar per contender: 1 is ours, longer is slower."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tilewright"
    from matplotlib import pyplot

    names = ["tilewright", *peer_names(lines)]
    height = 0.8 / len(names)
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.3 * len(lines) * max(2, len(names) * 0.7)))
    for i, name in enumerate(names):
        rates = [1 / line["median_s"] if not i else
                 1 / line["peers"].get(name, {}).get("median_s", float("inf")) for line in lines]
        best = [line.get("floor_s") or line["median_s"] for line in lines]
        axes.barh([row + i * height for row in range(len(lines))], [r * b for r, b in zip(rates, best)], height, label=name)
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(lines))],
                    [line["problem"]["function"] + ("" if line["verdict"] == "ok" else " (WRONG)") for line in lines])
    axes.invert_yaxis()
    floors = all("floor_s" in line for line in lines)
    axes.set_xlabel("share of the measured ceiling" if floors else "speed, ours = 1")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_title(title)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def counts(folder):
    """A line per kind of check that ran."""
    for name, what in COUNTED.items():
        lines = read_lines(folder / name)
        if not lines:
            yield f"* {what}: not run"
            continue
        verdicts = collections.Counter()
        for line in lines:
            verdict = line.get("verdict", line.get("agrees"))
            if verdict is not None:
                verdicts[VERDICTS.get(verdict, verdict)] += 1
        yield f"* {what}: " + ", ".join(f"{verdicts[k]} {k}" for k in sorted(verdicts, key=str))


def page(folder, output, pictures):
    lines = read_lines(folder / "bench.jsonl")
    if not lines:
        raise SystemExit(f"report.py: error: {folder / 'bench.jsonl'} has no line; perf/bench/run.py writes it")
    text = [f"# {output.name}", ""]
    machine = folder / "machine.txt"
    if machine.exists():
        text += ["```", machine.read_text().rstrip(), "```", ""]
    text += [*counts(folder), ""]
    groups = collections.defaultdict(list)
    for line in lines:
        groups[line["suite"], line["device"]].append(line)
    for (suite, device), group in groups.items():
        first = group[0]
        text += [f"## {suite} on {device}", "",
                 f"{first['driver']}; target `{first['config']['target']}`; version {first['version']}; peers in {first['framework']}.", ""]
        if "ceilings" in first:
            c = first["ceilings"]
            text += [f"Measured ceilings: {c['flops_per_s'] * 1e-12:.0f} TFLOP/s (the library's product of 8192³ halves), "
                     f"{c['mma_flops_per_s'] * 1e-12:.0f} TFLOP/s (mma.sync alone), {c['bytes_per_s'] * 1e-12:.2f} TB/s (copy).", ""]
        clocks = [line["clocks"] for line in group if line.get("clocks")]
        if clocks:
            text += [f"Clocks right after: {min(c['sm_mhz'] for c in clocks)} to {max(c['sm_mhz'] for c in clocks)} MHz.", ""]
        text += [table(group), ""]
        if pictures:
            name = f"{suite}-{device.replace(':', '')}.svg"
            picture(group, f"{suite} on {device}", output / name)
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
    source = arguments.results / "bench.jsonl"
    if source.resolve() != (arguments.output / "bench.jsonl").resolve():
        shutil.copy(source, arguments.output / "bench.jsonl")
    print(arguments.output / "README.md")


if __name__ == "__main__":
    main()
