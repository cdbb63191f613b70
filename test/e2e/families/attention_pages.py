# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright.attention with a length for each sequence, and keys and values in pages of a pool.

Rows of the pool that no sequence has, and those behind a length, hold infinities, which a weight of zero does not hide.
Bounds are those of families/attention.py.
"""

import functools

import numpy as np

from data import BF16, F16, F32, F64, I1, I32, I64, choice, integers, make, uniform
from families.attention import numpy_attention, write_results
from functions import EXACT, Function, relative


def spread(fill):
    """The values of a table: pages of the pool in an order without a rule."""
    return {"fill": "values", "values": [int(x) for x in fill]}


class Pages:
    """Over sequences b, heads h of keys, g of queries for each; `page` keys a page, p pages, at most m of a sequence. Without
    `page`, keys are j for each sequence. `computed`: what computes the mask, families/attention_masks.py. `layout`: the order of page, slot, head in a pool. `mask`: its type and dims. `transposed`:
    keys lie side by side. `pinned`: a lowering config, as on the op."""

    def __init__(self, element, label, dims, lengths, page=16, dynamic=False, layout="psh", tokens_first=False, causal=None,
                 window=None, lse=False, index=I32, data=uniform(-2, 2), values=uniform(0.25, 2), exact=False, known="hgi",
                 wild=False, targets=(), softcap=0, more=(), mask=None, transposed=False, pinned="", computed=None,
                 family="attention_pages"):
        self.__dict__.update(locals())
        dims = {**dims, **({"S": page} if page else {}), **({"j": dims["m"] * page} if page and mask else {})}
        f = self.f = Function(family, element.name, label, dims, dynamic, known=known, targets=targets)
        query = "bihgD" if tokens_first else "bhgiD"
        lse_dims = "bihg" if tokens_first else "bhgi"
        self.query, self.lse_dims = query, lse_dims
        pool = layout.replace("s", "S") if page else "bjh"
        rows = "bhDj" if transposed else pool + "D"
        if not page:
            assert layout == "psh"
        q, k, v = f.arg(element, query), f.arg(element, rows), f.arg(element, rows)
        m = None if not mask else computed.write(f) if computed else f.arg(*mask)
        t = f.arg(index, "bm") if page else None
        n = f.arg(index, "b") if lengths is not None else None
        loops = "b, h, g, i, j, d, e"
        key = {"p": f"j floordiv {page}", "S": f"j mod {page}"}

        def affine(letters):
            return f"affine_map<({loops}) -> ({', '.join(key.get(x, x) if page else x for x in letters)})>"
        maps = [query.replace("D", "d"), rows.replace("D", "d"), rows.replace("D", "e")]
        maps += ([mask[1]] if mask else []) + (["bp"] if page else []) + (["b"] if n else []) + [query.replace("D", "e")] + ([lse_dims] if lse else [])
        outs = [f.empty(element, query)] + ([f.empty(F64 if element is F64 else F32, lse_dims)] if lse else [])
        text = f"tilewright.attention ins({q.name}, {k.name}, {v.name} : {', '.join(f.value_type(x) for x in (q, k, v))}) "
        text += f"mask({m.name} : {f.value_type(m)}) " if m else ""
        text += f"table({t.name} : {f.value_type(t)}) " if t else ""
        text += f"lengths({n.name} : {f.value_type(n)}) " if n else ""
        write_results(f, text, [affine(x) for x in maps], outs, query, None, causal, window, softcap, pinned)
        for sizes in ({}, *more):
            full = {**dims, **{x: y for x, y in sizes.items() if x != "lengths"}}
            self.add(full, {x: y for x, y in sizes.items() if x != "lengths"}, sizes.get("lengths", lengths))

    def add(self, full, sizes, lengths):
        fills = [self.data, self.data, self.values]
        if self.page:
            table = np.random.default_rng(len(self.f.cases)).permutation(max(full["p"], full["b"] * full["m"]))
            table = table[:full["b"] * full["m"]] % max(1, full["p"])
            if self.wild:  # entries behind the length are not looked at, others moved inside
                table = np.where(np.arange(len(table)) % full["m"] >= self.wild, 1 << 30, table)
            fills.append(spread(table))
            if lengths is not None and not self.wild and full["p"]:
                fills[1:3] = [self.unused(full, table, lengths, fill, number) for number, fill in enumerate(fills[1:3])]
        elif lengths is not None:
            fills[1:3] = [self.behind(full, lengths, fill, number) for number, fill in enumerate(fills[1:3])]
        if self.computed:
            fills[3:3] = [fill for _, _, fill in self.computed.inputs]
        elif self.mask:
            fills.insert(3, choice(0, 1) if self.mask[0] is I1 else uniform(-2, 2))
        if lengths is not None:
            fills.append(spread(lengths))
        label = "x".join(map(str, full.values())) + ("" if lengths is None else "_" + "_".join(map(str, lengths))).replace("-", "m")
        self.f.case(label, sizes, fills, EXACT if self.exact else self.check(full), self.reference)

    def unused(self, full, table, lengths, fill, number):
        """`fill`, with infinities in rows of the pool that no sequence has."""
        dims = [full[x] for x in self.layout.replace("s", "S") + "D"]
        pool = make(self.element, dims, {**fill, "seed": 77 + number}).astype(np.float64)
        rows = np.moveaxis(pool, self.layout.index("s"), 1) if self.layout[1] != "s" else pool
        used = np.zeros(rows.shape[:2], bool)
        for pages, length in zip(table.reshape(full["b"], full["m"]), lengths):
            for key in range(max(0, min(length, full["m"] * self.page))):
                used[pages[key // self.page], key % self.page] = True
        return self.poison(pool, rows, ~used)

    def behind(self, full, lengths, fill, number):
        """`fill`, with infinities in rows behind the lengths."""
        keys = make(self.element, [full[x] for x in self.f.args[1].dims], {**fill, "seed": 77 + number}).astype(np.float64)
        return self.poison(keys, np.moveaxis(keys, -1, 1) if self.transposed else keys, np.arange(full["j"]) >= np.array(lengths)[:, None])

    def poison(self, array, rows, unused):
        rows[unused] = 1e39 if self.element.bits == 32 or self.element is BF16 else 1e5
        return {"fill": "values", "values": [float(x) for x in array.ravel()]}

    def check(self, full):
        f32, keys = 2.0 ** -23 if self.element is not F64 else 2.0 ** -52, full["m"] * self.page if self.page else full["j"]
        score = full["D"] * 4 * full["D"] ** -0.5
        factor = 2 * self.element.eps * (self.element.bits < 32) + f32 * (score * full["D"] + keys + 32)
        return relative(factor, 4 * self.element.eps * 2.0 ** -14)

    def reference(self, q, k, v, *rest):
        rest = list(rest)
        k, v = (np.moveaxis(x, -1, 1) if self.transposed else x for x in (k, v))
        masks = [None] * q.shape[0]
        if self.mask:
            if self.computed:
                extents = {**dict(zip(self.query, q.shape)), "j": k.shape[1]}
                inputs = len(self.computed.inputs)
                seen, rest = self.computed.values(extents, rest[:inputs]), rest[inputs:]
            else:
                seen = rest.pop(0)
            seen = seen != 0 if self.mask[0] is I1 else seen
            shape = [seen.shape[self.mask[1].index(x)] if x in self.mask[1] else 1 for x in "bij"]
            masks = np.broadcast_to(seen.reshape(shape), (q.shape[0], *shape[1:]))
        table = rest.pop(0) if self.page else None
        lengths = rest.pop(0) if rest else None
        q = np.moveaxis(q, 1, 3) if self.tokens_first else q  # b h g i d
        out, lse = [], []
        for b in range(q.shape[0]):
            def rows(x):
                if table is None:
                    return x[b]
                x = np.moveaxis(x, self.layout.index("s"), 1) if self.layout[1] != "s" else x
                if x.shape[0] == 0:
                    return np.zeros((0, *x.shape[2:]))
                return x[np.clip(table[b].astype(np.int64), 0, x.shape[0] - 1)].reshape(-1, *x.shape[2:])
            keys, values = rows(k), rows(v)  # j h d
            count = keys.shape[0] if lengths is None else int(np.clip(lengths[b], 0, keys.shape[0]))
            keys, values = (np.moveaxis(x[:count], 1, 0)[:, None] for x in (keys, values))
            causal, window, mask = self.causal, self.window, None if masks[b] is None else masks[b][:, :count]
            if causal == "bottom_right" and lengths is not None and lengths[b] > count:  # its last key is not there
                own = np.arange(q.shape[-2])[:, None] + int(lengths[b]) - q.shape[-2]
                causal, window, mask = None, None, np.arange(count) <= own
                if self.window and self.window[0] >= 0:
                    mask &= np.arange(count) >= own - self.window[0]
            one, sums = numpy_attention(q[b], keys, values, mask, q.shape[-1] ** -0.5, causal, window, self.softcap)
            out.append(one), lse.append(sums)
        out = np.array(out).reshape(q.shape)
        lse = np.array(lse).reshape(q.shape[:-1])
        if self.tokens_first:
            out, lse = np.moveaxis(out, 3, 1), np.moveaxis(lse, 3, 1)
        return [self.element.round(out)] + ([(F64 if self.element is F64 else F32).round(lse)] if self.lse else [])


def sizes(b, h, g, i, depth, p, m):
    return {"b": b, "h": h, "g": g, "i": i, "D": depth, "p": p, "m": m}


def cases():
    # lavapipe takes many seconds for each of these kernels: it has f32, and what differs most.
    elsewhere = functools.partial(Pages, targets=("cuda", "cpu", "cpu-reference"))
    for element in (F16, F32):
        some = elsewhere if element is F16 else Pages
        # One query of each of three sequences, one of which is empty.
        yield some(element, "decode", sizes(3, 2, 4, 1, 32, 20, 6), [70, 0, 96], causal="bottom_right")
        yield some(element, "decode_dynamic", sizes(3, 2, 4, 1, 32, 20, 6), [70, 1, 33], dynamic=True, causal="bottom_right",
                    lse=True, more=({"b": 1, "lengths": [0]}, {"b": 2, "m": 3, "p": 9, "lengths": [-5, 1000]},
                                    {"b": 2, "m": 0, "p": 4, "lengths": [3, 4]}, {"b": 1, "p": 0, "m": 2, "lengths": [9]}))
        yield elsewhere(element, "decode_parts_any", sizes(3, 2, 4, 1, 32, 70, 70), [1100, 1, 0], dynamic=True, causal="bottom_right",
                    more=({"b": 1, "lengths": [1120]}, {"b": 40, "m": 65, "lengths": [1030] * 40}))
        yield elsewhere(element, "queries", sizes(2, 2, 4, 3, 32, 12, 5), [77, 16], causal="bottom_right", lse=True)
        yield some(element, "heads_first", sizes(2, 2, 2, 2, 32, 12, 5), [40, 80], layout="phs", index=I64)
        yield elsewhere(element, "page_64", sizes(2, 2, 2, 1, 32, 8, 3), [100, 192], page=64)
        # No kernel has steps as short as these pages.
        yield elsewhere(element, "page_4", sizes(2, 1, 2, 2, 16, 16, 5), [7, 20], page=4, causal="bottom_right")
        yield elsewhere(element, "no_lengths", sizes(2, 2, 2, 1, 32, 12, 4), None)
        yield some(element, "lengths", {"b": 3, "h": 2, "g": 4, "i": 2, "j": 90, "D": 32}, [70, 0, 90], page=0,
                    causal="bottom_right", lse=True)
        yield elsewhere(element, "lengths_far", {"b": 4, "h": 2, "g": 2, "i": 6, "j": 40, "D": 32}, [43, 40, 2 ** 31 - 1, -9], page=0,
                        causal="bottom_right", lse=True)
        yield elsewhere(element, "lengths_dynamic", {"b": 2, "h": 2, "g": 1, "i": 5, "j": 70, "D": 32}, [70, 20], page=0, dynamic=True,
                    causal="top_left", more=({"j": 10, "lengths": [100, -1]},))
        # Of equal weight: the scores are zeros, and lengths are powers of two.
        yield elsewhere(element, "exact", sizes(3, 2, 4, 2, 32, 20, 6), [64, 1, 32], data=integers(0, 0), values=integers(-8, 8),
                    exact=True, lse=False)
        # How many keys there are is read off the mask, which counts them one by one, as the table does not.
        yield some(element, "mask_dynamic", sizes(2, 1, 2, 8, 16, 12, 6), [70, 33], dynamic=True, mask=(I1, "bij"),
                   more=({"m": 2, "j": 32, "lengths": [32, 7]}, {"b": 1, "m": 3, "j": 48, "lengths": [300]}))
        yield elsewhere(element, "wild", sizes(2, 1, 2, 1, 32, 6, 6), [32, 20], wild=2)
    yield from many_queries()
    yield elsewhere(F64, "lengths_far", {"b": 3, "h": 1, "g": 2, "i": 6, "j": 40, "D": 16}, [43, 1000, 39], page=0, causal="bottom_right")
    yield elsewhere(F64, "decode", sizes(2, 1, 2, 1, 16, 8, 3), [40, 9])
    yield elsewhere(BF16, "tokens_first", sizes(3, 2, 4, 4, 64, 20, 6), [70, 0, 96], tokens_first=True, causal="bottom_right")
    yield elsewhere(F16, "window", sizes(2, 2, 4, 2, 32, 20, 8), [120, 50], causal="bottom_right", window=(20, 0))
    yield elsewhere(F16, "softcap", sizes(2, 2, 1, 2, 32, 20, 8), [120, 50], softcap=1.5)
    yield elsewhere(F16, "prefill", sizes(2, 1, 1, 70, 64, 16, 7), [100, 70], page=32, causal="bottom_right")
    yield elsewhere(F16, "parts", sizes(2, 2, 4, 1, 32, 160, 80), [1280, 300], causal="bottom_right", lse=True)
    yield elsewhere(F16, "parts_dynamic", sizes(2, 2, 4, 1, 32, 160, 80), [1280, 300], dynamic=True, known="bhgi",
                causal="bottom_right", more=({"m": 3, "lengths": [48, 2]},))


def many_queries():
    """Lengths where warpgroups multiply, 128 or 64 keys a step: none, one, a block, less and more than one, all."""
    def some(element, label, dims, lengths, **more):
        return Pages(element, label, dims, lengths, targets=("cuda", "cpu", "cpu-reference"),
                     **{"page": 16 if "p" in dims else 0, **more})

    def dims(b, h, g, i, j, depth):
        return {"b": b, "h": h, "g": g, "i": i, "j": j, "D": depth}
    for element in (F16, BF16):
        yield some(element, "many", dims(6, 1, 1, 70, 300, 64), [0, 1, 128, 127, 129, 300], lse=True)
        yield some(element, "many_causal", dims(6, 1, 2, 150, 300, 64), [0, 1, 128, 100, 200, 300], causal="bottom_right", lse=True)
    yield some(F16, "many_top_left", dims(4, 2, 2, 150, 200, 32), [0, 70, 128, 200], causal="top_left")
    yield some(F16, "many_window", dims(5, 1, 2, 200, 700, 64), [0, 1, 384, 500, 700], causal="bottom_right", window=(150, 0))
    yield some(F16, "many_windows", dims(4, 1, 1, 130, 400, 64), [0, 129, 256, 400], window=(40, 60), lse=True)
    yield some(F16, "many_wide", dims(4, 1, 1, 64, 260, 256), [0, 33, 64, 260], index=I64)
    yield some(F16, "many_grouped", dims(3, 2, 4, 64, 256, 128), [256, 3, 140], causal="bottom_right", lse=True)
    yield some(F16, "many_far", dims(3, 1, 1, 64, 140, 64), [150, 2 ** 31 - 1, -9], causal="bottom_right", lse=True)
    yield some(F16, "many_mask", dims(4, 1, 2, 70, 300, 64), [0, 5, 130, 300], mask=(I1, "bij"), lse=True)
    yield some(F16, "many_bias", dims(3, 2, 1, 130, 280, 64), [1, 128, 200], mask=(F16, "ij"), causal="bottom_right")
    yield some(F16, "many_mask_wide", dims(3, 1, 2, 130, 280, 128), [5, 128, 280], mask=(F16, "ij"))
    yield some(F16, "many_keys_mask", dims(3, 2, 1, 130, 280, 64), [40, 128, 200], mask=(I1, "bj"), window=(90, 30))
    yield some(F16, "many_columns", dims(4, 2, 1, 64, 312, 64), [0, 67, 128, 312], causal="bottom_right", transposed=True)
    more = ({"i": 33, "j": 128, "lengths": [128, 127, 1, 0]}, {"i": 1, "j": 40, "b": 1, "lengths": [17]},
            {"i": 200, "j": 20, "b": 1, "lengths": [30]}, {"i": 40, "j": 0, "b": 1, "lengths": [3]}, {"i": 0, "b": 1, "lengths": [3]})
    for label, causal, window in (("plain", None, None), ("causal", "bottom_right", None), ("window", "bottom_right", (70, 0))):
        yield some(F16, f"many_open_{label}", dims(4, 1, 2, 90, 300, 64), [0, 1, 128, 290], dynamic=True, known="hg", causal=causal,
                   window=window, lse=True, more=more)
    yield some(F16, "many_open_keys", dims(4, 1, 2, 90, 300, 64), [0, 1, 128, 290], dynamic=True, known="hgi", causal="top_left",
               more=({"j": 64, "lengths": [0, 64, 63, 3]},))
    # Pages of fewer keys than a step, of as many and of more; the last page of a table is half a step.
    for page, p, m in ((16, 60, 19), (64, 16, 5), (128, 9, 3), (256, 6, 2)):
        yield some(F16, f"many_pages_{page}", sizes(5, 1, 2, 70, 64, p, m), [0, 1, 128, m * page, m * page - 37], page=page, causal="bottom_right",
                   lse=True)
    yield some(BF16, "many_pages_8", sizes(3, 2, 1, 70, 128, 80, 20), [9, 131, 160], page=8, layout="phs")
    yield some(F16, "many_pages_32", sizes(3, 2, 2, 130, 128, 40, 12), [33, 250, 384], page=32, causal="bottom_right", window=(100, 0), lse=True)
    yield some(F16, "many_pages_deep", sizes(3, 2, 2, 130, 128, 80, 24), [33, 250, 384], causal="bottom_right", layout="phs", lse=True)
    yield some(F16, "many_pages_wide", sizes(2, 1, 1, 64, 256, 20, 8), [100, 64], page=16)
    yield some(F16, "many_pages_whole", sizes(2, 1, 1, 64, 64, 20, 7), None, page=16)
    yield some(F16, "many_pages_24", sizes(2, 1, 1, 64, 64, 12, 5), [100, 24], page=24)
    yield some(F16, "many_pages_mask", sizes(3, 1, 1, 70, 64, 8, 3), [100, 192, 5], page=64, mask=(I1, "bij"))
    yield some(F16, "many_pages_mask_16", sizes(2, 1, 1, 70, 64, 12, 5), [70, 33], page=16, mask=(I1, "bij"))
    yield some(F16, "many_pages_open", sizes(4, 1, 2, 90, 64, 60, 19), [0, 1, 128, 290], dynamic=True, known="hg", causal="bottom_right", lse=True,
               index=I64, more=({"i": 33, "m": 8, "lengths": [128, 127, 1, 0]}, {"i": 40, "b": 1, "m": 0, "lengths": [3]},
                                {"i": 40, "b": 1, "p": 0, "m": 2, "lengths": [9]}, {"i": 200, "b": 1, "m": 3, "lengths": [60]}))
    yield some(F16, "many_pages_wild", sizes(2, 1, 2, 64, 64, 12, 6), [32, 20], wild=2)
    yield some(F16, "many_pages_exact", sizes(3, 2, 2, 64, 64, 60, 20), [64, 1, 256], data=integers(0, 0), values=integers(-8, 8), exact=True)
    # One block of queries for each of two sequences, with keys in parts.
    yield some(F16, "many_parts", dims(2, 1, 1, 64, 1200, 64), [1100, 300], causal="bottom_right", lse=True)
    yield some(F16, "many_pages_parts", sizes(2, 1, 1, 64, 64, 160, 75), [1100, 300], causal="bottom_right", lse=True)
    yield some(F16, "many_exact", dims(4, 1, 2, 64, 300, 64), [64, 1, 32, 256], data=integers(0, 0), values=integers(-8, 8), exact=True)


def functions():
    for case in cases():
        yield case.f
