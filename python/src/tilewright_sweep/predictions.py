# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of a report that holds predicted times against measured ones: a plane of both, and how good the order is."""

import html
import math

from tilewright_sweep.predict import score

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 430, 78, 46, 16, 30
#: Colours of problems, in turn.
COLOURS = ("#2166ac", "#b2182b", "#4d9221", "#8c510a", "#7b3294", "#01665e", "#c51b7d", "#4a5563")


def pairs_of(problems):
    """{problem: [(measured, predicted, record)]}, in seconds, of candidates that have both."""
    found = {}
    for name, of in problems.items():
        both = [(r["median_s"], r["predicted"]["seconds"], r) for r in of if "median_s" in r and r.get("predicted", {}).get("seconds")]
        if both:
            found[name] = both
    return found


def chips_of(pairs):
    return ", ".join(sorted({r["predicted"]["chip"] for of in pairs.values() for *_, r in of}))


def span_of(pairs):
    """The powers of ten around all times."""
    times = [time for of in pairs.values() for measured, predicted, _ in of for time in (measured, predicted)]
    return math.floor(math.log10(min(times)) - 0.05), math.ceil(math.log10(max(times)) + 0.05)


def picture(pairs, seconds):
    """Measured times to the right, predicted ones upwards, both by powers of ten; on the line they are equal."""
    low, high = span_of(pairs)

    def x(time):
        return LEFT + (math.log10(time) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(time):
        return HEIGHT - BOTTOM - (math.log10(time) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    def line(ratio, style):
        """Where predicted is `ratio` times measured."""
        first, last = 10.0 ** (low + max(0, -math.log10(ratio))), 10.0 ** (high - max(0, math.log10(ratio)))
        return (f'<line x1="{x(first):.1f}" y1="{y(first * ratio):.1f}" x2="{x(last):.1f}" y2="{y(last * ratio):.1f}" '
                f'stroke="#4a5563" {style}/>')  # fmt: skip

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" font-size="12" fill="#1a1f26" '
             'font-family="system-ui, sans-serif" aria-label="predicted beside measured times">']  # fmt: skip
    for power in range(low, high + 1):
        at, label = 10.0**power, seconds(10.0**power)
        parts.append(f'<line x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#e4e8ee"/>')
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(at):.1f}" y2="{y(at):.1f}" stroke="#e4e8ee"/>')
        parts.append(f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{label}</text>')
    parts += [line(1, 'stroke-width="1.5"'), line(2, 'stroke-dasharray="5 4"'), line(0.5, 'stroke-dasharray="5 4"')]
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">measured</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">predicted for {html.escape(chips_of(pairs))}, not measured</text>')
    for number, (name, of) in enumerate(pairs.items()):
        colour = COLOURS[number % len(COLOURS)]
        for measured, predicted, r in of:
            text = html.escape(f"{name}: measured {seconds(measured)}, predicted {seconds(predicted)}: {r['config']}")
            parts.append(f'<circle cx="{x(measured):.1f}" cy="{y(predicted):.1f}" r="3.5" fill="{colour}" fill-opacity="0.75">'
                         f"<title>{text}</title></circle>")  # fmt: skip
    return "\n".join([*parts, "</svg>"])


def section(problems, table, seconds):
    """HTML; "" where no candidate has both times."""
    pairs = pairs_of(problems)
    if not pairs:
        return ""
    rows, ratios = [], []
    for number, (name, both) in enumerate(pairs.items()):
        times = [(measured, predicted) for measured, predicted, _ in both]
        tau, best_of = score.tau_b(times), min(measured for measured, _ in times)
        measured, predicted, chosen = min(both, key=lambda x: x[1])
        of_problem = [p / m for m, p in times]
        ratios += of_problem
        dot = f'<span style="color:{COLOURS[number % len(COLOURS)]}">●</span> '
        rows.append([dot + f"<code>{html.escape(name)}</code>", f"#{len(both)}", "#" + ("–" if tau is None else f"{tau:.2f}"),
                     f"#{score.geometric_error(of_problem):.0%}", f"#{seconds(best_of)}", f"#{seconds(measured)}",
                     f"#{seconds(predicted)}", html.escape(chosen["predicted"]["resource"])])  # fmt: skip
    text = (
        f"<p>{len(ratios)} candidates have a measured time and one that was predicted for {html.escape(chips_of(pairs))} without a GPU; in the "
        f"geometric mean the prediction is off by {score.geometric_error(ratios):.0%}. Each is a point, in the colour of its problem in the table: on "
        "the solid line the prediction is what was measured, above it the prediction is too slow, below it too fast; on the dashed lines by a factor of two. "
        "τ-b says how well the predicted order is the measured one: 1 is the same, 0 has nothing to do with it; times within "
        "8 % count as equal.</p>"
    )
    head = ["problem", "#candidates", "#τ-b", "#error", "#measured:<br>the best", "#measured:<br>the one predicted best"]
    return "\n".join([text, picture(pairs, seconds), table([*head, "#predicted<br>of that one", "predicted bound"], rows)])
