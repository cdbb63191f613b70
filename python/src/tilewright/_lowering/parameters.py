# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large constants of a text go to a parameter file, safetensors, and leave their names:

    %w = arith.constant dense_resource<_w> : tensor<64x64xf32>
    {-# dialect_resources: { builtin: { _w: "0x08000000…" } } #-}
becomes
    module attributes {tilewright.parameters = "model.safetensors"} {
    %w = arith.constant dense_resource<"w"> : tensor<64x64xf32>

So do constants that are written as `dense<"0x…">`. What is short stays, and what has one value everywhere is written as such.
Needs nothing but NumPy.
"""

import json
import os
import re

import numpy as np

#: Bytes from which on a constant is large. Integers are what positions and places in tables are computed of, which the compiler sees
#: through in the text.
LARGE = 4096
LARGE_INTEGERS = 65536
#: Where tensors begin in the file, so that programs can use them in place.
ALIGNMENT = 64

#: The format's name of an element type, and its bytes. i1 and i4 stay in the text.
DTYPES = {"f64": ("F64", 8), "f32": ("F32", 4), "f16": ("F16", 2), "bf16": ("BF16", 2), "f8E4M3FN": ("F8_E4M3", 1),
          "f8E5M2": ("F8_E5M2", 1), "i64": ("I64", 8), "i32": ("I32", 4), "i16": ("I16", 2), "i8": ("I8", 1)}

_ENTRY = re.compile(r'^\s*([\w$.-]+|"(?:[^"\\]|\\.)*"): "0x([0-9A-Fa-f]*)"(,?)$')
_USE = re.compile(r'dense_resource<([\w$.-]+|"(?:[^"\\]|\\.)*")> : (tensor<[^<>]*>)')
_INLINE = re.compile(r'dense<"0x([0-9A-Fa-f]+)"> : (tensor<[^<>]*>)')
_NAME = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")  # what a name in quotes has no room for


def take_out(text, file_name, names=None):
    """(text, tensors): the text without large constants, which is for a parameter file `file_name` beside it, and
    {name: (dtype, shape, bytes)}. `names`: {bytes: name}, what to call constants with this content."""
    body, marker, resources = text.partition("\n{-#")
    types = {}
    for key, type_ in _USE.findall(body):
        types.setdefault(key, set()).add(type_)
    tensors, known, replaced, kept = {}, {}, {}, []

    def add(name, type_, data):
        """What stands for the constant; None: it stays."""
        parsed = _static(type_)
        if parsed is None or len(data) < (LARGE_INTEGERS if parsed[0] in ("i64", "i32") else LARGE):
            return None
        dtype, shape, size = parsed
        if len(data) != size * int(np.prod(shape, dtype=np.int64)):
            return None
        values = np.frombuffer(data, f"V{size}")
        if (values == values[0]).all():
            return f'dense<"0x{data[:size].hex().upper()}"> : {type_}'
        same = type_, data
        if same not in known:
            known[same] = _unused(_NAME.sub("_", (names or {}).get(data, name)), tensors)
            tensors[known[same]] = (DTYPES[dtype][0], shape, data)
        name = known[same]
        return f'dense_resource<"{name}"> : {type_}'

    for line in resources.splitlines() if marker else []:
        entry = _ENTRY.match(line)
        key = entry and entry[1]
        stands = None
        if entry and len(types.get(key, ())) == 1:
            # The first four bytes say how the rest is aligned.
            stands = add(key.strip('"'), next(iter(types[key])), bytes.fromhex(entry[2][8:]))
        if stands:
            replaced[key] = stands
        else:
            kept.append(line)
    body = _USE.sub(lambda use: replaced.get(use[1], use[0]), body)
    body = _INLINE.sub(lambda found: add("constant", found[2], bytes.fromhex(found[1])) or found[0], body)
    if any(_ENTRY.match(line) for line in kept):
        body += marker + _joined(kept)
    if tensors:
        body = _named(body, file_name)
    return body if body.endswith("\n") else body + "\n", tensors


def _static(type_):
    """(element type, shape, bytes of an element) of a static tensor; None for what has no place in a file."""
    *shape, dtype = type_[len("tensor<"):-1].split("x")
    if dtype not in DTYPES or not all(dim.isdigit() for dim in shape):
        return None
    return dtype, [int(dim) for dim in shape], DTYPES[dtype][1]


def _unused(name, taken):
    number, unused = 0, name
    while unused in taken or unused == "__metadata__":
        number += 1
        unused = f"{name}_{number}"
    return unused


def _joined(lines):
    """The section of resources: every entry but the last of its dialect has a comma."""
    lines = [line.rstrip(",") if _ENTRY.match(line) else line for line in lines]
    for number in range(len(lines) - 1):
        if _ENTRY.match(lines[number]) and _ENTRY.match(lines[number + 1]):
            lines[number] += ","
    return "\n".join(lines)


def _named(text, file_name):
    attribute = f'tilewright.parameters = "{file_name}"'
    with_others = re.sub(r"^(module .*?attributes \{)", lambda m: f"{m[1]}{attribute}, ", text, count=1, flags=re.M)
    if with_others != text:
        return with_others
    return re.sub(r"^module( @\S+)? \{", lambda m: f"module{m[1] or ''} attributes {{{attribute}}} {{", text, count=1, flags=re.M)


def write(path, tensors):
    """Writes a parameter file, the whole of it or none. Tensors of whole lines of cache come first: as the format has no
    gaps, they are all aligned."""
    order = sorted(tensors, key=lambda name: (len(tensors[name][2]) % ALIGNMENT != 0, -_element(tensors[name]), name))
    header, end = {}, 0
    for name in order:
        dtype, shape, data = tensors[name]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    part = f"{path}.{os.getpid()}"
    try:
        with open(part, "wb") as file:
            file.write(len(text).to_bytes(8, "little"))
            file.write(text)
            for name in order:
                file.write(tensors[name][2])
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def read(path):
    """{name: (dtype, shape, bytes)} of a file that write() wrote; bytes are views of its mapping."""
    data = np.memmap(path, np.uint8, "r")
    begin = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:begin].tobytes())
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[slice(*(begin + offset for offset in entry["data_offsets"]))])
            for name, entry in header.items()}


def add_to(path, other):
    """Adds tensors of the file `other` to the file `path`, which is left as it is where it has all of them already; {name: name
    in `path`} of those that are called otherwise there, since another has the name."""
    tensors, added, renamed = read(path), False, {}
    for name, tensor in read(other).items():
        number, unused = 0, name
        while unused in tensors and not _equal(tensors[unused], tensor):
            number += 1
            unused = f"{name}_{number}"
        if unused != name:
            renamed[name] = unused
        added |= unused not in tensors
        tensors[unused] = tensor
    if added:
        write(path, tensors)
    return renamed


def _equal(one, other):
    return one[:2] == other[:2] and np.array_equal(one[2], other[2])


def _element(tensor):
    return next(size for name, size in DTYPES.values() if name == tensor[0])
