# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What front ends write in several ops or in bodies of their own: reductions of several results, of pairs and of log-sum-exps,
elements at computed coordinates, pads of any mode, products with quantised weights, norms, attention.

Each takes a Graph, as the ops of ops.py do; programs of the kind `pattern` take from both.
"""

import numpy as np

import ops
from data import BF16, F16, F32, F64, I4, I8, I32, I64, integers
from families.attention import numpy_attention
from graph import BIT, Fact, Impossible, align, whole

PLACES = 1 << 20  # more than any dim


def input_of(graph, wanted, least=1, most=3):
    """A value of some dims, or a new argument of one of these types."""
    x = graph.old(lambda v: v.dims and v.element in wanted and graph.most(v.dims) <= graph.largest)
    if x and len(x.dims) >= least and graph.random.random() < 0.8:
        return x
    dims = ops.pick_dims(graph, least, most)
    if len(dims) < least:
        raise Impossible
    return graph.take(graph.argument(graph.random.choice(wanted), dims))


def parted(graph, x):
    """(dims that a reduction sums over, the dims it keeps, in any order, all of them in any order)"""
    random = graph.random
    gone = "".join(d for d in x.dims if random.random() < 0.5) or random.choice(x.dims)
    kept = [d for d in x.dims if d not in gone]
    return gone, "".join(random.sample(kept, len(kept))), "".join(random.sample(x.dims, len(x.dims)))


def kept_of(array, iteration, kept):
    left = [d for d in iteration if d in kept]
    return np.transpose(array, [left.index(d) for d in kept])


# ---------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------

def several(graph):
    """Two or three reductions of one operand in one op."""
    random = graph.random
    x = input_of(graph, (F32, F64, I32, I64, F16, BF16))
    gone, kept, iteration = parted(graph, x)
    fact, element, t = graph.fact(x), x.element, x.element.name
    kind = "f" if element.is_float else "i"
    big = min(fact.bound, whole(element))
    big = float(np.ceil(big)) if element.is_float else int(big)
    axes = tuple(iteration.index(d) for d in gone)
    terms = graph.most(gone)
    names = {"sum": (f"add{kind}", 0), "square": (f"add{kind}", 0), "most": ("maximumf" if kind == "f" else "maxsi", -big),
             "least": ("minimumf" if kind == "f" else "minsi", big), "count": ("addi", 0)}
    numpy_of = {"sum": lambda v: v.sum(axis=axes), "square": lambda v: (v * v).sum(axis=axes),
                "most": lambda v: v.max(axis=axes, initial=-big), "least": lambda v: v.min(axis=axes, initial=big),
                "count": lambda v: (v > 0).sum(axis=axes)}
    facts = {"sum": terms * fact.bound, "square": terms * fact.bound ** 2, "most": big, "least": big, "count": terms}
    chosen = [n for n in random.sample([*names], random.randint(2, 3)) if n != "count" or fact.exact]
    outs, lines, yielded, made_facts = [], [], [], []
    for i, name in enumerate(chosen):
        op, start = names[name]
        out = I32 if name == "count" else element
        made = Fact(fact.exact or name == "count", facts[name])
        if not out.is_float:
            made.bound = min(made.bound, whole(out) + 1)
        if not made.fits(out):
            return False
        made_facts.append(made)
        outs.append(graph.filled(out, kept, start))
        value = "%s0"
        if name == "square":
            lines.append(f"%q = arith.mul{kind} %s0, %s0 : {t}")
            value = "%q"
        if name == "count":
            zero = graph.constant(element, 0).name
            lines += [f"%p = arith.cmp{'f ogt' if kind == 'f' else 'i sgt'}, %s0, {zero} : {t}", "%o = arith.extui %p : i1 to i32"]
            value = "%o"
        order = [f"%s{i + 1}", value]
        random.shuffle(order)
        lines.append(f"%r{i} = arith.{op} {', '.join(order)} : {out.name}")
        yielded.append(f"%r{i}")
    if not chosen:
        return False
    results = ops.generic(graph, iteration, [x], outs, lines, yielded, reduce=gone)
    for value, name, made in zip(results, chosen, made_facts):
        graph.add(value, made, lambda env, name=name, value=value: value.element.round(
            kept_of(numpy_of[name](align(env[x.name], x.dims, iteration)), iteration, kept)))
    return True


def pairs(graph):
    """The largest or smallest, and the first of the places that a second operand gives; one associative combiner of pairs."""
    random = graph.random
    x = input_of(graph, (F32, I32, F16, I64, F64))
    fact, element, t = graph.fact(x), x.element, x.element.name
    if not fact.exact or fact.bound >= whole(element):
        return False
    gone, kept, iteration = parted(graph, x)
    index = random.choice([I32, I64])
    place = graph.take(graph.argument(index, gone if random.random() < 0.5 else x.dims, low=0, high=200))
    most = random.random() < 0.5
    bound = (1 if most else -1) * (int(fact.bound) + 1)
    if abs(bound) > whole(element):
        return False
    outs = [graph.filled(element, kept, -bound), graph.filled(index, kept, PLACES)]
    better, same = ("cmpf ogt" if most else "cmpf olt", "cmpf oeq") if element.is_float else ("cmpi sgt" if most else "cmpi slt", "cmpi eq")
    lines = [f"%c = arith.{better}, %s0, %s2 : {t}", f"%e = arith.{same}, %s0, %s2 : {t}",
             f"%l = arith.cmpi slt, %s1, %s3 : {index.name}", "%b = arith.andi %e, %l : i1", "%m = arith.ori %c, %b : i1",
             f"%v = arith.select %m, %s0, %s2 : {t}", f"%w = arith.select %m, %s1, %s3 : {index.name}"]
    values, places = ops.generic(graph, iteration, [x, place], outs, lines, ["%v", "%w"], reduce=gone)
    axes = tuple(iteration.index(d) for d in gone)

    def best(env):
        array = align(env[x.name], x.dims, iteration)
        return array, (array.max if most else array.min)(axis=axes, initial=-bound, keepdims=True)

    def first(env):
        array, top = best(env)
        numbers = np.broadcast_to(align(env[place.name], place.dims, iteration), array.shape)
        return kept_of(np.where(array == top, numbers, PLACES).min(axis=axes, initial=PLACES), iteration, kept)

    graph.add(values, Fact(True, abs(bound)), lambda env: kept_of(np.squeeze(best(env)[1], axes), iteration, kept))
    graph.add(places, Fact(True, PLACES), first)
    return True


def log_sum_exp(graph):
    """The largest and the sum of powers in one pass, and their log-sum-exp."""
    x = input_of(graph, (F32, F64))
    if graph.fact(x).bound > 60:
        return False
    gone, kept, iteration = parted(graph, x)
    t = x.element.name
    outs = [graph.filled(x.element, kept, -100), graph.filled(x.element, kept, 1)]
    lines = [f"%m = arith.maximumf %s1, %s0 : {t}", f"%d = arith.subf %s1, %m : {t}", f"%e = math.exp %d : {t}",
             f"%k = arith.mulf %s2, %e : {t}", f"%g = arith.subf %s0, %m : {t}", f"%h = math.exp %g : {t}",
             f"%s = arith.addf %k, %h : {t}"]
    most, total = ops.generic(graph, iteration, [x], outs, lines, ["%m", "%s"], reduce=gone)
    axes = tuple(iteration.index(d) for d in gone)

    def tops(env):
        array = align(env[x.name], x.dims, iteration)
        return array, array.max(axis=axes, initial=-100, keepdims=True)

    def sums(env):
        array, top = tops(env)
        return kept_of(np.exp(array - top).sum(axis=axes) + np.squeeze(np.exp(-100 - top), axes), iteration, kept)

    graph.add(most, Fact(graph.fact(x).exact, 100), lambda env: kept_of(np.squeeze(tops(env)[1], axes), iteration, kept))
    graph.add(total, Fact(False, graph.most(gone) + 1), sums)
    if not kept or graph.random.random() < 0.5:
        return True
    made, = ops.generic(graph, kept, [graph.take(most), graph.take(total)], [graph.output(x.element, kept)],
                        [f"%l = math.log %s1 : {t}", f"%r = arith.addf %l, %s0 : {t}"], ["%r"])
    graph.add(made, Fact(False, 120), lambda env: np.log(env[total.name]) + env[most.name])
    return True


def norm(graph):
    """Mean and variance of rows, and the rows by them: a layer norm, with what front ends do about types."""
    random = graph.random
    x = input_of(graph, (F32, F16, BF16), 1, 3)
    along = random.choice(x.dims)
    fact = graph.fact(x)
    if graph.least(along) == 0 or fact.bound > 100:
        return False
    kept, t = x.dims.replace(along, ""), x.element.name
    wide = [f"%x = arith.extf %s0 : {t} to f32"] if t != "f32" else []
    value = "%x" if wide else "%s0"
    sums = ops.generic(graph, x.dims, [x], [graph.filled(F32, kept, 0), graph.filled(F32, kept, 0)],
                       wide + [f"%q = arith.mulf {value}, {value} : f32", f"%a = arith.addf %s1, {value} : f32",
                               "%b = arith.addf %s2, %q : f32"], ["%a", "%b"], reduce=along)
    weight = graph.take(graph.argument(F32, along))
    count = graph.function.raw(f"arith.index_cast {graph.size_of(along)} : index to i32", I32, None).name
    number = graph.function.raw(f"arith.sitofp {count} : i32 to f32", F32, None).name
    one = graph.constant(F32, 1).name
    lines = wide + [f"%m = arith.divf %s1, {number} : f32", f"%n = arith.divf %s2, {number} : f32", "%mm = arith.mulf %m, %m : f32",
                    "%v = arith.subf %n, %mm : f32", "%u = math.absf %v : f32", f"%w = arith.addf %u, {one} : f32",
                    "%r = math.rsqrt %w : f32", f"%c = arith.subf {value}, %m : f32", "%k = arith.mulf %c, %r : f32",
                    "%y = arith.mulf %k, %s3 : f32"]
    made, = ops.generic(graph, x.dims, [x, *sums, weight], [graph.output(F32, x.dims)], lines, ["%y"])
    axis = x.dims.index(along)
    for value, power in zip(sums, (1, 2)):
        graph.take(graph.add(value, Fact(False, graph.most(along) * max(1, fact.bound) ** 2),
                             lambda env, power=power: (env[x.name] ** power).sum(axis=axis)))

    def compute(env):
        array = env[x.name]
        n = array.shape[axis]
        mean = array.sum(axis=axis, keepdims=True) / n
        spread = abs((array * array).sum(axis=axis, keepdims=True) / n - mean * mean)
        return (array - mean) / np.sqrt(spread + 1) * align(env[weight.name], along, x.dims)

    graph.add(made, Fact(False, 2 * max(fact.bound, 1) * graph.fact(weight).bound), compute)
    return True


# ---------------------------------------------------------------------------
# Elements at computed coordinates
# ---------------------------------------------------------------------------

def last_of(graph, letter):
    """The last place of a dim, as the name of an index."""
    return graph.function.raw(f"arith.subi {graph.size_of(letter)}, {graph.index(1)} : index", I32, None).name


def clamped(lines, name, value, last, zero):
    lines += [f"%lo{name} = arith.maxsi {value}, {zero} : index", f"%in{name} = arith.minsi %lo{name}, {last} : index"]
    return f"%in{name}"


def along(graph):
    """take_along_axis, or a gather by several operands of coordinates: each dim of the table is read at its loop or by number."""
    random, f = graph.random, graph.function
    table = input_of(graph, (F32, F16, BF16, I32, I8, I64, F64, BIT))
    if any(graph.least(d) == 0 for d in table.dims):
        return False
    picked = "".join(d for d in table.dims if random.random() < 0.6) or random.choice(table.dims)
    loops = table.dims
    for d in picked:  # loops of other sizes than the table's dims
        if random.random() < 0.6:
            other = random.choice([e for e in graph.size if e not in loops + table.dims] or [graph.base_dim()])
            if graph.most(loops.replace(d, other)) <= graph.largest:
                loops = loops.replace(d, other)
    place = dict(zip(table.dims, loops))
    iteration = "".join(random.sample(loops, len(loops)))
    zero = graph.index(0)
    ins, lines, where = [], [], []
    for n, d in enumerate(table.dims):
        if d in picked:
            dims = "".join(e for e in iteration if random.random() < 0.5) or random.choice(iteration)
            ins.append(graph.with_dims(dims, element=random.choice([I32, I64])))
        elif place[d] != d:
            raise Impossible
    numbers = iter(enumerate(ins))
    last = {d: last_of(graph, d) for d in picked}
    for n, d in enumerate(table.dims):
        if d in picked:
            i, v = next(numbers)
            lines.append(f"%i{n} = arith.index_cast %s{i} : {v.element.name} to index")
            where.append(clamped(lines, n, f"%i{n}", last[d], zero))
        else:
            lines.append(f"%x{n} = linalg.index {iteration.index(d)} : index")
            where.append(f"%x{n}")
    lines.append(f"%v = tensor.extract {table.name}[{', '.join(where)}] : {f.value_type(table)}")
    made, = ops.generic(graph, iteration, ins, [graph.output(table.element, iteration)], lines, ["%v"])

    def compute(env):
        x, coordinates, used = env[table.name], [], iter(ins)
        for axis, d in enumerate(table.dims):
            if d in picked:
                v = next(used)
                numbers = np.clip(align(env[v.name], v.dims, iteration), 0, x.shape[axis] - 1)
            else:
                numbers = align(np.arange(x.shape[axis]), d, iteration)
            coordinates.append(np.broadcast_to(numbers, graph.shape(env, iteration)))
        return x[tuple(coordinates)]

    graph.add(made, graph.fact(table), compute)
    return True


def mirrored(graph):
    """A value and itself backwards, or moved by some places, along a dim, in one body."""
    random, f = graph.random, graph.function
    x = input_of(graph, (F32, F16, I32, I8, F64))
    along_dim = random.choice(x.dims)
    if graph.least(along_dim) == 0:
        return False
    t, kind = x.element.name, "f" if x.element.is_float else "i"
    fact = graph.fact(x)
    made_fact = Fact(fact.exact, 2 * fact.bound)
    if not x.element.is_float:
        made_fact.bound = min(made_fact.bound, whole(x.element) + 1)
    if not made_fact.fits(x.element):
        return False
    last, zero = last_of(graph, along_dim), graph.index(0)
    back, by = random.random() < 0.5, random.randint(-3, 3)
    iteration = "".join(random.sample(x.dims, len(x.dims)))
    lines = [f"%x{n} = linalg.index {iteration.index(d)} : index" for n, d in enumerate(x.dims)]
    axis = x.dims.index(along_dim)
    if back:
        lines.append(f"%k = arith.subi {last}, %x{axis} : index")
        place = "%k"
    else:
        lines.append(f"%k = arith.addi %x{axis}, {graph.index(by)} : index")
        place = clamped(lines, axis, "%k", last, zero)
    where = ", ".join(place if n == axis else f"%x{n}" for n in range(len(x.dims)))
    lines += [f"%v = tensor.extract {x.name}[{where}] : {f.value_type(x)}", f"%r = arith.add{kind} %v, %s0 : {t}"]
    made, = ops.generic(graph, iteration, [x], [graph.output(x.element, iteration)], lines, ["%r"])

    def compute(env):
        array = env[x.name]
        n = array.shape[axis]
        places = n - 1 - np.arange(n) if back else np.clip(np.arange(n) + by, 0, n - 1)
        return x.element.round(np.transpose(array + np.take(array, places, axis=axis), [x.dims.index(d) for d in iteration]))

    graph.add(made, made_fact, compute)
    return True


def pad_mode(graph):
    """tensor.pad of all dims at once: a constant, the nearest element, or the one that stands opposite of the edge."""
    random, f = graph.random, graph.function
    x = input_of(graph, (F32, F16, BF16, I32, I8, F64, BIT))
    mode = random.choice(["constant", "edge", "reflect"])
    room = min(graph.least(d) for d in x.dims)
    if mode != "constant" and room == 0:
        return False
    most = 4 if mode != "reflect" else min(4, room - 1)
    widths = [(random.randint(0, most), random.randint(0, most)) if random.random() < 0.8 else (0, 0) for _ in x.dims]
    letters = [ops.resized(graph, d, lambda n, w=sum(w): n + w, lambda size, w=sum(w): ops.divided(graph, [("addi", w)], size, 1))
               for d, w in zip(x.dims, widths)]
    dims = "".join(letters)
    if graph.most(dims) > 4 * graph.largest:
        raise Impossible
    fact, lines = graph.fact(x), []
    if mode == "constant":
        number = random.choice([0, 1]) if x.element is BIT else random.choice([0, 1, -2])
        value = graph.constant(x.element, number).name
        fact = Fact(fact.exact, max(fact.bound, abs(number)))
    else:
        where = []
        lasts, zero = [last_of(graph, d) for d in x.dims], graph.index(0)
        for n, (last, (low, _)) in enumerate(zip(lasts, widths)):
            lines.append(f"%p{n} = arith.subi %i{n}, {graph.index(low)} : index")
            if mode == "edge":
                where.append(clamped(lines, n, f"%p{n}", last, zero))
                continue
            # |p|, then last - |last - p|: for what is beyond either end by less than a size
            lines += [f"%n{n} = arith.subi {zero}, %p{n} : index", f"%a{n} = arith.maxsi %p{n}, %n{n} : index",
                      f"%b{n} = arith.subi {last}, %a{n} : index", f"%c{n} = arith.subi {zero}, %b{n} : index",
                      f"%d{n} = arith.maxsi %b{n}, %c{n} : index", f"%e{n} = arith.subi {last}, %d{n} : index"]
            where.append(f"%e{n}")
        lines.append(f"%v = tensor.extract {x.name}[{', '.join(where)}] : {f.value_type(x)}")
        value = "%v"
    block = ", ".join(f"%i{n}: index" for n in range(len(dims)))
    body = "".join(f"        {line}\n" for line in [*lines, f"tensor.yield {value} : {x.element.name}"])
    made = f.raw(f"tensor.pad {x.name} low[{', '.join(str(w[0]) for w in widths)}] high[{', '.join(str(w[1]) for w in widths)}] {{\n"
                 f"      ^bb0({block}):\n{body}    }} : {f.value_type(x)} to {f.type(x.element, dims)}", x.element, dims)

    def compute(env):
        if mode == "constant":
            return np.pad(env[x.name], widths, constant_values=number)
        return np.pad(env[x.name], widths, mode=mode)

    graph.add(made, fact, compute)
    return True


# ---------------------------------------------------------------------------
# Products
# ---------------------------------------------------------------------------

def quantised(graph):
    """x · ((w - zero) · scale), with weights of few bits, in groups or not; batches share the weights or have their own."""
    random, f = graph.random, graph.function
    graph.largest = min(graph.largest, 4000)
    batched, grouped, own = random.random() < 0.5, random.random() < 0.4, random.random() < 0.3
    letters = [graph.base_dim() for _ in range(3 + batched + grouped)]
    rows, columns, sums = letters[:3]
    batch = letters[3] if batched else ""
    group = letters[-1] if grouped else ""
    if graph.most(letters) > 40 * graph.largest:
        raise Impossible
    real = random.choice([F16, F32, BF16])
    narrow = random.choice([I8, I8, I4])
    if narrow is I4 and not graph.is_static(sums):
        narrow = I8  # calls with odd rows of half bytes are errors
    inner = group + sums
    w_dims = (batch if own else "") + columns + inner
    x = graph.take(graph.argument(real, batch + rows + inner, exact=True))
    bound = 7 if narrow is I4 else 9
    value = f.arg(narrow, w_dims)
    graph.arguments.append(type(graph.arguments[0])(value, integers(-bound, bound)))
    graph.facts[value.name] = Fact(True, bound)
    per = (columns + group) if random.random() < 0.7 else columns
    scale = graph.take(graph.argument(real, per, exact=True))
    t = real.name
    lines, ins = [f"%f = arith.sitofp %s0 : {narrow.name} to {t}"], [value, scale]
    made_bound, zero = bound * graph.fact(scale).bound, None
    if random.random() < 0.5:
        zero = graph.take(graph.argument(real, per, exact=True))
        ins.append(zero)
        lines.append(f"%d = arith.subf %f, %s2 : {t}")
        made_bound = (bound + graph.fact(zero).bound) * graph.fact(scale).bound
    if not Fact(True, made_bound).fits(real):
        return False
    lines.append(f"%p = arith.mulf {'%d' if zero else '%f'}, %s1 : {t}")
    order = w_dims if random.random() < 0.7 else "".join(random.sample(w_dims, len(w_dims)))
    weights, = ops.generic(graph, w_dims, ins, [graph.output(real, order)], lines, ["%p"])

    def compute(env):
        w = env[value.name]
        if zero:
            w = w - align(env[zero.name], per, w_dims)
        return np.transpose(w * align(env[scale.name], per, w_dims), [w_dims.index(d) for d in order])

    graph.take(graph.add(weights, Fact(True, made_bound), compute))
    graph.used.add(value.name)
    out = F32 if random.random() < 0.7 else real
    return ops.contract(graph, x, weights, batch + rows + columns, out) is not None


def attention(graph):
    """tilewright.attention with heads, groups, masks and windows."""
    random, f = graph.random, graph.function
    element = random.choice([F32, F16, BF16])
    heads = graph.letter([random.choice([1, 2, 3])] * graph.case_count, known=True)
    group = graph.letter([random.choice([2, 3])] * graph.case_count, known=True) if random.random() < 0.3 else ""
    i, j = graph.base_dim(), graph.base_dim()
    depth = graph.letter([random.choice([4, 8, 16, 33, 64])] * graph.case_count, known=True)
    width = graph.letter([random.choice([4, 8, 16, 33, 64])] * graph.case_count, known=True) if random.random() < 0.4 else depth
    if width == depth:  # a map needs a loop of its own
        width = graph.letter(graph.size[depth], known=True)
    lead = heads + group
    first = random.random() < 0.3  # tokens in front of heads
    q, k, v, o = ((n + b if first else b + n) + d for b, n, d in ((lead, i, depth), (heads, j, depth), (heads, j, width), (lead, i, width)))
    if graph.most(o) > graph.largest or graph.most(lead + i + j) > graph.largest:
        raise Impossible
    iteration = lead + i + j + depth + width
    ins = [graph.take(graph.argument(element, dims, exact=False)) for dims in (q, k, v)]
    maps, causal = [q, k, v], random.choice([None, None, "top_left", "bottom_right"])
    text = f"tilewright.attention ins({', '.join(x.name for x in ins)} : {', '.join(f.value_type(x) for x in ins)}) "
    mask = None
    if random.random() < 0.4:
        mask = graph.take(graph.argument(random.choice([BIT, F32]), random.choice([i + j, j, lead + i + j, heads + j])))
        maps.append(mask.dims)
        text += f"mask({mask.name} : {f.value_type(mask)}) "
    out = graph.output(element, o)
    maps.append(o)
    attributes = [f"indexing_maps = [{', '.join(f.map(iteration, dims) for dims in maps)}]"]
    if causal:
        attributes.append(f'causal = "{causal}"')
    window = (random.choice([-1, 0, 2, 9]), -1 if causal else random.choice([-1, 0, 3])) if random.random() < 0.3 else None
    if window and max(window) < 0:
        window = None
    if window:
        attributes.append(f"window = array<i64: {window[0]}, {window[1]}>")
    softcap = 5.0 if random.random() < 0.2 else 0
    if softcap:
        attributes.append(f"softcap = {softcap:.1e}")
    kind = f.value_type(out)
    made = f.raw(f"{text}outs({out.name} : {kind}) {{{', '.join(attributes)}}} -> {kind}", element, o)

    def compute(env):
        def canonical(value, inner):
            wide = align(env[value.name], value.dims, "".join(d for d in lead + inner if d in lead or d in value.dims))
            present = [d for d in lead + inner if d in lead or d in value.dims]
            return wide.reshape([wide.shape[present.index(d)] if d in present else 1 for d in lead + inner])

        arrays = [canonical(x, inner) for x, inner in zip(ins, (i + depth, j + depth, j + width))]
        seen = None
        if mask is not None:
            seen = canonical(mask, i + j)
            seen = seen != 0 if mask.element is BIT else seen
        result, _ = numpy_attention(*arrays, seen, arrays[0].shape[-1] ** -0.5, causal, window, softcap)
        return np.transpose(result, [(lead + i + width).index(d) for d in o])

    graph.add(made, Fact(False, 1), compute)
    return True


# How often each is taken.
WEIGHTS = {several: 5, pairs: 5, log_sum_exp: 3, norm: 3, along: 6, mirrored: 4, pad_mode: 5, quantised: 5, attention: 4}
