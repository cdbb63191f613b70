# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes inputs that are too large or too odd to keep as files: make.py KIND > FILE."""

import random
import sys

FUNCTION = """func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
"""


def deep(levels):
    return ("func.func @f(%c: i1) {\n" + "scf.if %c {\n" * levels + "}\n" * levels + "return\n}\n").encode()


def constant(megabytes):
    count = megabytes * 1024 * 1024 // 4
    return (f'func.func @f() -> tensor<{count}xf32> {{\n  %c = arith.constant dense<"0x'.encode() +
            b"0000803F" * count + f'"> : tensor<{count}xf32>\n  return %c : tensor<{count}xf32>\n}}\n'.encode())


KINDS = {
    "program": lambda: FUNCTION.encode(),
    "truncated": lambda: FUNCTION.encode()[:300],
    "random": lambda: random.Random(1).randbytes(4096),
    "deep": lambda: deep(4000),
    "very-deep": lambda: deep(200_000),
    "parentheses": lambda: ("func.func @f(%a: " + "tuple<" * 100_000).encode(),
    "constant": lambda: constant(100),
    "zeros": lambda: bytes(1000),
}

if __name__ == "__main__":
    sys.stdout.buffer.write(KINDS[sys.argv[1]]())
