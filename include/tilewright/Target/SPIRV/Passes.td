// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_TARGET_SPIRV_PASSES
#define TILEWRIGHT_TARGET_SPIRV_PASSES

include "mlir/Pass/PassBase.td"

def ConvertToSPIRVPass
    : Pass<"tilewright-convert-to-spirv", "::mlir::ModuleOp"> {
  let summary = "thread form to modules of the spirv dialect";
  let description = [{
    Replaces every kernel of a program (docs/ir.md, thread form) by a
    `spirv.module` of its name that holds it as a Vulkan compute shader with the
    kernel ABI of docs/abi.md:

      * `memref<?xT>` arguments become storage buffers of descriptor set 0, one
        variable per type that the buffer is accessed in (f32, vec4 of f32);
      * scalar arguments become push constants, `index` as i32, or as i64 with
        `tilewright.index_bits = 64`; beyond 128 bytes a uniform buffer at set
        1, binding 0;
      * shared memory becomes Workgroup variables, never aliased;
      * bf16 is held as i16 and computed in f32; i1 in memory is a byte.

    Attributes of the kernel (`tilewright.launch`, …) move to the spirv.func.
    Version, extensions and capabilities are those that the code needs; what the
    target lacks is an error, and so is every op that has no counterpart.
  }];
  let dependentDialects = ["mlir::spirv::SPIRVDialect"];
}

#endif
