# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text of small programs: functions over tensors of linalg, made line by line."""


class Open(int):
    """A size that the program leaves open."""

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


class Function:
    """Text of a function over tensors; dims that are open are tensor.dim of an input, or computed from such (`derive`)."""

    def __init__(self, name):
        self.name, self.inputs, self.lines, self.count, self.derived = name, [], [], 0, {}
        #: Of inputs with values of their own, (least, largest): places and lengths.
        self.ranges = {}

    def input(self, dims, dtype, values=None):
        self.inputs.append((dims, dtype))
        if values:
            self.ranges[len(self.inputs) - 1] = values
        return f"%in{len(self.inputs) - 1}"

    def line(self, text, results=1):
        self.count += 1
        self.lines.append(f"  %v{self.count}{f':{results}' if results > 1 else ''} = {text}")
        return f"%v{self.count}"

    def index(self, value):
        return self.line(f"arith.constant {value} : index")

    def size(self, dim):
        """The value of an open dim."""
        if dim in self.derived:
            return self.derived[dim]
        number, position = next((i, d.index(dim)) for i, (d, _) in enumerate(self.inputs) if dim in d)
        return self.line(f"tensor.dim %in{number}, {self.index(position)} : {tensor(*self.inputs[number])}")

    def derive(self, value, dim, *steps):
        """`value`, and where `dim` is open so is it: what (op of arith, number) make of that."""
        if not isinstance(dim, Open):
            return value
        size, made = self.size(dim), Open(value)
        for op, number in steps:
            size = self.line(f"arith.{op} {size}, {self.index(number)} : index")
        self.derived[made] = size
        return made

    def empty(self, dims, dtype):
        """A tensor of open dims is made of the sizes of the input that has them."""
        sizes = [self.size(dim) for dim in dims if isinstance(dim, Open)]
        return self.line(f"tensor.empty({', '.join(sizes)}) : {tensor(dims, dtype)}")

    def filled(self, dims, dtype, value):
        number = self.line(f"arith.constant {value} : {dtype}")
        into = self.empty(dims, dtype)
        return self.line(
            f"linalg.fill ins({number} : {dtype}) outs({into} : {tensor(dims, dtype)}) -> {tensor(dims, dtype)}"
        )

    def generic(self, maps, kinds, inputs, outputs, body):
        """linalg.generic; inputs and outputs are (value, dims, dtype), of one output also without a list around; body is
        text over %x0, %x1, … and %o, of several outputs %o0, %o1, …"""
        several = isinstance(outputs, list)
        outputs = outputs if several else [outputs]
        loops = ", ".join(f"d{i}" for i in range(len(kinds)))
        names = {"p": "parallel", "r": "reduction"}
        kinds_text = ", ".join('"' + names[kind] + '"' for kind in kinds)
        maps_text = ", ".join(f"affine_map<({loops}) -> ({', '.join('d%d' % d for d in m)})>" for m in maps)
        arguments = [f"%x{i}: {x[2]}" for i, x in enumerate(inputs)]
        arguments += [f"%o{i if several else ''}: {x[2]}" for i, x in enumerate(outputs)]

        def given(kind, of):
            return f"{kind}({', '.join(x[0] for x in of)} : {', '.join(tensor(x[1], x[2]) for x in of)})"

        types = ", ".join(tensor(x[1], x[2]) for x in outputs)
        text = (
            f"linalg.generic {{indexing_maps = [{maps_text}], iterator_types = [{kinds_text}]}}\n"
            f"      {given('ins', inputs)} {given('outs', outputs)} {{\n    ^bb0({', '.join(arguments)}):\n"
            + "".join(f"      {line}\n" for line in body)
            + f"  }} -> {f'({types})' if several else types}"
        )
        value = self.line(text, len(outputs))
        return [f"{value}#{i}" for i in range(len(outputs))] if several else value

    def text(self, *results):
        """The whole; results are (value, dims, dtype)."""
        arguments = ", ".join(f"%in{i}: {tensor(*x)}" for i, x in enumerate(self.inputs))
        types = ", ".join(tensor(*x[1:]) for x in results)
        of = types if len(results) == 1 else f"({types})"
        return (
            f"func.func @{self.name}({arguments}) -> {of} {{\n"
            + "\n".join(self.lines)
            + f"\n  return {', '.join(x[0] for x in results)} : {types}\n}}\n"
        )

    def input_texts(self):
        """As a problem has them: "64x96xf32", and "8xi32=int:1:64" of those with values of their own."""
        return [
            "".join(f"{int(d)}x" for d in dims) + dtype + ("=int:%d:%d" % self.ranges[i] if i in self.ranges else "")
            for i, (dims, dtype) in enumerate(self.inputs)
        ]


