# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops that programs are made of. Each takes a Graph and adds an op or a few; False: there was no room for it.

What metamorphic.py needs one by one (contract, slice_of, pad_of, concat_of, turned) takes its operands as arguments.
"""

import numpy as np

from data import BF16, E4M3, E5M2, F16, F32, F64, I8, I16, I32, I64
from bodies import Body, Scalar
from graph import BIT, Fact, Impossible, align, whole


def generic(graph, iteration, ins, outs, lines, yielded, reduce="", maps=None):
    """linalg.generic over tensors, given the text of its body; `maps`: of operands whose map is not read off their dims."""
    f, maps = graph.function, maps or {}
    operands = ins + outs
    texts = [maps.get(i) or f.map(iteration, v.dims) for i, v in enumerate(operands)]
    kinds = ", ".join('"reduction"' if d in reduce else '"parallel"' for d in iteration)
    block = ", ".join(f"%s{i}: {v.element.name}" for i, v in enumerate(operands))

    def listed(values):
        return f"({', '.join(v.name for v in values)} : {', '.join(f.value_type(v) for v in values)})"

    text = f"linalg.generic {{indexing_maps = [{', '.join(texts)}], iterator_types = [{kinds}]}} "
    text += (f"ins{listed(ins)} " if ins else "") + f"outs{listed(outs)} {{\n      ^bb0({block}):\n"
    text += "".join(f"        {line}\n" for line in lines)
    text += f"        linalg.yield {', '.join(yielded)} : {', '.join(v.element.name for v in outs)}\n    }}"
    types = ", ".join(f.value_type(v) for v in outs)
    if len(outs) == 1:
        return [f.raw(f"{text} -> {types}", outs[0].element, outs[0].dims)]
    name = f.fresh()
    f.emit(f"{name}:{len(outs)} = {text} -> ({types})")
    return [type(outs[0])(f"{name}#{i}", v.element, v.dims) for i, v in enumerate(outs)]


def affine(iteration, results):
    return f"affine_map<({', '.join('d_' + d for d in iteration)}) -> ({', '.join(results)})>"


def wider(element):
    """What sums of narrow elements are made in; None for others."""
    if element.is_float:
        return F32 if element.bits < 32 else None
    return I32 if element is I8 or element is BIT else None


def pick_dims(graph, least, most):
    """An order of dims that there are, and now and then a new one, whose product is small enough."""
    random = graph.random
    count = random.randint(least, most)
    chosen = ""
    pool = [*graph.size]
    random.shuffle(pool)
    newest = [d for v in graph.values[-2:] for d in v.dims or ""]
    for d in newest + pool:
        if len(chosen) < count and d not in chosen and graph.most(chosen + d) <= graph.largest and random.random() < 0.8:
            chosen += d
    while len(chosen) < count:
        d = graph.base_dim()
        if graph.most(chosen + d) > graph.largest:
            break
        chosen += d
    return "".join(random.sample(chosen, len(chosen)))


# ---------------------------------------------------------------------------
# Elementwise, gathers
# ---------------------------------------------------------------------------

def operand_of(graph, iteration):
    """A value that a map without sums reads in these loops."""
    random = graph.random
    there = [v for v in graph.values if v.dims is not None and set(v.dims) <= set(iteration)]
    if there and random.random() < 0.75:
        return graph.take(random.choice(there[-5:]))
    dims = "".join(d for d in iteration if random.random() < 0.7) or iteration
    return graph.take(graph.argument(graph.random_element(), "".join(random.sample(dims, len(dims)))))


def elementwise(graph):
    random = graph.random
    old = graph.old(lambda v: graph.most(v.dims) <= graph.largest)
    iteration = old.dims if old and random.random() < 0.6 else pick_dims(graph, 1, 4)
    iteration = "".join(random.sample(iteration, len(iteration)))
    if not iteration:
        return False
    ins = [operand_of(graph, iteration) for _ in range(random.randint(1, 3))]
    if old and set(old.dims) <= set(iteration):
        ins[0] = old
    body = Body(graph)
    for i, v in enumerate(ins):
        body.operand(f"%s{i}", v)
    numbered = []
    if random.random() < 0.2:
        numbered.append(number_of(graph, body, iteration, random.choice(iteration)))
    body.grow(random.randint(1, 6))
    wanted = body.scalars[-1].element if random.random() < 0.7 else graph.random_element()
    last = body.result(wanted)
    if not last:
        return False
    dims = "".join(random.sample(iteration, len(iteration)))
    made, = generic(graph, iteration, ins, [graph.output(wanted, dims)], body.lines, [last.name])

    def compute(env):
        local = {f"%s{i}": align(env[v.name], v.dims, iteration) for i, v in enumerate(ins)}
        for name, letter in numbered:
            local[name] = align(np.arange(graph.size[letter][env["case"]]), letter, iteration)
        body.run(local)
        whole_array = np.broadcast_to(local[last.name], graph.shape(env, iteration))
        return np.transpose(whole_array, [iteration.index(d) for d in dims])

    graph.add(made, last.fact, compute)
    return True


def number_of(graph, body, iteration, letter):
    """linalg.index of a loop, as a scalar of type i32."""
    body.lines += [f"%n = linalg.index {iteration.index(letter)} : index", "%ni = arith.index_cast %n : index to i32"]
    body.known(Scalar("%ni", I32, Fact(True, max(graph.size[letter]))))
    return "%ni", letter


def gather(graph):
    """Rows by number; the numbers are brought into range in the body."""
    random, f = graph.random, graph.function
    table = graph.old(lambda v: 1 <= len(v.dims) <= 3 and all(graph.least(d) > 0 for d in v.dims))
    if not table:
        dims = pick_dims(graph, 1, 3)
        if not dims or any(graph.least(d) == 0 for d in dims):
            return False
        table = graph.take(graph.argument(graph.random_element(), dims))
    picked = random.choice(table.dims)
    index = random.choice([I32, I64])
    rest = table.dims.replace(picked, "")
    pool = [d for d in graph.size if d not in table.dims and graph.most(rest + d) <= graph.largest]
    loop = random.choice(pool) if pool and random.random() < 0.7 else graph.base_dim()
    if graph.most(rest + loop) > graph.largest:
        return False
    numbers = graph.with_dims(loop, element=index)
    iteration = "".join(random.sample(rest + loop, len(rest) + 1))
    end = f.raw(f"arith.constant 1 : index", I32, None).name
    last = f.raw(f"arith.subi {graph.size_of(picked)}, {end} : index", I32, None).name
    zero = graph.index(0)
    lines = [f"%i = arith.index_cast %s0 : {index.name} to index", f"%j = arith.maxsi %i, {zero} : index",
             f"%k = arith.minsi %j, {last} : index"]
    lines += [f"%x{n} = linalg.index {iteration.index(d)} : index" for n, d in enumerate(table.dims) if d != picked]
    where = ", ".join("%k" if d == picked else f"%x{n}" for n, d in enumerate(table.dims))
    lines.append(f"%v = tensor.extract {table.name}[{where}] : {f.value_type(table)}")
    made, = generic(graph, iteration, [numbers], [graph.output(table.element, iteration)], lines, ["%v"])

    def compute(env):
        x = env[table.name]
        axis = table.dims.index(picked)
        taken = np.take(x, np.clip(env[numbers.name], 0, x.shape[axis] - 1), axis=axis)
        dims = table.dims.replace(picked, loop)
        return np.transpose(taken, [dims.index(d) for d in iteration])

    graph.add(made, graph.fact(table), compute)
    return True


NAMED = {"add": ("bound", np.add), "sub": ("bound", np.subtract), "mul": ("product", np.multiply), "max": ("most", np.maximum),
         "min": ("most", np.minimum)}
UNARY = {"negf": lambda x: -x, "abs": abs, "square": lambda x: x * x, "tanh": np.tanh}


def named(graph):
    """A named op on values of the same dims, in the same order."""
    random, f = graph.random, graph.function
    x = graph.old(lambda v: v.element is not BIT and v.element.bits > 8 or v.element is I8)
    if not x:
        return False
    out = graph.output(x.element, x.dims)
    fact = graph.fact(x)
    if random.random() < 0.4 and x.element.is_float:
        kind = random.choice([*UNARY])
        made_fact = Fact(fact.exact, fact.bound ** 2) if kind == "square" else Fact(False, 1) if kind == "tanh" else fact
        if not made_fact.fits(x.element):
            return False
        made = f.op(f"linalg.{kind}", [x], out)
        graph.add(made, made_fact, lambda env: x.element.round(UNARY[kind](env[x.name])))
        return True
    same = [v for v in graph.values if v.dims == x.dims and v.element is x.element]
    y = graph.take(random.choice(same)) if random.random() < 0.5 else graph.take(graph.argument(x.element, x.dims))
    kind = random.choice([*NAMED])
    a, b = fact.bound, graph.fact(y).bound
    bound = {"bound": a + b, "product": a * b, "most": max(a, b)}[NAMED[kind][0]]
    if not x.element.is_float:
        bound = min(bound, whole(x.element) + 1)
    made_fact = Fact(fact.exact and graph.fact(y).exact, bound)
    if not made_fact.fits(x.element):
        return False
    made = f.op(f"linalg.{kind}", [x, y], out)
    graph.add(made, made_fact, lambda env: x.element.round(NAMED[kind][1](env[x.name], env[y.name])))
    return True


def turned(graph, x, order):
    """linalg.transpose to the dims in this order."""
    f = graph.function
    out = graph.output(x.element, order)
    permutation = [x.dims.index(d) for d in order]
    name = f.fresh()
    f.emit(f"{name} = linalg.transpose ins({x.name} : {f.value_type(x)}) outs({out.name} : {f.value_type(out)}) "
           f"permutation = {permutation}")
    made = type(x)(name, x.element, order)
    return graph.add(made, graph.fact(x), lambda env: np.transpose(env[x.name], permutation))


def transpose(graph):
    x = graph.old(lambda v: len(v.dims) > 1)
    if not x:
        return False
    turned(graph, x, "".join(graph.random.sample(x.dims, len(x.dims))))
    return True


# ---------------------------------------------------------------------------
# Reductions, contractions, windows
# ---------------------------------------------------------------------------

def reduce(graph):
    random = graph.random
    x = graph.old(lambda v: v.dims) or graph.with_dims(pick_dims(graph, 1, 4) or graph.base_dim())
    gone = "".join(d for d in x.dims if random.random() < 0.5) or random.choice(x.dims)
    if random.random() < 0.15 and len(gone) == 1 and graph.fact(x).exact and x.element is not BIT and x.element.bits > 8:
        return arg_reduce(graph, x, gone)
    # Of a generator of its own, so that other programs stay as they are.
    if x.element in (I8, I16, I32) and type(random)(str(random.getstate()[1][:4])).random() < 0.25:
        return fold(graph, x, gone)
    iteration = "".join(random.sample(x.dims, len(x.dims)))
    kept = "".join(d for d in iteration if d not in gone)
    kept = "".join(random.sample(kept, len(kept)))
    body = Body(graph)
    body.operand("%s0", x)
    if random.random() < 0.4:
        body.grow(random.randint(1, 2))
    value = body.scalars[-1]
    if random.random() < 0.25 or value.element.bits == 8 and value.element.is_float:
        wide = wider(value.element)
        value = body.cast(value, wide) if wide else value
    element, t = value.element, value.element.name
    if element is BIT:
        kind = random.choice(["andi", "ori", "xori"])
    elif element.is_float:
        kind = random.choice(["addf", "addf", "maximumf", "minimumf"])
    else:
        kind = random.choice(["addi", "addi", "maxsi", "minsi", "andi", "ori", "xori"])
    terms = graph.most(gone)
    big = max(1, min(value.fact.bound, whole(element)))
    start, numpy_op = {
        "addf": (random.choice([0, 0, 1]), np.sum), "addi": (random.choice([0, 3]), np.sum),
        "maximumf": (-big, np.max), "maxsi": (-big, np.max), "minimumf": (big, np.min), "minsi": (big, np.min),
        "andi": (1 if element is BIT else -1, np.bitwise_and), "ori": (0, np.bitwise_or),
        "xori": (random.choice([0, 1]), np.bitwise_xor)}[kind]
    if element.is_float and kind not in ("addf",):
        start = float(int(start)) if value.fact.exact else float(np.sign(start) * 4)
    summing = kind in ("addf", "addi")
    fact = Fact(value.fact.exact, terms * value.fact.bound + abs(start) if summing else max(value.fact.bound, abs(start)))
    if not element.is_float:
        fact.bound = min(fact.bound, whole(element) + 1)
    if not fact.fits(element):
        return False
    out = graph.filled(element, kept, start)
    operands = ["%s1", value.name]
    random.shuffle(operands)
    lines = body.lines + [f"%r = arith.{kind} {operands[0]}, {operands[1]} : {t}"]
    made, = generic(graph, iteration, [x], [out], lines, ["%r"], reduce=gone)

    def compute(env):
        local = {"%s0": align(env[x.name], x.dims, iteration)}
        body.run(local)
        array = np.broadcast_to(local[value.name], graph.shape(env, iteration))
        axes = tuple(iteration.index(d) for d in gone)
        if summing:
            result = np.sum(array, axis=axes) + start
        elif numpy_op in (np.max, np.min):
            result = numpy_op(array, axis=axes, initial=start)
        else:
            result = numpy_op.reduce(array.astype(np.int64), axis=axes, initial=start)
        left = [d for d in iteration if d not in gone]
        return element.round(np.transpose(result, [left.index(d) for d in kept]))

    graph.add(made, fact, compute)
    return True


def fold(graph, x, gone):
    """A polynomial: no sum, but terms that are taken one after another in the order of the loops. Integers wrap around."""
    random = graph.random
    iteration = "".join(random.sample(x.dims, len(x.dims)))
    kept = "".join(random.sample([d for d in iteration if d not in gone], len(x.dims) - len(gone)))
    t, factor, start = x.element.name, random.choice([2, 3, -1]), random.choice([0, 1, 5])
    out = graph.filled(x.element, kept, start)
    lines = [f"%f = arith.constant {factor} : {t}", f"%m = arith.muli %s1, %f : {t}", f"%r = arith.addi %m, %s0 : {t}"]
    made, = generic(graph, iteration, [x], [out], lines, ["%r"], reduce=gone)

    def compute(env):
        left, axes = [d for d in iteration if d not in gone], [d for d in iteration if d in gone]
        array = np.transpose(env[x.name].astype(np.int64), [x.dims.index(d) for d in left + axes])
        array = array.reshape(array.shape[:len(left)] + (int(np.prod(array.shape[len(left):], dtype=np.int64)),))
        result = np.full(array.shape[:-1], start, np.int64)
        for term in range(array.shape[-1]):
            result = x.element.round(result * factor + array[..., term])
        return np.transpose(result, [left.index(d) for d in kept])

    graph.add(made, Fact(True, whole(x.element) + 1), compute)
    return True


def arg_reduce(graph, x, gone):
    """The largest or smallest and the first place where it stands."""
    random = graph.random
    if graph.least(gone) == 0:
        return False
    iteration = x.dims
    kept = x.dims.replace(gone, "")
    element, t = x.element, x.element.name
    most = random.random() < 0.5
    bound = min(graph.fact(x).bound, whole(element)) + (1 if element.is_float else 0)
    fact = Fact(True, bound)
    if not fact.fits(element) or (not element.is_float and graph.fact(x).bound > whole(element) - 1):
        return False
    if not element.is_float:
        bound += 1
    outs = [graph.filled(element, kept, -bound if most else bound), graph.filled(I32, kept, 0)]
    predicate = {(True, True): "cmpf ogt", (True, False): "cmpf olt", (False, True): "cmpi sgt", (False, False): "cmpi slt"}[
        element.is_float, most]
    lines = [f"%n = linalg.index {iteration.index(gone)} : index", "%i = arith.index_cast %n : index to i32",
             f"%c = arith.{predicate}, %s0, %s1 : {t}", f"%v = arith.select %c, %s0, %s1 : {t}", "%w = arith.select %c, %i, %s2 : i32"]
    values, places = generic(graph, iteration, [x], outs, lines, ["%v", "%w"], reduce=gone)
    axis = x.dims.index(gone)
    graph.add(values, fact, lambda env: (np.max if most else np.min)(env[x.name], axis=axis))
    graph.add(places, Fact(True, graph.most(gone)),
              lambda env: (np.argmax if most else np.argmin)(env[x.name], axis=axis))
    return True


PRODUCTS = [(F32, F32, F32), (F16, F16, F32), (BF16, BF16, F32), (F64, F64, F64), (I8, I8, I32), (F16, F16, F16), (I32, I32, I32),
            (E4M3, E5M2, F32), (I16, I16, I32), (I64, I64, I64), (BF16, BF16, BF16), (F16, F32, F32), (I8, I32, I32), (BIT, I8, I32)]


def contract(graph, a, b, out_dims, element, start=None, loops=None, form="generic"):
    """The sum over the dims that `out_dims` lacks of a times b, onto `start` or zero. None where it may get too large."""
    f = graph.function
    summed = "".join(d for d in dict.fromkeys(a.dims + b.dims) if d not in out_dims)
    loops = loops or out_dims + summed
    fa, fb = graph.fact(a), graph.fact(b)
    fact = Fact(fa.exact and fb.exact and (start is None or graph.fact(start).exact),
                graph.most(summed) * fa.bound * fb.bound + (graph.fact(start).bound if start else 0))
    if not element.is_float:
        fact.bound = min(fact.bound, whole(element) + 1)
    if not fact.fits(element):
        return None
    t = element.name
    out = start or graph.filled(element, out_dims, 0)
    if form != "generic":
        maps = ", ".join(f.map(loops, v) for v in (a.dims, b.dims, out_dims))
        attributes = f"indexing_maps = [{maps}]" if form == "linalg.contract" else ""
        made = f.op(form, [a, b], out, attributes)
    else:
        lines, scalars = [], []
        for i, v in enumerate((a, b)):
            scalars.append(f"%s{i}")
            if v.element is not element:
                op = "extf" if v.element.is_float else "extui" if v.element is BIT else "extsi"
                lines.append(f"%w{i} = arith.{op} %s{i} : {v.element.name} to {t}")
                scalars[-1] = f"%w{i}"
        kind = "f" if element.is_float else "i"
        lines += [f"%p = arith.mul{kind} {scalars[0]}, {scalars[1]} : {t}", f"%r = arith.add{kind} %s2, %p : {t}"]
        made, = generic(graph, loops, [a, b], [out], lines, ["%r"], reduce=summed)

    def compute(env):
        kind = np.float64 if element.is_float else np.int64
        result = np.einsum(f"{a.dims},{b.dims}->{out_dims}", np.asarray(env[a.name], kind), np.asarray(env[b.name], kind))
        return element.round(result + (env[start.name] if start else 0))

    return graph.add(made, fact, compute)


def product_dims(graph):
    """(rows, columns, sums, batches): letters of each."""
    random = graph.random
    rows, columns, batches = random.choice([(1, 1, 0)] * 5 + [(1, 1, 1)] * 2 + [(1, 0, 0), (0, 1, 0), (2, 1, 0), (1, 0, 1), (1, 2, 0), (0, 0, 1)])
    sums = 1 if random.random() < 0.8 else 2
    chosen = []
    pool = [*graph.size]
    random.shuffle(pool)
    for _ in range(rows + columns + batches + sums):
        usable = [d for d in pool if d not in chosen and graph.most(chosen + [d]) <= 8 * graph.largest]
        letter = random.choice(usable) if usable and random.random() < 0.7 else graph.base_dim()
        if graph.most(chosen + [letter]) > 8 * graph.largest:
            return None
        chosen.append(letter)
    text = "".join(chosen)
    return text[:rows], text[rows:rows + columns], text[rows + columns:rows + columns + sums], text[rows + columns + sums:]


def contraction(graph):
    random = graph.random
    letters = product_dims(graph)
    if not letters:
        return False
    rows, columns, sums, batches = letters
    left, right, out = random.choice(PRODUCTS)

    def shuffled(dims):
        return "".join(random.sample(dims, len(dims)))

    a = graph.with_dims(shuffled(batches + rows + sums), element=left)
    b = graph.with_dims(shuffled(batches + sums + columns), element=right)
    dims = shuffled(batches + rows + columns)
    form = "generic"
    if left is not BIT and len(rows) == len(columns) == len(sums) == 1 and not batches and (a.dims, b.dims) == (rows + sums, sums + columns) \
            and random.random() < 0.5:
        form, dims = "linalg.matmul", rows + columns
    elif left is not BIT and left.bits > 8 and random.random() < 0.2:
        form = "linalg.contract"
    start = None
    if random.random() < 0.3:
        start = next((v for v in reversed(graph.values) if v.dims == dims and v.element is out), None)
        start = start and graph.take(start)
    return contract(graph, a, b, dims, out, start, shuffled(dims + sums) if form == "generic" else dims + sums, form) is not None


def window(graph):
    """A sum or maximum over a window of one dim, or a convolution with a filter of it."""
    random, f = graph.random, graph.function
    stride, dilation, taps = random.choice([1, 1, 2]), random.choice([1, 1, 2]), random.choice([2, 3])
    reach = (taps - 1) * dilation + 1
    x = graph.old(lambda v: v.element is not BIT and any(graph.least(d) >= reach for d in v.dims) and graph.most(v.dims) <= graph.largest)
    if not x:
        return False
    along = random.choice([d for d in x.dims if graph.least(d) >= reach])
    letter = resized(graph, along, lambda n: (n - reach) // stride + 1,
                     lambda size: divided(graph, [("subi", reach)], size, stride, 1))
    tap = graph.letter([taps] * graph.case_count, known=True)
    kept = x.dims.replace(along, letter)
    iteration = "".join(random.sample(kept + tap, len(kept) + 1))
    read = affine(iteration, [f"d_{letter} * {stride} + d_{tap} * {dilation}" if d == along else f"d_{d}" for d in x.dims])
    element, t, fact = x.element, x.element.name, graph.fact(x)
    kind = "f" if element.is_float else "i"
    wide = wider(element) or element
    filtered = random.random() < 0.5
    other = graph.take(graph.argument(element, tap)) if filtered else graph.function.empty(element, tap)
    weight = graph.fact(other).bound if filtered else 1
    made_fact = Fact(fact.exact and (not filtered or graph.fact(other).exact), taps * fact.bound * weight)
    if not wide.is_float:
        made_fact.bound = min(made_fact.bound, whole(wide) + 1)
    if not made_fact.fits(wide):
        return False
    most = not filtered and random.random() < 0.5 and fact.bound < whole(wide)
    lines, scalars = [], ["%s0", "%s1"]
    for i in range(2 if filtered else 1):
        if wide is not element:
            lines.append(f"%w{i} = arith.ext{'f' if element.is_float else 'si'} %s{i} : {t} to {wide.name}")
            scalars[i] = f"%w{i}"
    value = scalars[0]
    if filtered:
        lines.append(f"%p = arith.mul{kind} {scalars[0]}, {scalars[1]} : {wide.name}")
        value = "%p"
    combine = {"f": "maximumf", "i": "maxsi"}[kind] if most else f"add{kind}"
    lines.append(f"%r = arith.{combine} %s2, {value} : {wide.name}")
    floor = -int(min(fact.bound + 1, 1e6))
    out = graph.filled(wide, kept, floor if most else 0)
    made, = generic(graph, iteration, [x, other], [out], lines, ["%r"], reduce=tap, maps={0: read})

    def compute(env):
        array, axis = np.moveaxis(env[x.name], x.dims.index(along), -1), x.dims.index(along)
        count = graph.size[letter][env["case"]]
        parts = np.stack([array[..., k * dilation:k * dilation + (count - 1) * stride + 1:stride] for k in range(taps)], axis=-1)
        if filtered:
            parts = parts * env[other.name]
        result = np.maximum(parts.max(axis=-1), floor) if most else parts.sum(axis=-1)
        return wide.round(np.moveaxis(result, -1, axis))

    graph.add(made, Fact(made_fact.exact, max(made_fact.bound, abs(floor)) if most else made_fact.bound), compute)
    return True


def softmax(graph):
    f = graph.function
    x = graph.old(lambda v: v.element in (F32, F16, F64) and v.dims and all(graph.least(d) for d in v.dims) and graph.fact(v).bound <= 60)
    if not x:
        return False
    axis = graph.random.randrange(len(x.dims))
    out = graph.output(x.element, x.dims)
    made = f.raw(f"linalg.softmax dimension({axis}) ins({x.name} : {f.value_type(x)}) outs({out.name} : {f.value_type(out)}) -> "
                 f"{f.value_type(out)}", x.element, x.dims)

    def compute(env):
        powers = np.exp(env[x.name] - env[x.name].max(axis=axis, keepdims=True))
        return x.element.round(powers / powers.sum(axis=axis, keepdims=True))

    graph.add(made, Fact(False, 1), compute)
    return True


# ---------------------------------------------------------------------------
# Tensors
# ---------------------------------------------------------------------------

def resized(graph, letter, numbers, how):
    """A dim of another size than `letter`: numbers(n) in each case; `how(size's name)` computes it."""
    known = graph.is_static(letter)
    return graph.derived([numbers(n) for n in graph.size[letter]], lambda: how(graph.size_of(letter)), known)


def divided(graph, changes, size, by, plus=0):
    """(size with changes) divided by `by`, rounded down, plus `plus`."""
    for op, number in changes:
        size = graph.function.raw(f"arith.{op} {size}, {graph.index(number)} : index", I32, None).name
    if by != 1:
        size = graph.function.raw(f"arith.divui {size}, {graph.index(by)} : index", I32, None).name
    if plus:
        size = graph.function.raw(f"arith.addi {size}, {graph.index(plus)} : index", I32, None).name
    return size


def size_text(graph, letter):
    name = str(graph.function.sizes[letter]) if graph.is_static(letter) else graph.size_of(letter)
    return name if graph.pinned is None else str(graph.function.sizes[letter])


def sliceable(graph, x, dim, offset, end):
    """Whether a slice is valid: in static dims, upstream's verifier wants an element in it."""
    return all(not graph.is_static(d) or graph.size[d][0] > (offset + end if d == dim else 0) for d in x.dims)


