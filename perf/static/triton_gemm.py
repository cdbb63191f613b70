# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""triton_gemm.py FOLDER: compiles Triton's product of halves for sm_80 at large tiles, and prints NAME FILE of each."""

import os
import pathlib
import sys

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "gpu-runtime/ptxsim/test/others/triton"))

import kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# Depth of k, warps, stages.
for depth, warps, stages in [(32, 4, 4), (32, 8, 4), (64, 4, 3), (64, 8, 3)]:
    function = kernels.gemm
    constants = dict(BM=128, BN=128, BK=depth, SUM=triton.language.float32)
    types = dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32", K="i32")
    signature = {name: types.get(name, "constexpr") for name in function.arg_names}
    attributes = {(index,): [["tt.divisibility", 16]] for index, name in enumerate(function.arg_names) if name in types}
    compiled = triton.compile(ASTSource(function, signature, constants, attributes), target=GPUTarget("cuda", 80, 32),
                              options=dict(num_warps=warps, num_stages=stages, ptx_version=80))
    file = pathlib.Path(sys.argv[1]) / f"triton-{depth}-{warps}.ptx"
    file.write_text(compiled.asm["ptx"])
    print(f"128x128x{depth},_{warps}_warps,_{stages}_stages {file}")