def tensor(dims, dtype):
    return "tensor<" + "".join(("?" if isinstance(d, Open) else str(d)) + "x" for d in dims) + dtype + ">"


def types_of(entry):
    operand, _, result = entry["types"].partition(":")
    return operand, result or operand


def is_float(dtype):
    return "f" in dtype


def bits(dtype):
    return 8 if dtype.startswith("f8") else int(dtype.lstrip("bfi"))


def zero(dtype):
    return "0.0" if is_float(dtype) else "0"


def convert(source, target, value, name):
    """(value of `target`, lines that make it); none where it is of it."""
    if source == target:
        return value, []
    if is_float(source) and is_float(target):
        op = "extf" if bits(source) < bits(target) else "truncf"
        if bits(source) == bits(target):
            middle = f"{name}w"
            return name, [f"{middle} = arith.extf {value} : {source} to f32", f"{name} = arith.truncf {middle} : f32 to {target}"]
    elif is_float(source) or is_float(target):
        op = "fptosi" if is_float(source) else "sitofp"
    else:
        op = "extsi" if bits(source) < bits(target) else "trunci"
    return name, [f"{name} = arith.{op} {value} : {source} to {target}"]


def multiply_add(operand, result):
    left, first = convert(operand, result, "%x0", "%a")
    right, second = convert(operand, result, "%x1", "%b")
    mul, add = ("mulf", "addf") if is_float(result) else ("muli", "addi")
    return (
        first
        + second
        + [
            f"%p = arith.{mul} {left}, {right} : {result}",
            f"%s = arith.{add} %o, %p : {result}",
            f"linalg.yield %s : {result}",
        ]
    )


#: Functions of one number, of floats: lines over %x and the type {t} that end in %y.
FUNCTIONS = {
    "relu": ["%c0 = arith.constant 0.0 : {t}", "%y = arith.maximumf %x, %c0 : {t}"],
    "gelu": [
        "%c0 = arith.constant 0.5 : {t}",
        "%c1 = arith.constant 1.0 : {t}",
        "%c2 = arith.constant 0.70710678118654752 : {t}",
        "%u0 = arith.mulf %x, %c2 : {t}",
        "%u1 = math.erf %u0 : {t}",
        "%u2 = arith.addf %u1, %c1 : {t}",
        "%u3 = arith.mulf %x, %c0 : {t}",
        "%y = arith.mulf %u3, %u2 : {t}",
    ],
    "silu": [
        "%c0 = arith.constant 1.0 : {t}",
        "%u0 = arith.negf %x : {t}",
        "%u1 = math.exp %u0 : {t}",
        "%u2 = arith.addf %u1, %c0 : {t}",
        "%y = arith.divf %x, %u2 : {t}",
    ],
    "sigmoid": [
        "%c0 = arith.constant 1.0 : {t}",
        "%u0 = arith.negf %x : {t}",
        "%u1 = math.exp %u0 : {t}",
        "%u2 = arith.addf %u1, %c0 : {t}",
        "%y = arith.divf %c0, %u2 : {t}",
    ],
    "exp": ["%y = math.exp %x : {t}"],
    "tanh": ["%y = math.tanh %x : {t}"],
    "abs": ["%y = math.absf %x : {t}"],
    "neg": ["%y = arith.negf %x : {t}"],
}
#: Those whose results on whole numbers are exact.
EXACT_FUNCTIONS = {"relu", "abs", "neg"}


def apply(name, dtype, value, tag):
    """(value, lines) of a function of FUNCTIONS; `tag` makes its names its own."""
    lines = [line.replace("{t}", dtype).replace("%", f"%{tag}").replace(f"%{tag}x", value) for line in FUNCTIONS[name]]
    return f"%{tag}y", lines