def slice_of(graph, x, dim, offset, stride=1, end=0):
    """Every `stride`-th of `dim` from `offset` on, but for the last `end`."""
    f = graph.function
    if not sliceable(graph, x, dim, offset, end):
        raise Impossible
    letter = resized(graph, dim, lambda n: (n - offset - end + stride - 1) // stride,
                     lambda size: divided(graph, [("subi", offset + end), ("addi", stride - 1)], size, stride))
    dims = x.dims.replace(dim, letter)
    offsets = [str(offset) if d == dim else "0" for d in x.dims]
    sizes = [size_text(graph, d) for d in dims]
    strides = [str(stride) if d == dim else "1" for d in x.dims]
    text = f"[{', '.join(offsets)}] [{', '.join(sizes)}] [{', '.join(strides)}]"
    made = f.raw(f"tensor.extract_slice {x.name}{text} : {f.value_type(x)} to {f.type(x.element, dims)}", x.element, dims)
    axis = x.dims.index(dim)

    def places(n):
        return np.arange(offset, n - end, stride)

    graph.add(made, graph.fact(x), lambda env: np.take(env[x.name], places(env[x.name].shape[axis]), axis=axis))
    return made, text, places


def slice(graph):
    random = graph.random
    x = graph.old(lambda v: v.dims)
    if not x:
        return False
    dim = random.choice(x.dims)
    room = graph.least(dim)
    offset = random.randint(0, min(room, 5))
    end = random.randint(0, min(room - offset, 3))
    if not sliceable(graph, x, dim, offset, end):
        return False
    slice_of(graph, x, dim, offset, random.choice([1, 1, 2, 3]), end)
    return True


