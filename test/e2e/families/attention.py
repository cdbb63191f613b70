# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright.attention: masks, lengths, layouts and types.

Values are positive, so that a result is within a relative bound of its value: each weight is rounded to the type of
the values, and so is the result, on the device and in the oracle. The score's own error, of d terms in f32 that are
at most `most` in sum, and those of the softmax and of the sums of n terms are a few f32 units each.
"""

import functools

import numpy as np

from data import BF16, F16, F32, F64, I1, choice, integers, uniform
from families.panels import TILES
from functions import EXACT, Function, Value, relative


def visible(causal, window, i, j):
    """Which keys each query sees: rows of booleans."""
    rows, columns = np.arange(i)[:, None], np.arange(j)[None, :]
    own = rows + (j - i if causal == "bottom_right" else 0)
    seen = np.ones((i, j), bool)
    if causal:
        seen &= columns <= own
    before, behind = window or (-1, -1)
    if before >= 0:
        seen &= columns >= own - before
    if behind >= 0 and not causal:
        seen &= columns <= own + behind
    return seen


def numpy_attention(q, k, v, mask, scale, causal, window, softcap, keep=True):
    """Of arrays (batch..., i, d), (batch..., j, d), (batch..., j, e): results and log-sum-exps."""
    scores = np.einsum("...id,...jd->...ij", q, k) * scale
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    scores = np.where(keep, scores, 0)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    scores = np.where(visible(causal, window, q.shape[-2], k.shape[-2]), scores, -np.inf)
    most = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), -1e300)
    p = np.exp(scores - most)
    total = p.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(total == 0, 0, np.einsum("...ij,...je->...ie", p, v) / total)
        lse = (most + np.log(total))[..., 0]
    return out, np.where(total[..., 0] == 0, -np.inf, lse)


def write_results(f, text, maps, outs, dims, scale, causal, window, softcap, pinned):
    """Adds attributes and the destinations `outs`, the result's and perhaps that of log-sum-exps, to an attention's text so
    far, and returns its results; the first has the letters `dims`."""
    types = ", ".join(f.value_type(x) for x in outs)
    attributes = [f"indexing_maps = [{', '.join(maps)}]"]
    attributes += [f"scale = {scale:.17e}"] if scale else []
    attributes += [f'causal = "{causal}"'] if causal else []
    attributes += [f"window = array<i64: {window[0]}, {window[1]}>"] if window else []
    attributes += [f"softcap = {softcap:.17e}"] if softcap else []
    attributes += [f"tilewright.lowering_config = {pinned}"] if pinned else []
    text += f"outs({', '.join(x.name for x in outs)} : {types}) {{{', '.join(attributes)}}} -> {types}"
    if len(outs) > 1:
        f.emit(f"%r:2 = {text}")
        f.ret(*[Value(f"%r#{n}", x.element, x.dims) for n, x in enumerate(outs)])
    else:
        f.ret(f.raw(text, outs[0].element, dims))


class Case:
    def __init__(self, element, label, dims, dynamic=False, batch="h", group="", causal=None, window=None, softcap=0,
                 mask=None, lse=False, scale=None, tokens_first=False, data=uniform(-2, 2), more=(), out=None, known="",
                 pinned="", targets=(), values=uniform(0.25, 2), exact=False, computed=None, family="attention", keep=""):
        """`keep`: dims of what scores are kept by, beside a mask. `pinned`: a lowering config, as on the op. `targets`: of a Function. `exact`: all that is computed is.
        `computed`: what computes the mask, families/attention_masks.py."""
        self.__dict__.update(locals())
        f = self.f = Function(family, element.name, label, dims, dynamic, known=known, targets=targets)
        self.heads = batch + group
        order = (lambda inner, b: inner[0] + b + inner[1]) if tokens_first else (lambda inner, b: b + inner)
        self.dims = {"q": order("iD", self.heads), "k": order("jD", batch), "v": order("jE", batch),
                     "o": order("iE", self.heads), "l": self.heads + "i"}
        q, k, v = f.arg(element, self.dims["q"]), f.arg(element, self.dims["k"]), f.arg(element, self.dims["v"])
        out = out or element
        self.wide = F64 if element is F64 else F32
        e = f.empty(out, self.dims["o"])
        iteration = self.heads + "ijDE"
        maps = [self.dims[x] for x in "qkv"]
        text = f"tilewright.attention ins({q.name}, {k.name}, {v.name} : " \
               f"{', '.join(f.value_type(x) for x in (q, k, v))}) "
        if mask:
            m = computed.write(f) if computed else f.arg(mask[0], mask[1])
            maps.append(mask[1])
            text += f"mask({m.name} : {f.value_type(m)}) "
        if keep:
            kept = f.arg(I1, keep)
            maps.append(keep)
            text += f"keep({kept.name} : {f.value_type(kept)}) "
        outs = [e] + ([f.empty(self.wide, self.dims["l"])] if lse else [])
        maps += [self.dims["o"]] + ([self.dims["l"]] if lse else [])
        write_results(f, text, [f.map(iteration, x) for x in maps], outs, self.dims["o"], scale, causal, window, softcap, pinned)
        for sizes in ({}, *more):
            full = {**dims, **sizes}
            fills = [data, data, values]
            if computed:
                fills += [fill for _, _, fill in computed.inputs]
            elif mask:
                fills.append(choice(0, 1) if mask[0] is I1 else uniform(-2, 2))
            fills += [choice(0, 1)] * bool(keep)
            f.case("x".join(map(str, full.values())), sizes, fills, self.check(full), self.reference)

    def check(self, sizes):
        if self.exact:
            return EXACT
        f32 = 2.0 ** -23 if self.wide is F32 else 2.0 ** -52
        score = sizes["D"] * 2 * 2 * (self.scale or sizes["D"] ** -0.5)  # the most that a score's terms come to
        factor = 2 * self.element.eps * (self.element.bits < 32) + f32 * (score * sizes["D"] + sizes["j"] + 32)
        return relative(factor, 4 * self.element.eps * 2.0 ** -14)

    def reference(self, q, k, v, *masks):
        wide = self.heads
        *masks, keep = masks if self.keep else (*masks, np.True_)
        mask = masks[0] if masks else None
        if self.computed:
            extents = {d: size for x, n in ((q, "q"), (k, "k")) for d, size in zip(self.dims[n], x.shape)}
            mask = self.computed.values(extents, masks)

        def canonical(x, dims, inner):
            """As (heads..., inner), with dims of 1 for heads that it lacks."""
            present = [d for d in wide if d in dims] + [d for d in inner if d in dims]
            x = np.transpose(x, [dims.index(d) for d in present])
            return x.reshape([x.shape[present.index(d)] if d in present else 1 for d in wide + inner])

        args = [canonical(x, self.dims[n], inner) for x, n, inner in ((q, "q", "iD"), (k, "k", "jD"), (v, "v", "jE"))]
        if mask is not None:
            mask = canonical(mask, self.mask[1], "ij")
            mask = mask != 0 if self.mask[0] is I1 else mask
        if self.keep:
            keep = canonical(keep, self.keep, "ij") != 0
        scale = self.scale or q.shape[-1] ** -0.5
        out, lse = numpy_attention(*args, mask, scale, self.causal, self.window, self.softcap, keep)
        back = [(wide + "iE").index(d) for d in self.dims["o"]]
        results = [np.transpose(out, back)]
        results = [(self.out or self.element).round(results[0])]
        return results + [self.wide.round(lse)] if self.lse else results


def sizes(h, i, j, depth, columns=None):
    return {"h": h, "i": i, "j": j, "D": depth, "E": columns or depth}


def by_warpgroups(block, groups, element, more=""):
    """The config for them."""
    return (f'{{"cuda:sm_90a" = #tilewright.lowering_config<strategy = attention, block = {block}, warps = [{4 * groups}, 1], '
            f'stages = 2, promote = [0, 1], mma = "wgmma.m64n{block[1]}k16.{element.name}.f32"{more}>}}')


def persistent():
    """Blocks that compute several tiles: 27 of them, or more, for the simulator's 8 multiprocessors, in rounds of which the last one is
    even or odd and not whole; heads side by side, some of them and all; tiles of one step, of none."""
    pin = functools.partial(by_warpgroups, more=", persistent = true")
    case = functools.partial(Case, F16, targets=("cuda:sm_90a", "cpu-reference"))
    yield case("persistent", sizes(9, 150, 170, 32), pinned=pin([64, 32], 1, F16))
    yield case("persistent_one_step", sizes(19, 100, 30, 64), lse=True, pinned=pin([64, 32], 1, F16))
    for raster in (1, 4, 9):
        yield case(f"persistent_top_left_{raster}", sizes(9, 150, 170, 32), causal="top_left",
                   pinned=pin([64, 32], 1, F16, more=f", raster = {raster}, persistent = true"))
    for number, more in enumerate(("", ", registers = [40, 232]", ", registers = [40, 232], tma_store = true")):
        yield case(f"persistent_bottom_right_{number}", {"g": 3, **sizes(4, 270, 200, 64)}, group="g", causal="bottom_right", lse=number != 1,
                   pinned=pin([128, 64], 2, F16, more=f"{more}, raster = 12, persistent = true"))
    yield case("persistent_window", sizes(9, 150, 170, 32), window=(40, 4), pinned=pin([64, 32], 1, F16))
    yield case("persistent_mask", sizes(9, 150, 170, 32), mask=(F16, "hij"), pinned=pin([64, 32], 1, F16))
    yield case("persistent_tokens_first", sizes(9, 150, 170, 128), tokens_first=True, pinned=pin([64, 32], 1, F16))
    # Of unknown sizes without being asked.
    yield case("persistent_any", sizes(9, 150, 170, 64), True, lse=True,
               more=({"h": 1, "i": 1, "j": 1}, {"h": 3, "i": 1700, "j": 70}, {"j": 0}, {"i": 0}, {"h": 0}))


def cases():
    lengths = ({"i": 1, "j": 1}, {"i": 70, "j": 130, "h": 1}, {"i": 3, "j": 0}, {"i": 0, "j": 5}, {"h": 0})
    for element in (F16, BF16, F32):
        yield Case(element, "plain", sizes(2, 64, 64, 32))
        yield Case(element, "any_length", sizes(2, 37, 45, 32), True, more=lengths)
        yield Case(element, "top_left", sizes(1, 70, 50, 32), causal="top_left")
        yield Case(element, "bottom_right", sizes(1, 33, 75, 32), causal="bottom_right", lse=True)
    yield Case(F64, "plain", sizes(1, 9, 13, 8), lse=True)
    for element in (F16, F32):
        yield Case(element, "bottom_right_any", sizes(1, 33, 75, 16), True, causal="bottom_right",
                   more=({"i": 75, "j": 33}, {"i": 1, "j": 65}, {"i": 70, "j": 0}))
        yield Case(element, "window", sizes(1, 70, 75, 16), window=(9, 4))
        yield Case(element, "window_causal", sizes(1, 80, 150, 16), window=(20, 0), causal="bottom_right")
        # Steps between the two edges that mask nothing, or between the left one and the last key.
        yield Case(element, "window_wide", sizes(1, 70, 400, 16), window=(200, 30))
        yield Case(element, "window_wide_left", sizes(1, 70, 400, 16), window=(20, -1), lse=True)
        yield Case(element, "window_none", sizes(1, 40, 8, 16), window=(2, 1), lse=True)  # rows without keys
        yield Case(element, "softcap", sizes(2, 20, 40, 32), softcap=1.5)
        yield Case(element, "mask_added", sizes(2, 20, 40, 32), mask=(element, "ij"))
        yield Case(element, "mask_added_heads", sizes(2, 20, 40, 32), True, mask=(F32, "hij"), lse=True)
        yield Case(element, "mask_keys", sizes(2, 20, 40, 32), mask=(element, "j"), causal="top_left")
        yield Case(element, "mask_boolean", sizes(2, 20, 40, 32), mask=(I1, "hij"), lse=True)
        yield Case(element, "mask_boolean_keys", sizes(2, 20, 40, 32), True, mask=(I1, "hj"), causal="bottom_right")
        yield Case(element, "keep", sizes(2, 20, 40, 32), mask=(element, "ij"), keep="hij")
        yield Case(element, "keep_keys_any", sizes(2, 20, 40, 32), True, mask=(F32, "hij"), keep="hj", causal="bottom_right", lse=True,
                   more=({"i": 1, "j": 1}, {"i": 70, "j": 130, "h": 1}, {"i": 3, "j": 0}, {"i": 0, "j": 5}))
        yield Case(element, "keep_softcap", sizes(2, 20, 40, 32), mask=(F32, "j"), keep="ij", softcap=1.5)
        yield Case(element, "scale", sizes(1, 20, 40, 32), scale=0.3)
        yield Case(element, "groups", {"g": 3, **sizes(2, 20, 40, 32)}, group="g", causal="bottom_right")
        yield Case(element, "tokens_first", sizes(3, 20, 40, 32), tokens_first=True)
        yield Case(element, "lse", sizes(2, 20, 40, 32), lse=True)
        yield Case(element, "decode", {"g": 4, **sizes(1, 1, 100, 32)}, group="g")
        # Few queries, many keys: parts of keys, and heads that share keys as rows.
        yield Case(element, "decode_parts", {"g": 4, **sizes(2, 1, 1100, 32)}, group="g", causal="bottom_right")
        yield Case(element, "decode_any", {"g": 4, **sizes(2, 1, 1100, 32)}, True, group="g", lse=True,
                   more=({"j": 2300}, {"j": 70}, {"j": 0}), known="hgi")
        # Few heads of keys, or many, as the host finds them.
        more, targets = ({"h": 1, "j": 1029}, {"h": 3, "j": 70}, {"h": 0}), ()
        if element is F16:  # a minute of lavapipe
            more, targets = (*more, {"h": 30}, {"h": 200, "j": 1024}), ("cuda", "cpu", "cpu-reference")
        yield Case(element, "decode_heads_any", {"g": 4, **sizes(2, 1, 1100, 32)}, True, group="g", lse=True, known="gi",
                   causal="bottom_right", more=more, targets=targets)
        # Queries of heads that share keys are rows of one block.
        rows = functools.partial(Case, element, group="g")
        yield rows("rows_bottom_right", {"g": 4, **sizes(2, 3, 100, 32)}, causal="bottom_right", lse=True)
        yield rows("rows_top_left", {"g": 4, **sizes(2, 4, 100, 32)}, causal="top_left")
        yield rows("rows_window", {"g": 3, **sizes(2, 5, 150, 16)}, window=(40, 0), causal="bottom_right", lse=True)
        yield rows("rows_window_one", {"g": 7, **sizes(2, 1, 150, 16)}, window=(40, 0), causal="bottom_right")
        yield rows("rows_mask_heads", {"g": 4, **sizes(2, 4, 70, 32)}, mask=(element, "hgij"))
        yield rows("rows_mask_queries", {"g": 4, **sizes(2, 4, 70, 32)}, mask=(F32, "ij"), lse=True)
        yield rows("rows_keep", {"g": 4, **sizes(2, 4, 70, 32)}, mask=(F32, "ij"), keep="gij")
        yield rows("rows_keep_parts", {"g": 4, **sizes(2, 1, 1100, 32)}, mask=(element, "j"), keep="hj", causal="bottom_right", lse=True)
        yield rows("rows_mask_boolean", {"g": 4, **sizes(2, 6, 70, 32)}, mask=(I1, "gij"))
        yield rows("rows_softcap", {"g": 5, **sizes(1, 2, 70, 32)}, softcap=1.5)
        yield rows("rows_keys_any", {"g": 4, **sizes(2, 8, 300, 32)}, True, known="hgi", causal="bottom_right", lse=True,
                   more=({"j": 1500}, {"j": 5}, {"j": 0}))
        yield rows("rows_parts", {"g": 4, **sizes(2, 4, 1100, 32)}, causal="bottom_right", lse=True)
        # Sixteen keys a query, of equal weight.
        yield rows("rows_exact", {"g": 4, **sizes(3, 4, 90, 32)}, window=(15, 0), causal="bottom_right",
                   data=integers(0, 0), values=integers(-8, 8), exact=True)
        # Scores of hundreds: all of the weight is on one key, or two.
        yield Case(element, "extreme", sizes(1, 20, 70, 32), scale=8.0, data=integers(-2, 2))
    # lavapipe compiles wide attention for half a minute: little of it goes there.
    elsewhere = functools.partial(Case, targets=("cuda", "cpu", "cpu-reference"))
    for depth, columns in ((16, 16), (64, 64), (96, 40), (7, 5)):
        yield Case(F16, f"depth_{depth}_{columns}", sizes(1, 20, 40, depth, columns), causal="top_left")
    for depth, columns in ((80, 80), (128, 128), (192, 128), (256, 256)):
        yield elsewhere(F16, f"depth_{depth}_{columns}", sizes(1, 20, 40, depth, columns), causal="top_left")
    # A depth that a shared memory of 32 KiB has no room for, and slices by a pinned config.
    yield Case(F32, "slices_250", sizes(2, 8, 70, 250, 8), causal="bottom_right")
    yield Case(F32, "slices_pinned", sizes(1, 70, 140, 200, 256), causal="bottom_right", targets=("cuda", "cpu-reference"),
                    pinned="#tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [8, 1], promote = [0, 1]>")
    yield Case(F16, "many_masked_depth_256", sizes(1, 140, 256, 256), mask=(F32, "ij"))
    yield Case(F16, "many_masked_depth_256_causal", sizes(1, 140, 192, 256), mask=(F32, "hij"), causal="bottom_right")
    yield Case(F16, "parts_masked", sizes(1, 20, 1100, 32), mask=(F16, "ij"), causal="bottom_right", lse=True)
    yield Case(F16, "parts_tokens_first", {"g": 3, **sizes(2, 1, 1030, 64)}, group="g", tokens_first=True)
    yield Case(F16, "parts_top_left", sizes(1, 20, 1030, 64), causal="top_left")  # most parts have no keys
    for name, g, i in (("wide", 4, 16), ("blocks", 40, 4), ("large", 8, 16)):
        yield elsewhere(F16, f"rows_{name}", {"g": g, **sizes(1, i, 200, 64)}, group="g", causal="bottom_right", lse=True)
    yield Case(F16, "rows_tokens_first", {"g": 4, **sizes(2, 4, 100, 64)}, group="g", tokens_first=True, causal="bottom_right")
    yield Case(F16, "rows_tokens_parts", {"g": 4, **sizes(2, 2, 1100, 64)}, group="g", tokens_first=True, lse=True)
    # Not known to the compiler: asked for.
    yield Case(F16, "rows_pinned", {"g": 4, **sizes(2, 3, 100, 64)}, True, group="g", causal="bottom_right",
               more=({"i": 9}, {"i": 1}, {"i": 70}), known="g", targets=("cuda", "cpu-reference"),
               pinned="#tilewright.lowering_config<strategy = attention, block = [4, 4, 32], warps = [1, 1, 1], stages = 2, "
                      "promote = [0, 1], mma = \"mma.m16n8k16.f16.f32\">")
    yield Case(F16, "f32_out", sizes(1, 20, 40, 32), out=F32)
    # Enough queries for warpgroups, where a target has them.
    for element in (F16, BF16):
        yield Case(element, "many", sizes(2, 128, 256, 64))
        yield elsewhere(element, "many_any_length", sizes(2, 150, 170, 64), True, lse=True,
                   more=({"i": 1, "j": 1}, {"i": 300, "j": 130, "h": 1}, {"i": 64, "j": 0}, {"i": 0, "j": 5}))
    yield elsewhere(F16, "many_top_left", sizes(1, 200, 150, 128), causal="top_left")
    yield elsewhere(F16, "many_bottom_right", sizes(1, 150, 300, 64), causal="bottom_right", lse=True)
    yield Case(F16, "many_bottom_right_any", sizes(1, 150, 300, 32), True, causal="bottom_right", lse=True,
               more=({"i": 300, "j": 100}, {"j": 0}))
    yield elsewhere(F16, "many_window", sizes(1, 200, 256, 16), window=(40, 4))
    yield elsewhere(F16, "many_window_wide", sizes(1, 300, 640, 64), window=(250, 0), causal="bottom_right", lse=True)
    yield elsewhere(F16, "many_window_left", sizes(1, 300, 640, 64), window=(10, -1))
    yield elsewhere(F16, "many_window_any", sizes(1, 300, 640, 64), True, window=(270, 20), causal="bottom_right",
                    more=({"i": 300, "j": 300}, {"i": 130, "j": 1000}, {"i": 700, "j": 64}, {"j": 0}))
    yield elsewhere(F16, "many_window_none", sizes(1, 300, 64, 64), window=(2, 1), lse=True)  # blocks without keys
    yield elsewhere(F16, "many_softcap", sizes(1, 64, 140, 64), softcap=1.5)
    yield elsewhere(F16, "many_softcap_mask", sizes(1, 64, 140, 64), softcap=1.5, mask=(F16, "ij"))
    yield Case(F16, "many_mask", sizes(2, 70, 140, 64), mask=(F16, "ij"))
    yield Case(F16, "many_mask_boolean", sizes(2, 70, 140, 64), mask=(I1, "ij"))
    yield Case(F16, "many_keep", sizes(2, 70, 140, 64), mask=(F16, "ij"), keep="hij")
    yield elsewhere(F16, "many_keep_any", sizes(2, 150, 170, 64), True, mask=(F32, "hij"), keep="ij", causal="top_left",
                    more=({"i": 300, "j": 136, "h": 1}, {"i": 64, "j": 0}))
    for depth in (128, 256):
        yield elsewhere(F16, f"many_keep_depth_{depth}", sizes(1, 140, 280, depth), mask=(F16, "ij"), keep="ij")
    # Of any size, with keys or queries as neighbours; one step of all keys.
    yield elsewhere(F16, "many_mask_any", sizes(2, 150, 170, 64), True, mask=(F16, "hij"),
                    more=({"i": 1, "j": 1}, {"i": 300, "j": 136, "h": 1}, {"i": 64, "j": 0}, {"i": 0, "j": 5}))
    yield elsewhere(F16, "many_mask_turned", sizes(1, 150, 170, 64), True, mask=(F16, "ji"), more=({"i": 136, "j": 72},))
    yield elsewhere(F16, "many_mask_one_step", sizes(2, 140, 77, 128), mask=(I1, "hij"))
    for depth, mask in ((128, F16), (256, F16), (256, I1)):
        yield elsewhere(F16, f"many_mask_depth_{depth}_{mask.name}", sizes(1, 140, 280, depth), mask=(mask, "ij"))
    yield elsewhere(F16, "many_groups", {"g": 3, **sizes(2, 80, 140, 64)}, group="g", causal="bottom_right")
    yield elsewhere(F16, "many_tokens_first", sizes(3, 70, 140, 64), tokens_first=True)
    yield elsewhere(F16, "many_f32_out", sizes(1, 128, 128, 64), out=F32)
    yield elsewhere(F16, "many_extreme", sizes(1, 70, 200, 64), scale=8.0, data=integers(-2, 2))
    yield elsewhere(F16, "many_parts", sizes(1, 64, 1280, 64), lse=True)
    yield elsewhere(F16, "many_parts_top_left", sizes(1, 64, 1030, 64), causal="top_left")
    yield Case(F16, "many_depth_96_40", sizes(1, 70, 140, 96, 40), causal="top_left")
    for depth, columns in ((16, 16), (80, 80), (192, 128), (256, 256)):
        yield elsewhere(F16, f"many_depth_{depth}_{columns}", sizes(1, 70, 140, depth, columns), causal="top_left")
    yield from persistent()
    # By a CPU's tile registers: sums of more than a step.
    tiled = functools.partial(Case, BF16, targets=(TILES, "cpu-reference"))
    yield tiled("tiles_top_left", sizes(1, 200, 150, 128), causal="top_left")
    yield tiled("tiles_bottom_right_any", sizes(1, 150, 300, 64), True, causal="bottom_right", lse=True,
                more=({"i": 300, "j": 100}, {"i": 1, "j": 65}, {"j": 0}))
    yield tiled("tiles_window_wide", sizes(1, 300, 640, 64), window=(250, 0), causal="bottom_right", lse=True)
    yield tiled("tiles_window_none", sizes(1, 300, 64, 64), window=(2, 1), lse=True)
    yield tiled("tiles_softcap", sizes(1, 64, 140, 64), softcap=1.5)
    yield tiled("tiles_mask", sizes(2, 70, 140, 64), mask=(BF16, "ij"))
    yield tiled("tiles_mask_boolean", sizes(2, 70, 140, 64), mask=(I1, "ij"))
    yield tiled("tiles_keep", sizes(2, 70, 140, 64), mask=(BF16, "ij"), keep="hij")
    yield tiled("tiles_groups", {"g": 3, **sizes(2, 80, 140, 64)}, group="g", causal="bottom_right")
    yield tiled("tiles_tokens_first", sizes(3, 70, 140, 64), tokens_first=True)
    yield tiled("tiles_f32_out", sizes(1, 128, 128, 64), out=F32)
    yield tiled("tiles_extreme", sizes(1, 70, 200, 64), scale=8.0, data=integers(-2, 2))
    yield tiled("tiles_parts", sizes(1, 64, 1280, 64), lse=True)
    for depth, columns in ((40, 40), (96, 40), (35, 7), (192, 128), (256, 256)):
        yield tiled(f"tiles_depth_{depth}_{columns}", sizes(1, 70, 140, depth, columns), causal="top_left")


def functions():
    for case in cases():
        yield case.f
