# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a report shows as PNGs, too, where matplotlib is installed, for slides and papers: each says by itself what it shows.

    tuned.png       speedup of the tuned configs over the defaults
    roofline.png    what the device can do, and what the tuned configs reach
    peers.png       other libraries' times over ours
    predicted.png   predicted times beside measured ones
    history.png     times now over those of earlier results
    space-NAME.png  heat map of configs
"""

import math

from tilewright_sweep import predictions, report, rooflines

BLUE, RED, GREY, INK = "#2166ac", "#a40e26", "#b9c4d3", "#1a1f26"


def draw(problems, folder, bench=(), before=()):
    """The names of the files that were written; what there is nothing of is not."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    made = [
        ("tuned.png", _tuned(problems)),
        ("roofline.png", _roofline(problems)),
        ("peers.png", _peers(bench)),
        ("predicted.png", _predicted(problems)),
        ("history.png", _history(problems, before)),
    ]
    maps = sorted(problems.items(), key=lambda item: -len(item[1]))[: report.MAPS]
    made += [(f"space-{name}.png", _map(name, of)) for name, of in maps]
    from matplotlib import pyplot

    for name, figure in made:
        if figure:
            figure.tight_layout()
            figure.savefig(folder / name, dpi=110, bbox_inches="tight")
            pyplot.close(figure)
    return [name for name, figure in made if figure]


def _ratio_axis(axes, low, high):
    """Ratios by powers of two, with marks between where there is room."""
    from matplotlib import ticker

    near = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2]
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(low / 1.25, 0.8), max(high * 1.25, 1.25))
    axes.xaxis.set_major_locator(ticker.FixedLocator(near if high / low < 3 else [2.0**p for p in range(-12, 13)]))
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%.3g×"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.axvline(1, color=INK, linewidth=1)
    axes.grid(axis="x", color="#e4e8ee")
    axes.set_axisbelow(True)