def insert(graph):
    """A part of a value, changed, and put back in its place."""
    random, f = graph.random, graph.function
    x = graph.old(lambda v: v.dims and v.element is not BIT and not (v.element.bits == 8 and v.element.is_float))
    if not x:
        return False
    dim = random.choice(x.dims)
    offset = random.randint(0, min(graph.least(dim), 4))
    stride = random.choice([1, 1, 2])
    if not sliceable(graph, x, dim, offset, 0):
        return False
    part, text, places = slice_of(graph, x, dim, offset, stride)
    graph.take(part)
    made = f.op("linalg.negf" if x.element.is_float else "linalg.mul", [part] if x.element.is_float else [part, part],
                graph.output(x.element, part.dims))
    fact = graph.fact(x)
    squared = Fact(fact.exact, fact.bound if x.element.is_float else min(max(fact.bound ** 2, fact.bound), whole(x.element) + 1))
    change = (lambda v: -v) if x.element.is_float else (lambda v: x.element.round(v * v))
    graph.take(graph.add(made, squared, lambda env: change(env[part.name])))
    whole_again = f.raw(f"tensor.insert_slice {made.name} into {x.name}{text} : {f.value_type(made)} into {f.value_type(x)}",
                        x.element, x.dims)
    axis = x.dims.index(dim)

    def compute(env):
        result = np.moveaxis(np.array(env[x.name]), axis, 0)
        result[places(len(result))] = np.moveaxis(env[made.name], axis, 0)
        return np.moveaxis(result, 0, axis)

    graph.add(whole_again, squared, compute)
    return True


