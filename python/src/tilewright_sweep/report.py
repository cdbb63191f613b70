# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results to a page: one HTML file that needs nothing else, and pictures where matplotlib is installed.

    index.html      what was measured where; tuned beside default; how the configs compare; peers; earlier results
    tuned.png       the same bars; and, where there is something to show, the same as on the page:
    roofline.png, peers.png, predicted.png, history.png
    space-NAME.png  heat map of the configs of the problems with the most candidates

It is for somebody who did not run the sweep: every figure stands with its unit and with what it is compared with.
"""

import html
import math
import pathlib
import re

from tilewright_sweep import best, journal, predictions, rooflines
from tilewright_sweep.contest import late_note

#: Heat maps of so many problems, those with the most candidates.
MAPS = 6
#: Slower than before by more than that, and by more than both spreads, is a regression.
REGRESSION = 1.05

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1f26; background: #fff; max-width: 1080px;
  margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em }
h2 { font-size: 1.15em; margin-top: 2.2em }
p, li { max-width: 52em }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th { text-align: left; font-weight: 600; color: #4a5563 }
td, th { padding: .3em .8em .3em 0; vertical-align: top; border-bottom: 1px solid #e4e8ee }
td.n, th.n { text-align: right }
.bar { display: inline-block; height: .8em; background: #b9c4d3; vertical-align: middle }
.bar.tuned { background: #2166ac }
.faster { color: #116329 }
.slower { color: #a40e26 }
.quiet { color: #6a7683 }
code { font-size: .88em }
td.n, td:first-child code { white-space: nowrap }
table.map td { width: 4.2em; text-align: center; border: 2px solid #fff; padding: .35em }
table.map th { padding: .35em .6em; text-align: right }
table.map td.early { font: italic .8em system-ui; vertical-align: middle }
table.map td.default { outline: 2px dashed #1a1f26; outline-offset: -3px }
table.map td.won { outline: 3px solid #1a1f26; outline-offset: -4px }
"""


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            break
    return f"{value * scale:.3g} {unit}"


def rate(record):
    """What it does in a second; of the operations where the artifact states enough of them, else of the bytes."""
    flops, moved = record.get("flops_per_s"), record.get("bytes_per_s")
    if flops and (not moved or flops > 4 * moved):
        return f"{flops * 1e-9:.4g} GFLOP/s"
    return f"{moved * 1e-9:.3g} GB/s" if moved else ""


def fields(config):
    """{"block": "[32, 64, 1]", ...} of the text of a config."""
    return dict(re.findall(r"(\w+) = (\[[^\]]*\]|\"[^\"]*\"|\w+)", config or ""))


def changes(record):
    """What a config has that the default does not."""
    ours, default = fields(record["config"]), fields(record["tuning"]["default"])
    return ", ".join(f"{k} {default.get(k, '–')} → {v}" for k, v in ours.items() if v != default.get(k)) or "the same"


def by_problem(records):
    """{name: its records}, the default first; a later record of a candidate replaces an earlier one. What was measured on
    devices of several kinds is a problem for each: "NAME on DEVICE"."""
    found, kinds = {}, {}
    for r in records:
        kinds.setdefault(r["problem"]["name"], {}).setdefault(r["driver"], r["device"])
    for r in records:
        name, of = r["problem"]["name"], kinds[r["problem"]["name"]]
        shown = f"{name} on {of[r['driver']]}" if len(of) > 1 else name
        found.setdefault(shown, {})[r["candidate"]] = r
    return {name: sorted(of.values(), key=lambda r: r["config"] != "default") for name, of in sorted(found.items())}


def winner(of):
    """The fastest that is right and was measured to the end; the default where none is faster beyond the noise."""
    right = [r for r in of if r["verdict"] == "ok" and r.get("final")]
    default = next((r for r in right if r["config"] == "default"), None)
    return max((r for r in right if best.standing(r) == "faster"), key=best.steady_ratio, default=default)


