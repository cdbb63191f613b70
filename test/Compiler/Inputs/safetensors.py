# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""safetensors.py FILE SCALE NAME:DTYPE:8x4 ...: a parameter file with small numbers, F32 or I8. SCALE multiplies them."""

import json
import struct
import sys

path, scale, tensors = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
header, data = {}, b""
for number, tensor in enumerate(tensors):
    name, dtype, dims = tensor.rsplit(":", 2)
    shape, count = [int(dim) for dim in dims.split("x")], 1
    for dim in shape:
        count *= dim
    values = [scale * ((i * 5 + number) % 7 - 3) for i in range(count)]
    part = struct.pack(f"<{count}{'f' if dtype == 'F32' else 'b'}", *values)
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
text += b" " * (-(len(text) + 8) % 64)
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
