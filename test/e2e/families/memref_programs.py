# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on memrefs: what is read and written when.

Copies, swaps, rotations, updates in place of overlapping views, single elements, loops and branches around them. Each
statement writes MLIR and changes NumPy arrays, so the golden is a plain interpreter that knows no tensors. A program is
determined by its number; `run.py --memref-programs FROM:COUNT` tries others than those of every run.
"""

import random

import numpy as np

from data import I32, integers
from functions import EXACT, Function

FIRST, COUNT = 1, 8
LENGTH, ROWS, COLUMNS = 48, 6, 8
OPS = {"addi": np.add, "subi": np.subtract, "xori": np.bitwise_xor, "maxsi": np.maximum, "minsi": np.minimum}


class View:
    """A box of a memref; offsets are (loop variable or None, constant)."""

    def __init__(self, root, offsets=None, sizes=None, strides=None, reshaped=False):
        self.root, self.offsets, self.strides, self.reshaped = root, offsets, strides, reshaped
        self.sizes = sizes or ([ROWS, COLUMNS] if reshaped else root.shape)

    def same(self, other):
        return self.root is other.root and (self.offsets, list(self.sizes), self.strides, self.reshaped) == \
            (other.offsets, list(other.sizes), other.strides, other.reshaped)

    def apart(self, other, loops):
        """Whether no elements are shared, in any iteration, and boxes tell so."""
        if self.root is not other.root:
            return True
        if not self.offsets or not other.offsets:
            return False
        used = {i for v in (self, other) for i, _ in v.offsets if i}
        variables = [dict()]
        for name in used:
            variables = [{**v, name: i} for v in variables for i in range(loops[name])]

        def dims(values):
            for a, b, n, m, s, t in zip(self.offsets, other.offsets, self.sizes, other.sizes, self.strides, other.strides):
                first, second = (c + (values[i] if i else 0) for i, c in (a, b))
                static = not a[0] and not b[0]
                yield first + (n - 1) * s < second or second + (m - 1) * t < first or \
                    (static and s == t == 2 and (first - second) % 2 == 1)
        return all(any(dims(values)) for values in variables)

    def array(self, state):
        """What of the root's array it is: NumPy's view of it."""
        array = state[self.root.name]
        if self.reshaped:
            return array.reshape(ROWS, COLUMNS)
        if not self.offsets:
            return array
        starts = [c + (state[i] if i else 0) for i, c in self.offsets]
        return array[tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(starts, self.sizes, self.strides))]


class Root:
    def __init__(self, name, shape, dynamic):
        self.name, self.shape, self.dynamic = name, shape, dynamic
        self.type = f"memref<{'x'.join('?' if dynamic else str(n) for n in shape)}xi32>"


class Writer:
    """Writes a program as MLIR, and keeps the same program as functions on arrays."""

    def __init__(self, number, dynamic):
        self.random = random.Random(number)
        self.f = Function("memref_program", "i32", str(number), {"l": LENGTH, "m": ROWS, "n": COLUMNS}, dynamic)
        self.roots, self.loops, self.indices, self.steps = [], {}, {}, []
        for dims in ("l", "l", "mn", "mn"):
            shape = [self.f.sizes[d] for d in dims]
            value = self.f.arg(I32, dims, True)
            self.roots.append(Root(value.name, shape, dynamic))
        for i in range(1, 4):
            self.indices[i] = self.f.raw(f"arith.constant {i} : index", I32, None).name

    def emit(self, text):
        self.f.emit("  " * len(self.loops) + text)

    def index(self, number):
        if number not in self.indices:
            return self.f.raw(f"arith.constant {number} : index", I32, None).name
        return self.indices[number]

    # Operands

    def view(self, sizes=None, tries=True):
        """A random view, of `sizes` if given."""
        rank = len(sizes) if sizes else self.random.choice([1, 2])
        root = self.random.choice([r for r in self.roots if len(r.shape) == rank])
        if rank == 2 and not root.dynamic and self.random.random() < 0.15 and sizes in (None, [ROWS, COLUMNS]):
            return View(self.random.choice([r for r in self.roots if len(r.shape) == 1]), reshaped=True)
        if (sizes is None and self.random.random() < 0.35) or sizes == root.shape:
            return View(root)
        offsets, strides, chosen = [], [], []
        for dim, extent in enumerate(root.shape):
            size = sizes[dim] if sizes else self.random.randint(1, extent // 2)
            stride = 2 if 2 * size <= extent - 3 and self.random.random() < 0.25 else 1
            room = extent - ((size - 1) * stride + 1)
            variable = None
            if self.loops and self.random.random() < 0.5:
                variable = self.random.choice([*self.loops])
                room -= self.loops[variable] - 1
                if room < 0:
                    variable, room = None, room + self.loops[variable] - 1
            offsets.append((variable, self.random.randint(0, max(room, 0))))
            strides.append(stride)
            chosen.append(size)
        return View(root, offsets, chosen, strides)

    def operand(self, view):
        """The view's name and type, taken here."""
        root = view.root
        if view.reshaped:
            name = self.f.fresh()
            result = f"memref<{ROWS}x{COLUMNS}xi32>"
            self.emit(f"{name} = memref.expand_shape {root.name} [[0, 1]] output_shape [{ROWS}, {COLUMNS}] : "
                      f"{root.type} into {result}")
            return name, result
        if not view.offsets:
            return root.name, root.type
        texts = []
        for variable, constant in view.offsets:
            if variable:
                name = self.f.fresh()
                self.emit(f"{name} = arith.addi {variable}, {self.index(constant)} : index")
                texts.append(name)
            else:
                texts.append(str(constant))
        steps = [1] if len(root.shape) == 1 else ["?" if root.dynamic else root.shape[1], 1]
        strides = ["?" if s == "?" else s * t for s, t in zip(steps, view.strides)]
        offset = 0
        for (variable, constant), step in zip(view.offsets, steps):
            offset = "?" if variable or offset == "?" or (step == "?" and constant) else \
                offset + (constant * step if constant else 0)
        layout = f"strided<[{', '.join(map(str, strides))}], offset: {offset}>"
        name = self.f.fresh()
        result = f"memref<{'x'.join(map(str, view.sizes))}xi32, {layout}>"
        self.emit(f"{name} = memref.subview {root.name}[{', '.join(texts)}] [{', '.join(map(str, view.sizes))}] "
                  f"[{', '.join(map(str, view.strides))}] : {root.type} to {result}")
        return name, result

    def source(self, target):
        """A view of the target's sizes that is the target, or shares nothing with it."""
        for _ in range(30):
            view = self.view(list(target.sizes))
            if list(view.sizes) == list(target.sizes) and \
                    (view.same(target) or view.apart(target, self.loops)):
                return view
        return target

    # Statements

    def copy(self, source, target):
        (a, ta), (b, tb) = self.operand(source), self.operand(target)
        if self.random.random() < 0.5:
            self.emit(f"memref.copy {a}, {b} : {ta} to {tb}")
        else:
            self.emit(f"linalg.copy ins({a} : {ta}) outs({b} : {tb})")

        def run(state):
            target.array(state)[...] = source.array(state).copy()
        self.steps.append(run)

    def fill(self, target):
        value = self.random.randint(-9, 9)
        scalar = self.f.fresh()
        self.emit(f"{scalar} = arith.constant {value} : i32")
        b, tb = self.operand(target)
        self.emit(f"linalg.fill ins({scalar} : i32) outs({b} : {tb})")

        def run(state):
            target.array(state)[...] = value
        self.steps.append(run)

    def combine(self, sources, target, uses_target):
        """target := the sources, and the target itself if `uses_target`, combined; with a constant if that is one."""
        op = self.random.choice([*OPS])
        operands = [self.operand(s) for s in sources]
        b, tb = self.operand(target)
        constant = self.random.randint(1, 5)
        scalars = [f"%s{i}" for i in range(len(sources))] + (["%out"] if uses_target else [])
        if len(scalars) == 1:
            scalars.append("%c")
        names = ", ".join(f"d{i}" for i in range(len(target.sizes)))
        maps = ", ".join([f"affine_map<({names}) -> ({names})>"] * (len(sources) + 1))
        kinds = ", ".join(['"parallel"'] * len(target.sizes))
        ins = f"ins({', '.join(n for n, _ in operands)} : {', '.join(t for _, t in operands)}) " if sources else ""
        block = ", ".join([f"%s{i}: i32" for i in range(len(sources))] + ["%out: i32"])
        self.emit(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}outs({b} : {tb}) {{\n"
                  f"      ^bb0({block}):\n        %c = arith.constant {constant} : i32\n"
                  f"        %t = arith.{op} {scalars[0]}, {scalars[1]} : i32\n        linalg.yield %t : i32\n    }}")

        def run(state):
            values = [s.array(state).copy() for s in sources]
            if uses_target:
                values.append(target.array(state).copy())
            values.append(np.int64(constant))
            target.array(state)[...] = I32.round(OPS[op](values[0], values[1]))
        self.steps.append(run)

    def through_temporaries(self, views):
        """A swap of two views, or a rotation of more."""
        if any(not a.apart(b, self.loops) for i, a in enumerate(views) for b in views[:i]):
            return
        shape = list(views[0].sizes)
        temporary = Root(self.f.fresh(), shape, False)
        self.emit(f"{temporary.name} = memref.alloc() : {temporary.type}")
        self.steps.append(lambda state: state.update({temporary.name: np.zeros(shape, np.int64)}))
        ring = [View(temporary), *views, View(temporary)]
        for target, source in zip(ring, ring[1:]):
            self.copy(source, target)
        if self.random.random() < 0.5:
            self.emit(f"memref.dealloc {temporary.name} : {temporary.type}")

    def element(self):
        """One element of one memref, or the sum of two, to another."""
        places = []
        for _ in range(2):
            root = self.random.choice(self.roots)
            places.append((root, [self.random.randrange(n) for n in root.shape]))
        (source, i), (target, j) = places
        value = self.f.fresh()
        self.emit(f"{value} = memref.load {source.name}[{', '.join(map(self.index, i))}] : {source.type}")
        # What is between the load and the store may change what was loaded.
        self.steps.append(lambda state: state.update({value: int(state[source.name][tuple(i)])}))
        if self.random.random() < 0.5:
            self.simple()
        self.emit(f"memref.store {value}, {target.name}[{', '.join(map(self.index, j))}] : {target.type}")

        def store(state):
            state[target.name][tuple(j)] = state[value]
        self.steps.append(store)

    def loop(self):
        count = self.random.randint(2, 3)
        variable = self.f.fresh()
        zero, one, end = (self.f.raw(f"arith.constant {i} : index", I32, None).name for i in (0, 1, count))
        self.emit(f"scf.for {variable} = {zero} to {end} step {one} {{")
        self.loops[variable] = count
        kept, known, self.steps = self.steps, dict(self.indices), []
        for _ in range(self.random.randint(1, 3)):
            self.statement()
        body, self.steps, self.indices = self.steps, kept, known
        del self.loops[variable]
        self.emit("}")

        def run(state):
            for i in range(count):
                state[variable] = i
                for step in body:
                    step(state)
        self.steps.append(run)

    def branch(self):
        """One of two, by the number of the iteration."""
        variable = self.random.choice([*self.loops])
        value = self.random.randrange(self.loops[variable])
        condition = self.f.fresh()
        self.emit(f"{condition} = arith.cmpi eq, {variable}, {self.index(value)} : index")
        self.emit(f"scf.if {condition} {{")
        kept, bodies = self.steps, []
        for _ in range(2):
            self.steps = []
            self.simple()
            bodies.append(self.steps)
            self.emit("} else {" if len(bodies) == 1 else "}")
        self.steps = kept

        def run(state):
            for step in bodies[state[variable] != value]:
                step(state)
        self.steps.append(run)

    def simple(self):
        kind = self.random.choice(["copy", "copy", "fill", "update", "add", "add", "both", "swap", "rotate"])
        target = self.view()
        if kind == "copy":
            self.copy(self.source(target), target)
        elif kind == "fill":
            self.fill(target)
        elif kind == "update":
            self.combine([], target, True)
        elif kind == "add":
            self.combine([self.source(target)], target, True)
        elif kind == "both":
            self.combine([self.source(target), self.source(target)], target, False)
        elif not target.root.dynamic or target.offsets:
            views = [target] + [self.source(target) for _ in range(1 if kind == "swap" else 2)]
            self.through_temporaries(views)

    def statement(self):
        if len(self.loops) < 2 and self.random.random() < 0.2:
            self.loop()
        elif self.loops and self.random.random() < 0.2:
            self.branch()
        elif self.random.random() < 0.15:
            self.element()
        else:
            self.simple()

    def finish(self):
        for _ in range(self.random.randint(3, 7)):
            self.statement()
        steps, names = self.steps, [root.name for root in self.roots]

        def reference(*arrays):
            state = {name: np.array(array, np.int64) for name, array in zip(names, arrays)}
            for step in steps:
                step(state)
            return [state[name] for name in names]

        self.f.case("run", {}, integers(-99, 99), EXACT, reference)
        return self.f


def functions():
    for number in range(FIRST, FIRST + COUNT):
        yield Writer(number, dynamic=number % 2 == 0).finish()
