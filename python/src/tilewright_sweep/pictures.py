# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a report shows as PNGs, too, where matplotlib is installed: tuned.png, and space-NAME.png, a heat map of configs."""

import math

from tilewright_sweep import report


def draw(problems, folder):
    """The same as PNGs; the names of those that were written."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [(name, report.winner(of)) for name, of in problems.items()]
    rows = [(name, w) for name, w in rows if w][::-1]
    written = []
    if rows:
        figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.35 * len(rows)))
        axes.barh(
            [n for n, _ in rows],
            [w["ratio"] for _, w in rows],
            color=["#2166ac" if w["config"] != "default" else "#b9c4d3" for _, w in rows],
        )
        axes.axvline(1, color="#1a1f26", linewidth=1)
        axes.set_xlabel("speedup of the tuned config over the default (grey: the default stands)")
        figure.tight_layout()
        figure.savefig(folder / "tuned.png", dpi=110)
        pyplot.close(figure)
        written.append("tuned.png")
    for name, of in sorted(problems.items(), key=lambda item: -len(item[1]))[:report.MAPS]:
        found = report.map_of(of)
        if not found:
            continue
        ys, xs, cells, loops, _ = found
        marks = report.marks_of(of, loops)
        data = [[math.log2(cells[y, x]) if (y, x) in cells else math.nan for x in xs] for y in ys]
        figure, axes = pyplot.subplots(figsize=(1.8 + 0.8 * len(xs), 1.6 + 0.5 * len(ys)))
        axes.imshow(data, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
        axes.set_xticks(range(len(xs)), xs)
        axes.set_yticks(range(len(ys)), ys)
        axes.set(
            xlabel=f"block along loop {loops[1]}{report.loop_name(of[0]['problem'], loops[1])}",
            ylabel=f"block along loop {loops[0]}{report.loop_name(of[0]['problem'], loops[0])}",
            title=f"{name}\nspeedup over the default (dashed), chosen: solid frame",
        )
        for (y, x), ratio in cells.items():
            ink = "white" if abs(math.log2(max(ratio, 1e-3))) > 0.6 else "black"
            axes.text(xs.index(x), ys.index(y), f"{ratio:.2f}", ha="center", va="center", fontsize=8, color=ink)
            if (y, x) in marks:
                style = {"won": "-", "default": "--"}[marks[y, x]]
                frame = pyplot.Rectangle((xs.index(x) - 0.46, ys.index(y) - 0.46), 0.92, 0.92, fill=False, lw=1.8, ls=style)
                axes.add_patch(frame)
        figure.tight_layout()
        figure.savefig(folder / f"space-{name}.png", dpi=110)
        pyplot.close(figure)
        written.append(f"space-{name}.png")
    return written