def escape(text):
    return html.escape(str(text))


def table(head, rows, kind=""):
    """Rows of cells; a cell that begins with "#" is a number and stands right; text is HTML already."""

    def cell(tag, text):
        number = text.startswith("#")
        return f"<{tag}{' class=n' if number else ''}>{text[1:] if number else text}</{tag}>"

    lines = [f"<table{' class=' + kind if kind else ''}>", "<tr>" + "".join(cell("th", h) for h in head) + "</tr>"]
    lines += ["<tr>" + "".join(cell("td", c) for c in row) + "</tr>" for row in rows]
    return "\n".join(lines + ["</table>"])


def bar(share, kind=""):
    return f'<span class="bar {kind}" style="width:{max(1, round(120 * min(share, 1)))}px"></span>'


def describe(records):
    """Where the figures come from."""
    rows = []
    for what, of in (
        ("device", lambda r: f"{r['device']}, {r['driver']}"),
        ("UUID", lambda r: r["uuid"] or "(the driver does not say)"),
        ("host", lambda r: r["host"]),
        ("target", lambda r: r["target"]),
        ("compiler", lambda r: f"{r['compiler']['version']} ({r['compiler']['sha256'][:12]})"),
    ):
        rows.append([what, "<br>".join(escape(x) for x in sorted({of(r) for r in records}))])
    times = sorted(r["time"] for r in records)
    return table(["", ""], rows + [["measured", f"{times[0]} to {times[-1]}"]])


def warnings(records):
    """What makes figures doubtful: work beside ours, and clocks that were held down."""
    said = []
    around = [(r, r["surroundings"]) for r in records if r.get("surroundings")]
    # Ours keeps all processors busy where it measures on them.
    loads = [(s["load"][1], s["processors"]) for r, s in around if s.get("load") and s.get("processors")]
    busy = [load for load, processors in loads if load > 1.25 * processors + 0.5]
    if busy:
        said.append(
            f"The host was busy with other work in {len(busy)} of {len(around)} measurements (load up to {max(busy):g} on "
            f"{loads[0][1]} processors): figures of a CPU are then as much of that work as of the kernels."
        )
    shared = [s["processes_on_device"] for _, s in around if (s.get("processes_on_device") or 0) > 1]
    if shared:
        said.append(f"Up to {max(shared)} processes used the device in {len(shared)} of {len(around)} measurements.")
    causes = {}
    for _, s in around:
        for cause in s.get("throttle") or []:
            causes[cause] = causes.get(cause, 0) + (cause != "idle")
    said += [f"The clock was held down by {c} in {n} of {len(around)} measurements." for c, n in sorted(causes.items()) if n]
    return "".join(f'<p class="slower">{escape(text)}</p>' for text in said)


def verdicts(records):
    counts = {}
    for r in records:
        counts[r["verdict"]] = counts.get(r["verdict"], 0) + 1
    meanings = {
        "ok": "right, and timed",
        "mismatch": "wrong results",
        "crash": "ended the process",
        "timeout": "gave no sign of life",
        "error": "refused by the runtime",
        "not compiled": "refused by the compiler, which says why",
        "not for this device": "of a program that this device does not run",
    }
    lines = [[escape(k), f"#{v}", meanings.get(k, "")] for k, v in sorted(counts.items())]
    bad = [r for r in records if r["verdict"] in ("mismatch", "crash", "timeout", "error")]
    text = table(["verdict", "#candidates", ""], lines)
    if bad:
        text += "<p>These were wrong or failed, and are no candidates for the database:</p>" + table(
            ["problem", "verdict", "what happened", "config"],
            [
                [
                    escape(r["problem"]["name"]),
                    escape(r["verdict"]),
                    escape(r.get("error", "")),
                    f"<code>{escape(r['config'])}</code>",
                ]
                for r in bad[:50]
            ],
        )
    return text