def _bars(rows, title, label):
    """Ratios around 1, by powers of two, one below the other; rows are (name, ratio, colour, text)."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9.5, 1.4 + 0.32 * len(rows)))
    rows = rows[::-1]
    places = range(len(rows))
    # From 1 on: a bar to the left is the other side's.
    axes.barh(places, [ratio - 1 for _, ratio, *_ in rows], left=1, color=[colour for *_, colour, _ in rows])
    low, high = min(r[1] for r in rows), max(r[1] for r in rows)
    _ratio_axis(axes, low, high)
    axes.set_yticks(places, [name for name, *_ in rows], fontsize=8)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    for place, (_, ratio, _, text) in zip(places, rows):
        side = "left" if ratio >= 1 else "right"
        axes.annotate(text, (ratio, place), (4 if ratio >= 1 else -4, 0), textcoords="offset points", va="center", ha=side, fontsize=7.5)
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_xlabel(label)
    return figure


def _tuned(problems):
    found = [(name, report.winner(of)) for name, of in problems.items()]
    rows = [(n, w["ratio"], BLUE if w["config"] != "default" else GREY, f"{w['ratio']:.2f}×" if w["config"] != "default" else "the default stands")
            for n, w in found if w]  # fmt: skip
    return _bars(rows, "Tuned configs beside the compiler's own choice", "speedup over the default") if rows else None


def _roofline(problems):
    rows = [(name, r) for name, r in rooflines.rows_of(problems, report.winner) if r["roofline"]["intensity"] and r["roofline"]["flops_per_s"]]
    roofs = rooflines.roofs_of([r for _, r in rows])
    if not roofs:
        return None
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(9.5, 5.6))
    xs = [r["roofline"]["intensity"] for _, r in rows] + [flat / steep for flat, steep, _ in roofs]
    left, right = min(xs) / 2, max(xs) * 3
    for flat, steep, dashes in sorted(roofs):
        knee, what = flat / steep, "caches" if dashes else "memory"
        axes.plot([left, knee, right], [left * steep, flat, flat], color="#4a5563", lw=1.3, ls="--" if dashes else "-")
        at = min(left * 1.5, knee)
        axes.annotate(f"{what}: {rooflines.si(steep, 'B/s')}", (at, at * steep), (8, -8), textcoords="offset points", fontsize=8, color="#4a5563")
    for flat, types in sorted(rooflines.peaks_of([r for _, r in rows]).items()):
        axes.annotate(f"{types}: {rooflines.si(flat, 'FLOP/s')}", (right, flat), (-4, 4), textcoords="offset points", ha="right", fontsize=8, color="#4a5563")
    for number, (name, r) in enumerate(rows, 1):
        share = r["roofline"]["share"]
        axes.plot(r["roofline"]["intensity"], r["flops_per_s"], "o", color=BLUE, ms=6, label=f"{number}  {name}: {share:.0%}")
        axes.annotate(str(number), (r["roofline"]["intensity"], r["flops_per_s"]), (6, -3), textcoords="offset points", fontsize=8)
    axes.set(xscale="log", yscale="log", xlim=(left, right), xlabel="FLOPs per byte of compulsory traffic", ylabel="FLOP/s")
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: rooflines.si(value, "FLOP/s")))
    axes.grid(color="#e4e8ee")
    axes.set_axisbelow(True)
    title = (
        "What the device can do (lines, measured), and the tuned configs (points)\n"
        "Percentages are of what it can give a kernel with so many FLOPs and bytes.\n"
        "Above 100 %, other work slowed the device while the lines were measured."
    )
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.legend(fontsize=7.5, handlelength=0.6, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    return figure


def _peers(bench):
    """A line for each problem, a mark for each library."""
    found = report.peers_of(bench)
    if not found:
        return None
    from matplotlib import pyplot

    names = list(dict.fromkeys(line["problem"]["function"] for line, *_ in found))[::-1]
    figure, axes = pyplot.subplots(figsize=(9.5, 1.6 + 0.24 * len(names)))
    for number, peer in enumerate(sorted({name for _, name, _ in found})):
        # Those that are equally fast would hide each other.
        lift = 0.14 * (1 - number % 3)
        points = [(p["ratio"], names.index(line["problem"]["function"]) + lift) for line, name, p in found if name == peer]
        colour, mark = predictions.COLOURS[number % len(predictions.COLOURS)], "osD^v<>P"[number % 8]
        axes.scatter([x for x, _ in points], [y for _, y in points], s=18, color=colour, marker=mark, label=peer, linewidths=0)
    ratios = [p["ratio"] for *_, p in found]
    _ratio_axis(axes, min(ratios), max(ratios))
    axes.axvspan(1, axes.get_xlim()[1], color="#2166ac", alpha=0.06, lw=0)
    axes.grid(axis="y", color="#f0f2f5")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_title("Other libraries on the same inputs, measured in turn", fontsize=11, loc="left")
    axes.set_xlabel("their time over ours: right of 1 (shaded) ours is faster")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    return figure


def _predicted(problems):
    pairs = predictions.pairs_of(problems)
    if not pairs:
        return None
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(9.5, 5.6))
    low, high = (10.0**power for power in predictions.span_of(pairs))
    for factor, style, label in ((1, "-", "as measured"), (2, "--", "off by a factor of 2"), (0.5, "--", None)):
        axes.plot([low, high], [low * factor, high * factor], color="#4a5563", lw=1.2, ls=style, label=label)
    for number, (name, of) in enumerate(pairs.items()):
        colour = predictions.COLOURS[number % len(predictions.COLOURS)]
        axes.scatter([m for m, *_ in of], [p for _, p, _ in of], s=18, color=colour, alpha=0.75, linewidths=0, label=name)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal", xlabel="measured time of a candidate",
             ylabel=f"predicted time, for {predictions.chips_of(pairs)}")  # fmt: skip
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: report.seconds(value)))
    axes.grid(color="#e4e8ee")
    axes.set_axisbelow(True)
    axes.set_title("Predicted beside measured: above the line the prediction is too slow", fontsize=11, loc="left")
    axes.legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    return figure


def _history(problems, before):
    found = report.since(problems, before) if before else []
    colours = {"slower": RED, "faster": "#116329", "quiet": GREY}
    rows = [(name, change, colours[mark], f"{change - 1:+.0%}" + (" regression" if mark == "slower" else "")) for name, *_, change, mark in found]
    title = "Times now beside earlier results"
    return _bars(rows, title, "time now over time before; right (red) is slower; grey: within the noise") if rows else None


def _map(name, of):
    found = report.map_of(of)
    if not found:
        return None
    from matplotlib import pyplot

    ys, xs, cells, loops, _ = found
    marks = report.marks_of(of, loops)
    data = [[math.log2(cells[y, x]) if (y, x) in cells else math.nan for x in xs] for y in ys]
    figure, axes = pyplot.subplots(figsize=(max(5.5, 1.8 + 0.8 * len(xs)), 1.8 + 0.5 * len(ys)))
    axes.imshow(data, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    axes.set_xticks(range(len(xs)), xs)
    axes.set_yticks(range(len(ys)), ys)
    axes.set(
        xlabel=f"block along loop {loops[1]}{report.loop_name(of[0]['problem'], loops[1])}",
        ylabel=f"block along loop {loops[0]}{report.loop_name(of[0]['problem'], loops[0])}",
    )
    axes.set_title(f"{name}\nspeedup over the default (dashed frame); chosen: solid frame", fontsize=9, loc="left")
    for (y, x), ratio in cells.items():
        ink = "white" if abs(math.log2(max(ratio, 1e-3))) > 0.6 else "black"
        axes.text(xs.index(x), ys.index(y), f"{ratio:.2f}", ha="center", va="center", fontsize=8, color=ink)
        if (y, x) in marks:
            style = {"won": "-", "default": "--"}[marks[y, x]]
            frame = pyplot.Rectangle((xs.index(x) - 0.46, ys.index(y) - 0.46), 0.92, 0.92, fill=False, lw=1.8, ls=style)
            axes.add_patch(frame)
    return figure
