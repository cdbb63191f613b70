# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of a report that says how much of the device is used: what it can do at most, a roofline, shares."""

import html
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 780, 380, 92, 46, 16, 30
#: A share above this says more of the peak than of the kernel.
BEYOND = 1.02
BOUNDS = {
    "operations": "FLOPs",
    "cache": "moving bytes within the caches",
    "memory": "moving bytes to and from memory",
}


def si(value, unit):
    """1.5e12, "FLOP/s" -> "1.5 TFLOP/s"."""
    for scale, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= scale:
            return f"{value / scale:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def of_records(records):
    """{(where, types): ceilings} of what was measured."""
    return {(r["device"], r["ceilings"]["types"]): r["ceilings"] for r in records if r.get("ceilings")}


def _rate(value, unit="FLOP/s"):
    return "#" + (si(value, unit) if value else "–")


def ceilings_table(records, table):
    rows = []
    for (device, types), most in sorted(of_records(records).items()):
        near = max((rate for _, rate in most["bytes_per_s"]), default=None)
        product = _rate(most["product_flops_per_s"]) + (f" ({most['product_size']}³)" if most["product_size"] else "")
        why = html.escape(most.get("unknown", ""))
        library = _rate(most["library_flops_per_s"]) + (f"<br>{most['library']}" if most["library_flops_per_s"] else "")
        rows.append([html.escape(device), f"<code>{types}</code>", product, library, _rate(most["fma_flops_per_s"]),
                     _rate(most["memory_bytes_per_s"], "B/s"), _rate(near, "B/s"), why])  # fmt: skip
    head = ["device", "types", "#square matmul", "#by a library", "#multiply-adds<br>in registers", "#memory", "#caches", ""]
    return table(head, rows)


class _Plane:
    """Points of FLOPs per byte and per second, both by powers of ten."""

    def __init__(self, points, roofs):
        xs = [x for x, _ in points]
        # As far to the right as where the highest roof becomes flat.
        xs += [flat / steep for flat, steep, _ in roofs]
        self.x0, self.x1 = math.floor(math.log10(min(xs)) - 0.2), math.ceil(math.log10(max(xs)) + 0.2)
        ys = [y for _, y in points] + [flat for flat, _, _ in roofs]
        self.y0, self.y1 = math.floor(math.log10(min(ys)) - 0.1), math.ceil(math.log10(max(ys)) + 0.1)

    def x(self, value):
        share = (math.log10(value) - self.x0) / (self.x1 - self.x0)
        return LEFT + max(0.0, min(1.0, share)) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        share = (math.log10(value) - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def roof(self, flat, steep, dashes):
        """From the left edge, or where it comes in from below, up to where it is flat, and on."""
        start = max(10.0**self.x0, 10.0**self.y0 / steep)
        knee = max(start, flat / steep)
        corners = [(start, start * steep), (knee, flat), (10.0**self.x1, flat)]
        line = " ".join(f"{self.x(x):.1f},{self.y(min(y, flat)):.1f}" for x, y in corners)
        return f'<polyline points="{line}" fill="none" stroke="#4a5563" stroke-width="1.5" stroke-dasharray="{dashes}"/>'

    def label(self, flat, types):
        """At the right end of a roof, above it."""
        return f'<text x="{WIDTH - RIGHT - 4}" y="{self.y(flat) - 5:.1f}" text-anchor="end">{html.escape(types)}</text>'

    def axes(self):
        parts = []
        for power in range(self.x0, self.x1 + 1):
            x = self.x(10.0**power)
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#e4e8ee"/>')
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{10.0**power:g}</text>')
        for power in range(self.y0, self.y1 + 1):
            y = self.y(10.0**power)
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e8ee"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{si(10.0**power, "FLOP/s")}</text>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">FLOPs per byte of compulsory traffic</text>')
        return parts


def rows_of(problems, winner):
    """[(name, record)] of the tuned configs that stand beside ceilings."""
    return [(name, r) for name, r in ((name, winner(of)) for name, of in problems.items()) if r and r.get("roofline")]


def roofs_of(shown):
    """{(peak FLOP/s, bytes per second, dashes of the line)} of records."""
    roofs = set()
    for r in shown:
        most = r["ceilings"]
        near = max((rate for _, rate in most["bytes_per_s"]), default=None)
        roofs |= {(r["roofline"]["flops_per_s"], steep, dashes)
                  for steep, dashes in ((most["memory_bytes_per_s"], ""), (near, "5 4")) if steep}  # fmt: skip
    return roofs


def peaks_of(shown):
    """{peak FLOP/s: types whose it is}"""
    peaks = {}
    for r in shown:
        peaks.setdefault(r["roofline"]["flops_per_s"], set()).add(r["ceilings"]["types"])
    return {flat: ", ".join(sorted(types)) for flat, types in peaks.items()}


def picture(rows):
    """The plane with the roofs of the rows' types and a numbered point for each; "" where there is none to show."""
    shown = [(number, r) for number, (_, r) in enumerate(rows, 1) if r["roofline"]["intensity"] and r["roofline"]["flops_per_s"]]
    if not shown:
        return ""
    points = [(r["roofline"]["intensity"], r["flops_per_s"]) for _, r in shown]
    roofs = roofs_of([r for _, r in shown])
    if not roofs:
        return ""
    plane = _Plane(points, sorted(roofs))
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" font-size="12" fill="#1a1f26" '
             'font-family="system-ui, sans-serif" aria-label="roofline">', *plane.axes()]  # fmt: skip
    parts += [plane.roof(*roof) for roof in sorted(roofs)]
    parts += [plane.label(*peak) for peak in sorted(peaks_of([r for _, r in shown]).items())]
    for (number, r), (x, y) in zip(shown, points):
        name = html.escape(r["problem"]["name"])
        parts.append(f'<g><title>{name}: {r["roofline"]["share"]:.0%}</title><circle cx="{plane.x(x):.1f}" cy="{plane.y(y):.1f}" '
                     f'r="5" fill="#2166ac"/><text x="{plane.x(x) + 8:.1f}" y="{plane.y(y) + 4:.1f}">{number}</text></g>')  # fmt: skip
    return "\n".join([*parts, "</svg>"])