def why_default(of):
    """Why the default stands: how near the others came."""
    others = [
        r for r in of if r["verdict"] == "ok" and r.get("final") and r["config"] != "default" and "same_as" not in r
    ]
    if not others:
        return "the default stands: there is no other"
    near = max(others, key=lambda r: r["ratio"])
    text = f"the default stands; nearest: {near['ratio']:.2f}×, half of the pairs {near['ratio_low']:.2f} to {near['ratio_high']:.2f}"
    fastest = best.fastest_ratio(near)
    return text + (f"; by the fastest calls {fastest:.2f}×" if fastest < 1 <= near["ratio"] else "")


def said(*texts):
    return ", ".join(filter(None, texts))


def percent(share):
    """Of a spread; beyond ten times the median a number says nothing more."""
    return f"{share:.0%}" if share <= 10 else "> 1000%"


def loop_name(problem, number):
    """Which dim a loop is, of problems whose loops are their dims."""
    names = {"gemm": "mnk", "quantized": "mnk"}.get(problem["op"], "")
    number -= problem["op"] == "gemm" and bool(problem["dims"].get("batch"))
    return f" ({names[number]})" if 0 <= number < len(names) else ""


def takes(record):
    """What the device's driver says of its kernels, the most of each; "" where it says nothing."""
    kernels = record.get("resources") or []

    def most(*members):
        return max((sum(k.get(m, 0) for m in members) for k in kernels if members[0] in k), default=None)

    registers, local = most("registers"), most("local_bytes")
    shared = most("shared_bytes", "dynamic_shared_bytes")
    said = [f"{registers} registers"] if registers is not None else []
    said += [f"{shared / 1024:g} KiB shared"] if shared is not None else []
    said += [f"{local} bytes in local memory"] if local else []
    return ", ".join(said)


def tuned_table(problems):
    rows = []
    for name, of in problems.items():
        won, default = winner(of), next((r for r in of if r["config"] == "default" and "median_s" in r), None)
        if not won or not default:
            continue
        slowest = max(default["median_s"], won["median_s"])
        faster = won is not default
        rows.append(
            [
                f"<code>{escape(name)}</code>",
                f"#{seconds(default['median_s'])}<br>{seconds(won['median_s'])}",
                bar(default["median_s"] / slowest) + "<br>" + bar(won["median_s"] / slowest, "tuned"),
                f'#<span class="{"faster" if faster else "quiet"}">{won["ratio"]:.2f}×</span>',
                f"#{escape(rate(won))}",
                f"#{said(percent(won['spread']), late_note(won))}",
                (
                    f"{escape(changes(won))}"
                    if faster and won["kernel"]
                    else f'<span class="quiet">{why_default(of)}</span>'
                )
                + (f"<br>{takes(won)}" if takes(won) else ""),
            ]
        )
    return table(
        [
            "problem",
            "#default<br>tuned",
            "median time",
            "#speedup",
            "#tuned does",
            "#spread",
            "tuned config: what differs",
        ],
        rows,
    )


def block_of(record, of):
    """Tile sizes of a record; of the default's, what the compiler chose."""
    config = (
        record["config"]
        if record["config"] != "default"
        else next((r["tuning"]["default"] for r in of if r["tuning"]), "")
    )
    return [int(x) for x in re.findall(r"\d+", fields(config).get("block", ""))]


def map_of(of):
    """Heat map over the first two tile sizes that vary; None where there is no plane.

    (rows, columns, {(row, column): speedup}, numbers of the loops, cells none of which was measured to the end)
    """
    cells, blocks, ended = {}, [], set()
    for r in of:
        block = block_of(r, of)
        if len(block) >= 2 and r["verdict"] == "ok" and "ratio" in r:
            blocks.append((block, r["ratio"], r.get("final")))
    varying = [i for i in range(min((len(b[0]) for b in blocks), default=0)) if len({b[0][i] for b in blocks}) > 1][:2]
    if len(varying) < 2:
        return None
    # What was measured to the end counts more than a few samples.
    for block, ratio, final in sorted(blocks, key=lambda b: (bool(b[2]), b[1])):
        place = tuple(block[i] for i in varying)
        cells[place] = ratio
        if final:
            ended.add(place)
    return sorted({c[0] for c in cells}), sorted({c[1] for c in cells}), cells, varying, set(cells) - ended