def pad_of(graph, x, dim, low, high, value):
    f = graph.function
    letter = resized(graph, dim, lambda n: n + low + high, lambda size: divided(graph, [("addi", low + high)], size, 1))
    dims = x.dims.replace(dim, letter)
    scalar = graph.constant(x.element, value)
    made = f.pad(x, dims, [low if d == dim else 0 for d in x.dims], [high if d == dim else 0 for d in x.dims], scalar)
    widths = [(low, high) if d == dim else (0, 0) for d in x.dims]
    fact = graph.fact(x)
    return graph.add(made, Fact(fact.exact, max(fact.bound, abs(value))),
                     lambda env: np.pad(env[x.name], widths, constant_values=value))


def pad(graph):
    random = graph.random
    x = graph.old(lambda v: v.dims and graph.most(v.dims) <= graph.largest)
    if not x:
        return False
    value = random.choice([0, 0, 1]) if x.element is BIT else random.choice([0, 0, 1, -2])
    pad_of(graph, x, random.choice(x.dims), random.randint(0, 3), random.randint(0, 5), value)
    return True


def concat_of(graph, parts, at):
    """Parts, whose dims differ in place `at` alone, behind each other."""
    f = graph.function
    first = parts[0]
    letters = [p.dims[at] for p in parts]
    known = all(graph.is_static(d) for d in letters)
    sizes = [sum(graph.size[d][c] for d in letters) for c in range(graph.case_count)]

    def how():
        names = [graph.size_of(d) for d in letters]
        total = names[0]
        for name in names[1:]:
            total = f.raw(f"arith.addi {total}, {name} : index", I32, None).name
        return total

    letter = graph.derived(sizes, how, known)
    dims = first.dims[:at] + letter + first.dims[at + 1:]
    made = f.raw(f"tensor.concat dim({at}) {', '.join(p.name for p in parts)} : ({', '.join(f.value_type(p) for p in parts)}) -> "
                 f"{f.type(first.element, dims)}", first.element, dims)
    facts = [graph.fact(p) for p in parts]
    return graph.add(made, Fact(all(x.exact for x in facts), max(x.bound for x in facts)),
                     lambda env: np.concatenate([env[p.name] for p in parts], axis=at))


