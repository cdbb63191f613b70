# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ladder asks of a Hopper GPU: slices of problems, the most informative first, and rungs, configs that have one
technique more each.

A rung's gate is the share of cuBLAS's speed that products have to reach once its technique is there: 75 % with TMA, wgmma and stages, 83 % with a producer, 92 % with
two consumers, 97 % with persistence, clusters and asynchronous stores. The last rung is what the compiler takes by itself;
the goal is to pass cuBLAS in the geometric mean.
"""

import dataclasses

#: Names of the operands' types: MLIR's, the instruction's, elements of a step along the sum, and of the instruction's.
TYPES = {"bf16": ("bf16", "bf16", 64, 16), "f16": ("f16", "f16", 64, 16), "e4m3": ("f8E4M3FN", "e4m3", 128, 32)}


@dataclasses.dataclass(frozen=True)
class Problem:
    m: int
    n: int
    k: int
    type: str = "bf16"
    batch: int = 0

    @property
    def name(self):
        sizes = [self.batch] * bool(self.batch) + [self.m, self.n, self.k]
        return f"{self.type}_" + "x".join(map(str, sizes))

    @property
    def shapes(self):
        """Of both operands; of 8-bit floats the right one is transposed, as tensor cores take them."""
        left, right = (self.m, self.k), (self.n, self.k) if self.transposed else (self.k, self.n)
        return [((self.batch,) * bool(self.batch)) + x for x in (left, right)]

    @property
    def transposed(self):
        return self.type == "e4m3"

    @property
    def result(self):
        return "bf16" if self.type == "e4m3" else self.type

    @property
    def flops(self):
        return 2 * max(1, self.batch) * self.m * self.n * self.k


@dataclasses.dataclass(frozen=True)
class Rung:
    name: str
    what: str
    #: Fields of the config as text, without strategy; empty: the compiler's own.
    config: str = ""
    gate: float = 0


def _config(strategy, type_, block, warps, stages, shape, more=""):
    _, name, _, depth = TYPES[type_]
    return (f"strategy = {strategy}, block = {list(block)}, warps = {list(warps)}, stages = {stages}, promote = [0, 1], "
            f"mma = \"{shape}k{depth}.{name}.f32\"{more}")


def ladder(type_):
    """Each rung has what the one before it has, but where it says otherwise."""
    k = TYPES[type_][2]
    sums = ", two_level_sums = true" if type_ == "e4m3" else ""
    # Two levels keep two sets of sums: 192 columns, which the compiler takes, want the producer's registers.
    n = 128 if type_ == "e4m3" else 256

    def group(m, warps, stages, more=""):
        return _config("warp_specialized", type_, (m, n, k), (warps, 1, 1), stages, f"wgmma.m64n{n}", more + sums)

    both = ", registers = [40, 232]"
    every = (", raster = 8", both, ", persistent = true", ", cluster = [2, 1, 1]", ", tma_store = true")
    rungs = []
    if type_ != "e4m3":
        rungs += [Rung("mma", "mma.sync, operands by cp.async",
                       _config("matrix_unit", type_, (128, 128, 64), (2, 2, 1), 3, "mma.m16n8")),
                  Rung("tma", "mma.sync out of a ring that one warp fills by TMA",
                       _config("warp_specialized", type_, (128, 128, 64), (2, 2, 1), 4, "mma.m16n8"))]
    return rungs + [
        Rung("wgmma", f"one warpgroup multiplies 64 x {n} by wgmma out of a ring of two stages that its threads fill by cp.async",
             group(64, 4, 2, ", producer = false, tma_copy = false")),
        Rung("wgmma-tma", "one of its warps fills the ring by TMA", group(64, 4, 2, ", producer = false")),
        Rung("stages", "four stages", group(64, 4, 4, ", producer = false"), 0.75),
        Rung("producer", "a warp of a warpgroup of its own fills the ring", group(64, 4, 4), 0.83),
        Rung("consumers", f"two consumers, tiles of 128 x {n}; results pass through shared memory, which leaves "
                          "three stages", group(128, 8, 3)),
        Rung("registers", "the producer's registers go to the consumers (setmaxnreg)", group(128, 8, 3, both), 0.92),
        Rung("raster", "blocks walk down eight rows of tiles side by side", group(128, 8, 3, "".join(every[:2]))),
        Rung("persistent", "blocks compute tile after tile", group(128, 8, 3, "".join(every[:3]))),
        Rung("cluster", "two blocks share the right operand (multicast)", group(128, 8, 3, "".join(every[:4]))),
        Rung("store", "results leave by stmatrix and TMA in pieces, which makes room for a fourth stage", group(128, 8, 4, "".join(every)), 0.97),
        Rung("default", "what the compiler takes", "", 1.0)]


def shared(blocks):
    """The last technique of `ladder`, whose blocks come by whole tiles, and as many blocks that share all sums (stream-K)."""
    store = next(r for r in ladder("bf16") if r.name == "store")
    return store, Rung("shared", f"{blocks} blocks share the sums of all tiles, parts added up by a second kernel",
                       store.config + f", splits = 2, stream_k = {blocks}")


@dataclasses.dataclass(frozen=True)
class Slice:
    name: str
    title: str
    problems: tuple
    rungs: tuple
    #: Answers alone, no times.
    checked_only: bool = False


def _by_type(problems):
    return {type_: [p for p in problems if p.type == type_] for type_ in dict.fromkeys(p.type for p in problems)}


def slices(size="full"):
    """`full`, or `tiny`: the same slices and rungs on sizes that a simulator can do."""
    full = size == "full"
    last = lambda type_, *names: tuple(r for r in ladder(type_) if r.name in ("default", *names))
    # Two tiles of rows at least, for clusters; rows of 16 bytes.
    ragged = [(392, 528, 336), (136, 272, 80), (264, 16, 1008)] if full else [(136, 272, 80)]
    result = [Slice(f"1-right-{type_}", "Right on sizes that fill no tile",
                    tuple(Problem(*x, type_) for x in ragged), tuple(ladder(type_)), True)
              for type_ in TYPES]
    squares = [(2048,) * 3, (4096,) * 3, (8192,) * 3, (16384, 8192, 4096)] if full else [(136, 272, 80)]
    deep = [(8192, 8192, k) for k in (512, 1024, 2048, 4096, 8192, 16384)] if full else [(136, 136, 144)]
    few = [(m, n, k) for n, k in ((4096, 4096), (14336, 4096)) for m in (1, 2, 4, 8, 16, 32, 64, 128, 256)] if full \
        else [(8, 136, 72)]
    layers = [(4096, 14336, 4096), (4096, 4096, 14336), (4096, 6144, 4096), (2048, 28672, 8192)] if full else [(136, 72, 72)]
    # 144, 150 and 168 tiles of 128 x 256.
    waves = [(2048, 2304, 8192), (1920, 2560, 4096), (1920, 2560, 16384), (1536, 3584, 8192)] if full else [(392, 272, 336)]
    batches = [(32, 1024, 1024, 1024), (8, 2048, 2048, 2048)] if full else [(2, 72, 72, 72)]
    result += [
        Slice("2-square-bf16", "Square products of bf16, technique by technique",
              tuple(Problem(*x) for x in squares), tuple(ladder("bf16"))),
        Slice("3-deep-bf16", "Sums of 512 to 16384 at 8192 x 8192", tuple(Problem(*x) for x in deep), last("bf16", "store")),
        Slice("4-square-fp8", "8-bit floats, technique by technique", tuple(Problem(*x, "e4m3") for x in squares),
              tuple(ladder("e4m3"))),
        Slice("5-deep-fp8", "Sums of 8-bit floats", tuple(Problem(*x, "e4m3") for x in deep), last("e4m3")),
        Slice("6-few-rows-bf16", "One to 256 rows", tuple(Problem(*x) for x in few), last("bf16")),
        Slice("7-square-f16", "Square products of f16, technique by technique", tuple(Problem(*x, "f16") for x in squares),
              tuple(ladder("f16"))),
        Slice("8-layers-bf16", "Layers of language models", tuple(Problem(*x) for x in layers), last("bf16", "store")),
        Slice("9-batches-bf16", "Batches", tuple(Problem(*x[1:], "bf16", x[0]) for x in batches), last("bf16")),
        Slice("A-waves-bf16", "Tiles that are few more than the device has multiprocessors, of long sums",
              tuple(Problem(*x) for x in waves), shared(132 if full else 4) + last("bf16")),
        Slice("B-few-rows-fp8", "One to 256 rows of 8-bit floats", tuple(Problem(*x, "e4m3") for x in few), last("e4m3")),
        Slice("C-layers-fp8", "Layers of language models in 8-bit floats", tuple(Problem(*x, "e4m3") for x in layers),
              last("e4m3")),
        Slice("D-batches-fp8", "Batches of 8-bit floats", tuple(Problem(*x[1:], "e4m3", x[0]) for x in batches), last("e4m3")),
        Slice("E-deep-f16", "Sums of f16", tuple(Problem(*x, "f16") for x in deep), last("f16", "store")),
        Slice("F-few-rows-f16", "One to 256 rows of f16", tuple(Problem(*x, "f16") for x in few), last("f16")),
        Slice("G-layers-f16", "Layers of language models in f16", tuple(Problem(*x, "f16") for x in layers), last("f16", "store")),
        Slice("H-batches-f16", "Batches of f16", tuple(Problem(*x[1:], "f16", x[0]) for x in batches), last("f16"))]
    return result


def program(slice_, rung):
    """The MLIR of a slice's problems with the rung's config."""
    return "".join(_function(problem, rung) for problem in slice_.problems)


def _function(problem, rung):
    element, b = TYPES[problem.type][0], bool(problem.batch)
    tensor = lambda shape, of: f"tensor<{'x'.join(map(str, shape))}x{of}>"
    left, right = (tensor(x, element) for x in problem.shapes)
    shape = (problem.batch,) * b + (problem.m, problem.n)
    sums, result = tensor(shape, "f32"), tensor(shape, problem.result)
    dims = "b, " * b + "m, n, k"
    maps = ["m, k", "n, k" if problem.transposed else "k, n", "m, n"]
    maps = ", ".join(f"affine_map<({dims}) -> ({'b, ' * b}{x})>" for x in maps)
    rank = len(shape)
    same = ", ".join(f"d{i}" for i in range(rank))
    config = f", tilewright.lowering_config = #tilewright.lowering_config<{rung.config}>" if rung.config else ""
    kinds = ", ".join(['"parallel"'] * (2 + b) + ['"reduction"'])
    product = f"""  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]{config}}}
      ins(%a, %b : {left}, {right}) outs(%z : {sums}) {{
  ^bb0(%x: {element}, %y: {element}, %acc: f32):
    %xx = arith.extf %x : {element} to f32
    %yy = arith.extf %y : {element} to f32
    %p = arith.mulf %xx, %yy : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }} -> {sums}
"""
    return f"""func.func @{problem.name}(%a: {left}, %b: {right}) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {sums}
  %z = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}
{product}  %o = tensor.empty() : {result}
  %c = linalg.generic {{indexing_maps = [affine_map<({same}) -> ({same})>, affine_map<({same}) -> ({same})>],
                       iterator_types = [{', '.join(['"parallel"'] * rank)}]}}
      ins(%r : {sums}) outs(%o : {result}) {{
  ^bb0(%x: f32, %out: {problem.result}):
    %t = arith.truncf %x : f32 to {problem.result}
    linalg.yield %t : {problem.result}
  }} -> {result}
  return %c : {result}
}}
"""