def marks_of(of, loops):
    """{cell: "default" or "won"} of a heat map."""
    places = {"default": next((r for r in of if r["config"] == "default"), None), "won": winner(of)}
    return {tuple((block_of(r, of) + [0, 0])[i] for i in loops): kind for kind, r in places.items() if r}


def colour(ratio):
    """Blue is faster than the default, red slower, white the same."""
    strength = max(-1.0, min(1.0, math.log2(max(ratio, 1e-3))))
    towards = (33, 102, 172) if strength > 0 else (178, 24, 43)
    mixed = [round(255 + (t - 255) * abs(strength) * 0.8) for t in towards]
    return f"background:rgb({mixed[0]},{mixed[1]},{mixed[2]});color:{'#fff' if abs(strength) > 0.7 else '#1a1f26'}"


def maps(problems):
    """Heat maps as tables."""
    parts = []
    for name, of in sorted(problems.items(), key=lambda item: -len(item[1]))[:MAPS]:
        found = map_of(of)
        if not found:
            continue
        rows, columns, cells, loops, early = found
        marks = marks_of(of, loops)
        titles = " &nbsp; ".join(f"loop {i}{loop_name(of[0]['problem'], i)} {arrow}" for i, arrow in zip(loops, "↓→"))
        lines = [
            f"<h3><code>{escape(name)}</code></h3>",
            '<table class="map">',
            f"<tr><th>{titles}</th>"
            + "".join(f"<th>{c}</th>" for c in columns)
            + "</tr>",
        ]
        for row in rows:
            shown = "".join(
                (
                    f'<td class="{marks.get((row, c), "early" if (row, c) in early else "")}" '
                    f'style="{colour(cells[row, c])}">{cells[row, c]:.2f}×</td>'
                    if (row, c) in cells
                    else "<td></td>"
                )
                for c in columns
            )
            lines.append(f"<tr><th>{row}</th>{shown}</tr>")
        parts.append("\n".join(lines + ["</table>"]))
    return "\n".join(parts)


def peers_of(lines):
    """[(line, name of the peer, what the line says of it)] of lines that perf/bench/run.py wrote: others on the same
    inputs, by turns."""
    return [(line, name, peer) for line in lines for name, peer in sorted(line.get("peers", {}).items()) if "ratio" in peer]


def peers_table(lines):
    rows = [
        [
            f"<code>{escape(line['problem']['function'])}</code>",
            f"#{said(seconds(line['median_s']), late_note(line))}",
            escape(name),
            f"#{said(seconds(peer['median_s']), late_note(peer))}",
            f'#<span class="{"faster" if peer["ratio"] >= 1 else "slower"}">{peer["ratio"]:.2f}×</span>',
            bar(min(peer["ratio"], 2) / 2, "tuned"),
        ]
        for line, name, peer in peers_of(lines)
    ]
    return table(["problem", "#ours", "peer", "#peer's", "#ours is faster by", ""], rows) if rows else ""


def since(problems, before):
    """[(name, record now, record then, time now / then, "slower", "faster" or "quiet")] of the problems of both; what is
    worse or better beyond both spreads is not quiet."""
    rows = []
    for name, of in problems.items():
        now, then = winner(of), winner(before.get(name, []))
        if not now or not then:
            continue
        change = now["median_s"] / then["median_s"]
        beyond = max(now["spread"], then["spread"]) / 2
        mark = (
            "slower"
            if change > max(REGRESSION, 1 + beyond)
            else "faster" if change < min(1 / REGRESSION, 1 - beyond) else "quiet"
        )
        rows.append((name, now, then, change, mark))
    return rows