def concat(graph):
    random = graph.random
    x = graph.old(lambda v: v.dims and graph.most(v.dims) <= graph.largest)
    if not x:
        return False
    at = random.randrange(len(x.dims))
    others = [x]
    for _ in range(random.randint(1, 2)):
        if random.random() < 0.3:
            others.append(x)
            continue
        letter = random.choice([d for d in graph.size if d not in x.dims.replace(x.dims[at], "")])
        dims = x.dims[:at] + letter + x.dims[at + 1:]
        if graph.most(dims) > graph.largest:
            others.append(x)
        else:
            others.append(graph.take(graph.argument(x.element, dims)))
    random.shuffle(others)
    concat_of(graph, others, at)
    return True


def collapse(graph):
    """Two dims become one, and sometimes two again."""
    random, f = graph.random, graph.function
    x = graph.old(lambda v: len(v.dims) > 1 and graph.most(v.dims) > 0)
    if not x:
        return False
    at = random.randrange(len(x.dims) - 1)
    first, second = x.dims[at:at + 2]
    known = graph.is_static(first) and graph.is_static(second)
    sizes = [a * b for a, b in zip(graph.size[first], graph.size[second])]
    letter = graph.derived(sizes, lambda: f.raw(f"arith.muli {graph.size_of(first)}, {graph.size_of(second)} : index", I32, None).name, known)
    dims = x.dims[:at] + letter + x.dims[at + 2:]
    groups, position = [], 0
    for d in dims:
        width = 2 if d == letter else 1
        groups.append(list(range(position, position + width)))
        position += width
    made = f.raw(f"tensor.collapse_shape {x.name} {groups} : {f.value_type(x)} into {f.type(x.element, dims)}", x.element, dims)
    graph.add(made, graph.fact(x), lambda env: env[x.name].reshape(graph.shape(env, dims)))
    if random.random() < 0.4:
        graph.take(made)
        shape = ", ".join(size_text(graph, d) for d in x.dims)
        again = f.raw(f"tensor.expand_shape {made.name} {groups} output_shape [{shape}] : {f.value_type(made)} into {f.value_type(x)}",
                      x.element, x.dims)
        graph.add(again, graph.fact(x), lambda env: env[made.name].reshape(graph.shape(env, x.dims)))
    return True


