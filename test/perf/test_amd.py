# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/static/amd: what it reads from a driver's dump and from the runtime. Neither Mesa nor a compiler is needed.

python test/perf/test_amd.py
"""

import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load():
    loader = importlib.machinery.SourceFileLoader("amd", str(ROOT / "perf/static/amd"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("amd", loader))
    loader.exec_module(module)
    return module


amd = load()

#: Two kernels of ours, most of their lines left out.
DUMP = """\
shader: MESA_SHADER_COMPUTE
workgroup_size: 256, 1, 1
decl_function main_matmul_0_sg64 () (entrypoint)

impl main_matmul_0_sg64 {
}

After RA:
ACO shader stage: SW (CS), HW (COMPUTE_SHADER)
BB0
\t v4: %220:v[168-171] = v_wmma_f32_16x16x16_f16 (latekill)%219:v[8-15], (latekill)%205:v[88-95], %2557:v[84-87]

Compute Shader
disasm:
BB0:
\tv_mbcnt_lo_u32_b32 v0, -1, 0                                ; d71f0000 000100c1
\tv_wmma_f32_16x16x16_f16 v[168:171], v[8:15], v[88:95], v[84:87] ; cc4040a8 1d52b108
\tv_wmma_f32_16x16x16_f16 v[172:175], v[48:55], v[88:95], v[84:87] ; cc4040ac 1d52b130
\ts_endpgm                                                    ; bfb00000

shader: MESA_SHADER_COMPUTE
decl_function main_add_1_sg64 () (entrypoint)
Compute Shader
disasm:
BB0:
\ts_endpgm                                                    ; bfb00000
"""

KERNEL = {"kernel": "main_matmul_0", "variant": "main_matmul_0_sg64", "registers": 192, "scalar_registers": 128,
          "local_bytes": 0, "shared_bytes": 36864, "dynamic_shared_bytes": 0, "code_bytes": 13152,
          "statistics": {"Spilled SGPRs": 1.0, "Spilled VGPRs": 2.0, "Subgroups per SIMD": 8.0}}


class Reading(unittest.TestCase):
    def test_matrix_instructions_of_each_kernel(self):
        self.assertEqual(amd.matrix_instructions(DUMP), {"main_matmul_0_sg64": 2, "main_add_1_sg64": 0})

    def test_a_row(self):
        row = amd.row_of(KERNEL, 2, "matrix_unit")
        self.assertEqual(row, {"kernel": "main_matmul_0_sg64", "strategy": "matrix_unit", "VGPR": 192, "SGPR": 128,
                               "subgroups": 8, "spills": 3, "scratch": 0, "LDS": 36864, "code": 13152, "WMMA": 2})
        self.assertIn("| main_matmul_0_sg64 | matrix_unit | 192 | 128 | 8 | 3 | 0 | 36864 | 13152 | 2 |", amd.table([row]))
        self.assertIn("| – |", amd.table([amd.row_of({"variant": "k"}, None, "")]))

    def test_strategies_by_variant(self):
        variants = [{"name": "a_sg32", "config": "#tilewright.lowering_config<strategy = matrix_unit, block = [64]>"},
                    {"name": "b", "config": ""}]
        self.assertEqual(amd.strategies({"programs": [{"kernels": [{"variants": variants}]}]}), {"a_sg32": "matrix_unit"})

    def test_what_is_wrong(self):
        good, spills = amd.row_of({**KERNEL, "statistics": {}}, 2, "matrix_unit"), amd.row_of(KERNEL, 0, "matrix_unit")
        self.assertEqual(amd.wrong([good], []), "0 spill; 0 have no matrix instruction; 0 are refused")
        self.assertEqual(amd.wrong([good, spills], [("k", "it uses 70000 bytes")]),
                         "1 spill (main_matmul_0_sg64); 1 have no matrix instruction (main_matmul_0_sg64); 1 are refused\n"
                         "* k: it uses 70000 bytes")

    def test_kernels_for_other_devices(self):
        kernels = [{"variant": "v", "reason": "dispatch 'd', variant 'v': its guard is false on vulkan:0", "guard": False},
                   {"variant": "k", "reason": "kernel 'k': it requires subgroups of 8; this device has subgroups of 32 to 64"},
                   {"variant": "w", "registers": 32}]
        self.assertEqual(amd.refusals(kernels), [("k", kernels[1]["reason"])])


if __name__ == "__main__":
    unittest.main()
