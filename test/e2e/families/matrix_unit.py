# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products on NVIDIA's matrix units with pinned configs: rings of every depth,
orders of tiles, parts of the sum; sizes around the tiles', steps fewer than slots.
"""

import numpy as np

from data import BF16, F16, F32, I32, I8
from families.contraction import add_cases, exact_data, indexing, pair_name, sizes
from functions import EXACT, Function

PAIRS = ((F16, F32), (BF16, F32), (F16, F16), (I8, I32))
INSTRUCTIONS = {F16: "m16n8k16.f16", BF16: "m16n8k16.bf16", I8: "m16n8k32.s8"}
FORMS = {"nn": ("mk", "kn"), "ta": ("km", "kn"), "tb": ("mk", "nk"), "tab": ("km", "nk")}

# Block m, n, k; warps along m and n; slots; rows of tiles side by side.
CONFIGS = (((64, 64, 32), (2, 2), 3, 1), ((128, 64, 32), (4, 1), 4, 2), ((32, 32, 32), (1, 1), 5, 3),
           ((16, 64, 64), (1, 4), 2, 1), ((64, 128, 64), (2, 4), 3, 4))


def config(a, c, block, warps, stages, raster=1, splits=1):
    text = {F32: "f32", F16: "f16", I32: "s32"}[c]
    more = (f", splits = {splits}" if splits > 1 else "") + (f", raster = {raster}" if raster > 1 else "")
    return ("{tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, "
            f"block = [{', '.join(map(str, block))}], warps = [{warps[0]}, {warps[1]}, 1], stages = {stages}, "
            f"promote = [0, 1], mma = \"mma.{INSTRUCTIONS[a]}.{text}\"{more}>}}")


def most_stages(a, form, stages):
    """Operands of bytes are transposed in registers unless k runs along their rows; then there are two stages."""
    return min(stages, 2) if a is I8 and form != "tb" else stages


def product(a, c, family, label, dims, form, pinned, dynamic=False, dims_list=({},)):
    f = Function(family, pair_name(a, c), label, dims, dynamic, targets=("cuda", "cpu-reference"))
    maps = FORMS[form]
    ins = [f.arg(a, m) for m in maps]
    f.ret(f.op("linalg.contract", ins, f.zeros(c, "mn"), indexing("mnk", *maps, "mn") + " " + pinned))
    equation = ",".join(maps) + "->mn"

    def reference(*arrays):
        if a.is_float:
            return np.einsum(equation, *arrays)
        return c.round(np.einsum(equation, *[x.astype(np.int64) for x in arrays]))
    add_cases(f, a, c, dims_list, "k", reference)
    return f


def rings():
    """Aligned rows (asynchronous copies of 16, 8 and 4 bytes), rows that no copy can take, dynamic ones."""
    for a, c in PAIRS:
        for number, (block, warps, stages, raster) in enumerate(CONFIGS):
            form = tuple(FORMS)[number % 4]
            pinned = config(a, c, block, warps, most_stages(a, form, stages), raster)
            name = f"{number}_{form}"
            m, n, k = block
            statics = [sizes(2 * m, 3 * n, 5 * k), sizes(m + 8, n + 4, 2 * k + 12), sizes(m - 2, n + 6, 3 * k + 2)]
            for dims in statics[number % 3:][:1] if a is not F16 else statics:
                label = "x".join(map(str, dims.values()))
                yield product(a, c, "ring", f"{name}_{label}", dims, form, pinned)
            yield product(a, c, "ring", f"{name}_any", sizes(1, 1, 1), form, pinned, True,
                          [sizes(m, n, 0), sizes(8, 8, 8), sizes(m + 1, n - 1, k + 1), sizes(m, n + 8, 4 * k),
                           sizes(2 * m + 8, n + 16, 2 * k + 8), sizes(0, 5, 3)])


def windows():
    """Rows that are aligned, but end anywhere: the last run of a row is copied in part."""
    for a, c in ((F16, F32), (BF16, F32)):
        for offset in (8, 3):
            dims = {"p": 72, **sizes(40, 27, 37)}
            f = Function("ring_window", pair_name(a, c), f"{offset}", dims, targets=("cuda", "cpu-reference"))
            x, y = f.arg(a, "mp"), f.arg(a, "np")
            left, right = (f.raw(f"tensor.extract_slice {v.name}[0, {offset}] [{dims[d]}, {dims['k']}] [1, 1] : "
                                 f"{f.type(a, d + 'p')} to {f.type(a, d + 'k')}", a, d + "k")
                           for v, d in ((x, "m"), (y, "n")))
            pinned = config(a, c, (32, 32, 32), (2, 1), 3)
            f.ret(f.op("linalg.contract", [left, right], f.zeros(c, "mn"), indexing("mnk", "mk", "nk", "mn") + " " + pinned))
            f.case("int/40x27x37", {}, exact_data(a, c, 37), EXACT,
                   lambda x, y, o=offset: x[:, o:o + 37] @ y[:, o:o + 37].T)
            yield f


def rasters():
    """Every tile once, whatever is left in the last band."""
    pinned = {r: config(F16, F32, (16, 8, 16), (1, 1), 3, r) for r in (2, 3, 8)}
    for raster, text in pinned.items():
        yield product(F16, F32, "raster", f"{raster}", sizes(1, 1, 1), "nn", text, True,
                      [sizes(16 * rows, 8 * columns - 3, 16) for rows, columns in ((1, 5), (5, 1), (5, 3), (9, 2))])


def parts():
    """The sum in parts, combined by a second kernel."""
    for a, c in ((F16, F32), (BF16, F32), (I8, I32)):
        for form in ("nn", "tb"):
            for label, dims, splits in (("4", sizes(40, 72, 2048), 4), ("ragged", sizes(17, 33, 1100), 3),
                                        ("short", sizes(16, 16, 100), 4)):
                yield product(a, c, "parts", f"{label}_{form}", dims, form,
                              config(a, c, (32, 32, 32), (1, 2), most_stages(a, form, 3), splits=splits))
        f = Function("parts", pair_name(a, c), "default", sizes(16, 64, 4096))
        x, y = f.arg(a, "mk"), f.arg(a, "kn")
        f.ret(f.op("linalg.matmul", [x, y], f.zeros(c, "mn")))
        data = exact_data(a, c, 4096)
        exact = (lambda x, y: x @ y) if a.is_float else (
            lambda x, y, c=c: c.round(x.astype(np.int64) @ y.astype(np.int64)))
        f.case("int/16x64x4096", {}, data, EXACT, exact)
        yield f


def functions():
    for part in (rings, windows, rasters, parts):
        yield from part()