def history(problems, before):
    """What the same problems took in earlier results, and how many are slower."""
    rows, changed = [], since(problems, before)
    for name, now, then, change, mark in changed:
        rows.append(
            [
                f"<code>{escape(name)}</code>",
                f"#{seconds(then['median_s'])}",
                f"#{seconds(now['median_s'])}",
                f'#<span class="{mark}">{change - 1:+.0%}</span>',
                f'<span class="{mark}">{ {"slower": "regression", "faster": "faster", "quiet": "within the noise"}[mark]}</span>',
                "another config" if now["config"] != then["config"] else "",
            ]
        )
    return table(["problem", "#before", "#now", "#time", "", ""], rows), sum(mark == "slower" for *_, mark in changed)


def page(records, bench, before):
    problems = by_problem(records)
    won = [(winner(of), of) for of in problems.values()]
    faster = sum(w is not None and w["config"] != "default" for w, _ in won)
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Sweep</title><style>{STYLE}</style>",
        f"<h1>Sweep of {len(problems)} problems, {sum(map(len, problems.values()))} candidates</h1>",
        f"<p>For {faster} of {len(problems)} problems a config is faster than the one that the compiler "
        f"chooses by itself, by more "
        f"than the noise ({best.LEAST_GAIN - 1:.0%} at least, in three quarters of the paired "
        f"measurements of each process, and its fastest call no slower than the default's). For the others the "
        "default stands.</p>",
        describe(records),
        warnings(records),
        "<h2>Tuned beside default</h2>",
        "<p>Median time of a call, inputs in the cache where they fit; the shorter bar is the faster one. "
        "Speedup is the median over "
        "pairs that were measured right after each other, so it need not be the quotient of the two times. "
        "Spread is (90th − 10th "
        "percentile) / median of the tuned one's times.</p>",
        tuned_table(problems),
    ]
    shown = maps(problems)
    if shown:
        parts += [
            "<h2>How the configs compare</h2>",
            "<p>Each cell is the fastest config whose block (what one thread block, workgroup or CPU task "
            "computes) has these sizes "
            "along two loops of the kernel, as speedup over the default: above 1, blue, is faster. The default's "
            "cell has a dashed "
            "frame, the chosen one's a solid frame. Empty cells were not measured: such configs do not fit, or "
            "were not among the "
            "candidates. In small italics: dropped out before the last round, so of few samples.</p>",
            shown,
        ]
    parts.append(rooflines.section(problems, winner, records, table, seconds, bar))
    guessed = predictions.section(problems, table, seconds)
    if guessed:
        parts += ["<h2>Predicted beside measured</h2>", guessed]
    compared = peers_table(bench)
    parts += [
        "<h2>Beside others</h2>",
        compared or "<p class=quiet>No results with peers were given (<code>perf/bench/run.py</code> writes them).</p>",
    ]
    if before is not None:
        rows, worse = history(problems, by_problem(before))
        parts += [
            "<h2>Since the earlier results</h2>",
            f"<p>{worse} regression{'s' * (worse != 1)}. A time counts as changed if it differs by more than "
            f"{REGRESSION - 1:.0%} and by more than half the larger spread.</p>",
            rows,
        ]
    parts += ["<h2>Verdicts</h2>", verdicts(records)]
    return "\n".join(parts) + "\n</html>\n"


def write_report(paths, folder, before=()):
    from tilewright_sweep import pictures

    lines = journal.read_results(paths)
    records = [r for r in lines if "candidate" in r]
    if not records:
        raise ValueError(f"no results of a sweep in {', '.join(map(str, paths))}")
    bench = [r for r in lines if "peers" in r]
    earlier = [r for r in journal.read_results(before) if "candidate" in r] if before else None
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page(records, bench, earlier), encoding="utf-8")
    written = pictures.draw(by_problem(records), folder, bench, by_problem(earlier) if earlier else {})
    print(
        f"{folder}/index.html"
        + (f", {len(written)} pictures" if written else "; no pictures, matplotlib is not installed")
    )
    return 0