def expand(graph):
    """A static dim as two."""
    random, f = graph.random, graph.function
    x = graph.old(lambda v: any(graph.is_static(d) and graph.size[d][0] % 2 == 0 and graph.size[d][0] for d in v.dims))
    if not x:
        return False
    dim = random.choice([d for d in x.dims if graph.is_static(d) and graph.size[d][0] % 2 == 0 and graph.size[d][0]])
    size = graph.size[dim][0]
    part = random.choice([p for p in (2, 4, 8, size) if size % p == 0])
    first = graph.letter([size // part] * graph.case_count, known=True)
    second = graph.letter([part] * graph.case_count, known=True)
    dims = x.dims.replace(dim, first + second)
    groups, position = [], 0
    for d in x.dims:
        width = 2 if d == dim else 1
        groups.append(list(range(position, position + width)))
        position += width
    shape = ", ".join(size_text(graph, d) for d in dims)
    made = f.raw(f"tensor.expand_shape {x.name} {groups} output_shape [{shape}] : {f.value_type(x)} into {f.type(x.element, dims)}",
                 x.element, dims)
    graph.add(made, graph.fact(x), lambda env: env[x.name].reshape(graph.shape(env, dims)))
    return True


# How often each is taken.
WEIGHTS = {elementwise: 30, reduce: 16, contraction: 12, gather: 6, named: 8, transpose: 6, window: 6, softmax: 3, slice: 6, insert: 3,
           pad: 5, concat: 4, collapse: 5, expand: 3}
