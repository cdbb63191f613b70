# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products on CPUs by instructions that multiply packed panels, with pinned configs: dot products of words (AVX-512 VNNI and
BF16) and tile registers (AMX); every order of operands, all signs of bytes, register tiles of fewer rows than the
instruction's, several chunks of the sum, tiles that hang over the edge, and what is fused before and after. Products whose
rows are read where they lie, of any number of rows and any length of the sum.

    test/e2e/run.py --targets cpu:x86-64-v4+amx-bf16+amx-int8+amx-tile,cpu-reference --devices cpu --filter 'panels*'
"""

import numpy as np

from data import BF16, F32, F64, I32, I8, integers
from families.contraction import exact_data, pair_name, sizes
from functions import EXACT, Function

WORDS = "cpu:x86-64-v4+avx512bf16+avx512vnni"
TILES = "cpu:x86-64-v4+amx-bf16+amx-int8+amx-tile"
TARGETS = (WORDS, TILES, "cpu-reference")
FORMS = {"nn": ("mk", "kn"), "ta": ("km", "kn"), "tb": ("mk", "nk"), "tab": ("km", "nk")}
SIGNS = ("ss", "us", "su", "uu")

# Register tiles: rows, columns, words along the sum; tiles of them that a block has; steps in a chunk.
WORD_TILES = ((8, 32, 8, (2, 2), 3), (3, 16, 2, (4, 1), 2))
TILE_TILES = ((32, 32, 16, (2, 2), 2), (20, 16, 16, (1, 3), 3), (16, 64, 16, (2, 1), 1))


def config(element, signs, tile, instruction):
    rows, columns, words, blocks, steps = tile
    step = words * (2 if element is BF16 else 4)
    if element is BF16:
        types = "bf16.f32"
    else:
        types = ".".join(dict.fromkeys(sign + "8" for sign in signs)) + ".s32"
    shape = f"m16n16k{step}" if instruction == "amx" else f"m1n16k{2 if element is BF16 else 4}"
    return (f"#tilewright.lowering_config<strategy = simt_contraction, block = [{rows * blocks[0]}, {columns * blocks[1]}, "
            f"{steps * step}], thread = [{rows}, {columns}, {step}], promote = [0, 1], mma = \"{instruction}.{shape}.{types}\">")


def pinned(element, signs, number):
    words = config(element, signs, WORD_TILES[number % len(WORD_TILES)], "dot")
    tiles = config(element, signs, TILE_TILES[number % len(TILE_TILES)], "amx")
    return f'tilewright.lowering_config = {{"{WORDS}" = {words}, "{TILES}" = {tiles}}}'


def product(element, form, signs, number, dims, dims_list=({},), fused=False):
    """`fused`: A is rounded, or shifted, from a wider type on the way; the result is scaled and kept positive."""
    c = F32 if element is BF16 else I32
    dynamic = dims_list != ({},)
    label = f"{number}_{form}_{signs}{'_fused' if fused else ''}_{'any' if dynamic else 'x'.join(map(str, dims.values()))}"
    f = Function("panels", pair_name(element, c), label, dims, dynamic, targets=TARGETS)
    left, right = FORMS[form]
    a, b = f.arg(c if fused else element, left), f.arg(element, right)
    suffix = "f" if element.is_float else "i"
    if fused:
        def narrow(lines, x, out):
            lines.append(f"%n = arith.trunc{suffix} {x} : {c.name} to {element.name}")
            return "%n"
        a = f.generic(left, [a], f.empty(element, left), narrow)

    def body(lines, x, y, out):
        for i, value in enumerate((x, y)):
            extend = "extf" if element.is_float else "extui" if signs[i] == "u" else "extsi"
            lines.append(f"%w{i} = arith.{extend} {value} : {element.name} to {c.name}")
        lines.extend((f"%p = arith.mul{suffix} %w0, %w1 : {c.name}", f"%t = arith.add{suffix} {out}, %p : {c.name}"))
        return "%t"

    result = f.generic("mnk", [a, b], f.zeros(c, "mn"), body, reduce="k", attributes=pinned(element, signs, number))
    if fused:
        bias = f.arg(c, "n")
        zero = f.constant(c, 0)

        def after(lines, x, y, out):
            maximum = "maximumf" if element.is_float else "maxsi"
            lines.extend((f"%s = arith.add{suffix} {x}, {y} : {c.name}", f"%r = arith.{maximum} %s, {zero.name} : {c.name}"))
            return "%r"
        result = f.generic("mn", [result, bias], f.empty(c, "mn"), after)
    f.ret(result)

    def reference(x, y, *bias):
        x, y = (v.astype(np.int64) & 255 if sign == "u" and not element.is_float else v for v, sign in zip((x, y), signs))
        total = np.einsum(f"{left},{right}->mn", x, y)
        return c.round(np.maximum(total + bias[0], 0) if bias else total)

    for more in dims_list:
        full = {**f.sizes, **more}
        data = exact_data(element, c, full["k"])
        f.case("int/" + "x".join(map(str, full.values())), more, [data, data, integers(-50, 50)] if fused else data, EXACT, reference)
    return f


def in_place(element, form, number, dims, dims_list=({},), batch=""):
    """The rows are not packed: `promote` has the columns' operand alone."""
    lanes = 4 if element is F64 else 8
    rows, vectors, blocks, steps = ((6, 2, (3, 2), 3), (4, 1, (1, 4), 2), (1, 2, (8, 1), 4))[number % 3]
    block = [rows * blocks[0], vectors * lanes * blocks[1], 8 * steps]
    ones = [1] * len(batch)
    config = (f"#tilewright.lowering_config<strategy = simt_contraction, block = {ones + block}, "
              f"thread = {ones + [rows, vectors * lanes, 8]}, promote = [1]>")
    dynamic = dims_list != ({},)
    f = Function("panels", element.name, f"in_place_{number}_{batch}{form}_{'any' if dynamic else 'x'.join(map(str, dims.values()))}",
                 dims, dynamic, targets=("cpu:x86-64-v3", "cpu-reference"))
    left, right = (batch + dims for dims in FORMS[form])
    a, b = f.arg(element, left), f.arg(element, right)
    suffix = "f" if element.is_float else "i"

    def body(lines, x, y, out):
        lines += [f"%p = arith.mul{suffix} {x}, {y} : {element.name}", f"%t = arith.add{suffix} {out}, %p : {element.name}"]
        return "%t"
    f.ret(f.generic(batch + "mnk", [a, b], f.zeros(element, batch + "mn"), body, reduce="k",
                    attributes=f'tilewright.lowering_config = {{"cpu:x86-64-v3" = {config}}}'))
    for more in dims_list:
        full = {**f.sizes, **more}
        data = exact_data(element, element, full["k"]) if element.is_float else integers(-99, 99)
        f.case("int/" + "x".join(map(str, full.values())), more, data, EXACT,
               lambda x, y: np.einsum(f"{left},{right}->{batch}mn", x, y))
    return f


