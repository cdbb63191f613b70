# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing the functions of the generated modules.

A function is written once over *named* dims, and printed with static sizes or
with `?`:

    f = Function("matmul", "f32", "9x9x9", {"m": 9, "n": 9, "k": 9})
    a, b = f.arg(F32, "mk"), f.arg(F32, "kn")
    f.ret(f.op("linalg.matmul", [a, b], f.zeros(F32, "mn")))

Maps of generic ops are read off the names: an operand with dims "mk" inside an
iteration over "mnk" has the map (m, n, k) -> (m, k). A dynamic dim's size comes
from the first argument that has it.
"""

import dataclasses
import hashlib
import typing

from data import I32, make


@dataclasses.dataclass
class Value:
    name: str
    element: typing.Any
    dims: str
    memref: bool = False
    type_text: str = None  # where it is not the type of element and dims
    result: int = None  # of an argument: the result that is in its memory, and not returned


@dataclasses.dataclass
class Case:
    name: str
    inputs: list  # descriptions for the runner
    check: dict
    reference: typing.Callable = None  # arrays of the arguments to arrays of the outputs
    error: str = None
    targets: set = None  # where it is tried; None: wherever its function is compiled for

    def golden(self, args):
        """The outputs as float64 or int64 arrays: results, or memref arguments.

        A reference may give the last memrefs alone: those before are unchanged.
        """
        arrays = [make(a.element, [int(d) for d in i["type"].removesuffix(a.element.name).split("x") if d], i)
                  for a, i in zip(args, self.inputs)]
        outputs = self.reference(*arrays)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        memrefs = [x for a, x in zip(args, arrays) if a.memref]
        return memrefs[:len(memrefs) - len(outputs)] + outputs if memrefs else outputs


class Function:
    def __init__(self, family, element, label, dims, dynamic=False, targets=None, known=""):
        """`targets`: the first words of those that it is for, where not all are ("cuda")."""
        shape = "dynamic" if dynamic else "static"
        self.family, self.element, self.shape = family, element, shape
        # Family names may have a variant, "contract.vecmat": one family in tables.
        self.symbol = f"{family}_{element}_{shape}_{label}".replace(".", "_").replace("-", "_")
        self.path = f"{family}/{element}/{shape}/{label}"
        self.sizes = dict(dims)
        self.dynamic, self.targets, self.known = dynamic, targets, known
        self.fp = ()  # what the program allows floats, as --fp does
        self.args, self.lines, self.returned, self.globals = [], [], [], []
        self.cases = []
        self.counter = 0
        self.sized = {}

    # Types and operands

    def type(self, element, dims, memref=False):
        parts = ["?" if self.is_dynamic(d) else str(self.sizes[d]) for d in dims]
        return f"{'memref' if memref else 'tensor'}<{'x'.join(parts + [element.name])}>"

    def is_dynamic(self, d):
        """Of a dynamic function, dims in lower case but for those in `known`."""
        return self.dynamic and d.islower() and d not in self.known

    def value_type(self, value):
        if value.type_text:
            return value.type_text
        if value.dims is None:
            return value.element.name
        return self.type(value.element, value.dims, value.memref)

    def arg(self, element, dims, memref=False, type_text=None):
        value = Value(f"%arg{len(self.args)}", element, dims, memref, type_text)
        self.args.append(value)
        return value

    def scalar_arg(self, element):
        return self.arg(element, None)

    def fresh(self):
        self.counter += 1
        return f"%v{self.counter}"

    def emit(self, text):
        self.lines.append("    " + text)

    def raw(self, text, element, dims, memref=False):
        """One op with one result, given as text."""
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return Value(name, element, dims, memref)

    def constant(self, element, value):
        if element.is_float:
            literal = {float("inf"): "0x7F800000", float("-inf"): "0xFF800000"}.get(value)
            if literal is None:
                literal = f"{float(value):.17e}" if value != int(value) else f"{float(value):.1f}"
            else:
                bits = {"f64": ("7FF0000000000000", "FFF0000000000000"), "f32": ("7F800000", "FF800000"),
                        "f16": ("7C00", "FC00"), "bf16": ("7F80", "FF80")}[element.name]
                literal = "0x" + bits[value < 0]
        else:
            literal = str(int(value))
        return self.raw(f"arith.constant {literal} : {element.name}", element, None)

    def size_of(self, dim):
        """The size of a dynamic dim, as an index."""
        if dim not in self.sized:
            source = next(a for a in self.args if a.dims and dim in a.dims)
            position = self.raw(f"arith.constant {source.dims.index(dim)} : index", I32, None).name
            op = "memref.dim" if source.memref else "tensor.dim"
            self.sized[dim] = self.raw(
                f"{op} {source.name}, {position} : {self.value_type(source)}", I32, None).name
        return self.sized[dim]

    def empty(self, element, dims):
        sizes = ", ".join(self.size_of(d) for d in dims if self.is_dynamic(d))
        return self.raw(f"tensor.empty({sizes}) : {self.type(element, dims)}", element, dims)

    def fill(self, scalar, target):
        return self.op("linalg.fill", [scalar], target)

    def filled(self, element, dims, value):
        return self.fill(self.constant(element, value), self.empty(element, dims))

    def zeros(self, element, dims):
        return self.filled(element, dims, 0)

    # Ops

    def pad(self, x, dims, low, high, value):
        """`x` as a tensor of `dims`: numbers of elements more, in front and behind; `value`: a scalar to fill with."""
        block = ", ".join(f"%i{d}: index" for d in range(len(dims)))
        return self.raw(f"tensor.pad {x.name} low[{', '.join(map(str, low))}] high[{', '.join(map(str, high))}] {{\n"
                        f"      ^bb0({block}):\n        tensor.yield {value.name} : {x.element.name}\n    }} : "
                        f"{self.value_type(x)} to {self.type(x.element, dims)}", x.element, dims)

    def op(self, name, ins, out, attributes="", suffix=""):
        """A linalg op in the named form."""
        names = ", ".join(v.name for v in ins)
        types = ", ".join(self.value_type(v) for v in ins)
        text = f"{name}{' ' + attributes if attributes else ''} ins({names} : {types}) " \
               f"outs({out.name} : {self.value_type(out)}){suffix}"
        if out.memref:
            self.emit(text)
            return out
        result = "" if name == "linalg.transpose" or name == "linalg.broadcast" or name == "linalg.map" \
            or name == "linalg.reduce" else f" -> {self.value_type(out)}"
        return self.raw(text + result, out.element, out.dims)

    def generic(self, iteration, ins, outs, body, reduce="", attributes=""):
        """`body(lines, *scalars)` returns the names to yield; it appends to lines."""
        outs = outs if isinstance(outs, list) else [outs]
        maps = ", ".join(self.map(iteration, v.dims) for v in ins + outs)
        kinds = ", ".join('"reduction"' if d in reduce else '"parallel"' for d in iteration)
        scalars = [f"%s{i}" for i in range(len(ins) + len(outs))]
        lines = []
        yielded = body(lines, *scalars)
        yielded = yielded if isinstance(yielded, (list, tuple)) else [yielded]
        block = ", ".join(f"{s}: {v.element.name}" for s, v in zip(scalars, ins + outs))

        def operands(values):
            return f"({', '.join(v.name for v in values)} : {', '.join(self.value_type(v) for v in values)})"

        text = f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
        if ins:
            text += f"ins{operands(ins)} "
        text += f"outs{operands(outs)} {f'attrs = {{{attributes}}} ' if attributes else ''}{{\n      ^bb0({block}):\n"
        text += "".join(f"        {line}\n" for line in lines)
        text += f"        linalg.yield {', '.join(yielded)} : {', '.join(v.element.name for v in outs)}\n    }}"
        if outs[0].memref:
            self.emit(text)
            return outs[0]
        types = ", ".join(self.value_type(v) for v in outs)
        if len(outs) == 1:
            return self.raw(f"{text} -> {types}", outs[0].element, outs[0].dims)
        name = self.fresh()
        self.emit(f"{name}:{len(outs)} = {text} -> ({types})")
        return [Value(f"{name}#{i}", v.element, v.dims) for i, v in enumerate(outs)]

    def map(self, iteration, dims):
        return f"affine_map<({', '.join('d_' + d for d in iteration)}) -> " \
               f"({', '.join('d_' + d for d in dims)})>"

    def ret(self, *values):
        self.returned = list(values)

    def text(self):
        def donated(arg):
            return "" if arg.result is None else f" {{tf.aliasing_output = {arg.result} : i32}}"
        args = ", ".join(f"{a.name}: {self.value_type(a)}{donated(a)}" for a in self.args)
        types = ", ".join(self.value_type(v) for v in self.returned)
        arrow = f" -> ({types})" if self.returned else ""
        names = ", ".join(v.name for v in self.returned)
        end = f"    return {names} : {types}" if self.returned else "    return"
        return "\n".join(self.globals + [f"  func.func @{self.symbol}({args}){arrow} {{"] + self.lines + [end, "  }"])

    # Cases

    def case(self, label, sizes, fills, check, reference=None, error=None):
        """Adds a run with `sizes` (a dict; empty: the static ones).

        `fills` has a description per argument, or one for all; `reference`
        computes the outputs from the arrays of the arguments. Scalars have
        rank 0.
        """
        sizes = {**self.sizes, **sizes}
        if not isinstance(fills, (list, tuple)):
            fills = [fills] * len(self.args)
        inputs = []
        for i, (arg, fill) in enumerate(zip(self.args, fills)):
            dims = [sizes[d] for d in arg.dims or ""]
            seed = int(hashlib.sha256(f"{self.path}/{label}/{i}".encode()).hexdigest()[:7], 16)
            inputs.append({"type": "x".join([*map(str, dims), arg.element.name]), "seed": seed, **fill})
        self.cases.append(Case(f"{self.path}/{label}", inputs, check, reference, error))


EXACT = {"kind": "exact"}
BOUNDED = {"kind": "bounded"}


def relative(factor, floor=0.0):
    return {"kind": "relative", "factor": factor, "floor": floor}