def section(problems, winner, records, table, seconds, bar):
    """HTML; "" where no record has ceilings."""
    rows = rows_of(problems, winner)
    if not rows:
        return ""
    lines = []
    for number, (name, r) in enumerate(rows, 1):
        roof = r["roofline"]
        beyond = '; <span class="slower">faster than the measured peak</span>' if roof["share"] > BEYOND else ""
        lines.append([f"#{number}", f"<code>{html.escape(name)}</code>", f"#{seconds(r['median_s'])}", f"#{seconds(roof['least_s'])}",
                      f"#{roof['share']:.0%}", bar(roof["share"], "tuned"), BOUNDS[roof["bound"]] + beyond])  # fmt: skip
    drawn = picture(rows)
    return "\n".join([
        "<h2>How much of the device is used</h2>",
        "<p>What the device can do at most, measured just before by kernels of ours: square matmuls in the default config, "
        "the largest one also by cuBLAS or OpenBLAS where it was found; multiply-adds that stay in registers; and <code>c = a + 3 b</code>, with tensors much larger than the caches (memory) "
        "and at the size at which it is fastest (caches).</p>",
        ceilings_table(records, table),
        "<p>The least that a call can take is the longer of two times: its FLOPs over the highest FLOP/s of its types, and its "
        "compulsory traffic over the rate that the device has for so many bytes. The share is that time over the "
        "measured one, of the tuned config: 100 % would be all that the device can give. It is above 100 % "
        "where a small matmul is faster than the large ones, or other programs slowed the measuring of the peak.</p>",
        drawn,
        f"<p class=quiet>{'Points are the rows below. Lines, with the types they are of: the highest FLOP/s, and left of the knee what memory (solid) or the caches (dashed) can feed. ' if drawn else ''}"
        "Problems without FLOPs, such as transposes, are in the table alone.</p>",
        table(["#", "problem", "#tuned", "#least", "#share", "", "bound by"], lines),
    ])  # fmt: skip