def functions():
    for number, (element, form) in enumerate(((F32, "nn"), (F64, "tb"), (I32, "nn"), (F32, "tb"))):
        yield in_place(element, form, number, sizes(45, 71, 203))
        yield in_place(element, form, number, sizes(48, 64, 64))
        yield in_place(element, form, number, {"b": 3, **sizes(13, 40, 29)}, batch="b")
        yield in_place(element, form, number, sizes(1, 1, 1),
                       dims_list=[sizes(33, 65, 130), sizes(1, 1, 1), sizes(5, 200, 7), sizes(70, 3, 300), sizes(36, 64, 24),
                                  sizes(8, 8, 0), sizes(0, 8, 8)])
    # As many elements as register tiles and chunks have, and none that is whole.
    for number in range(6):
        form = tuple(FORMS)[number % 4]
        for element, signs in ((BF16, "ss"), (I8, SIGNS[number % 4])):
            yield product(element, form, signs, number, sizes(96, 128, 512))
            yield product(element, form, signs, number, sizes(45, 71, 203))
    # One block, of tile registers and of dot products.
    for dims in (sizes(64, 64, 256), sizes(16, 64, 256)):
        yield product(BF16, "nn", "ss", 0, dims)
        yield product(I8, "nn", "ss", 0, dims)
    for number, form in enumerate(FORMS):
        for element, signs in ((BF16, "ss"), (I8, SIGNS[number])):
            yield product(element, form, signs, number, sizes(1, 1, 1),
                          dims_list=[sizes(33, 65, 130), sizes(1, 1, 1), sizes(64, 64, 64), sizes(5, 200, 7), sizes(70, 3, 300),
                                     sizes(8, 8, 0), sizes(0, 8, 8)])
        yield product(BF16, form, "ss", number, sizes(40, 50, 150), fused=True)
        yield product(I8, form, SIGNS[3 - number], number, sizes(40, 50, 150), fused=True)
