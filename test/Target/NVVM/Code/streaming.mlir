// RUN: rm -rf %t && tilewright-compile %s -o %t --target=cuda:sm_80,cuda:sm_90a --emit=ptx
// RUN: FileCheck %s --check-prefix=ANY < %t/cuda_sm_80/any_elementwise_0.ptx
// RUN: FileCheck %s --check-prefix=ALIGNED < %t/cuda_sm_80/any_elementwise_0_aligned.ptx
// RUN: FileCheck %s --check-prefix=BF16 < %t/cuda_sm_90a/brain_elementwise_0.ptx
// RUN: FileCheck %s --check-prefix=MATRIX < %t/cuda_sm_80/matrix_elementwise_0.ptx

// A vector of any length: 16-byte accesses in the threads that are inside
// altogether, elements one by one only at the end. Halves are added in pairs.
// ANY-LABEL: .entry any_elementwise_0(
// ANY: ld.global.nc.v4.b32
// ANY: ld.global.nc.v4.b32
// ANY: add.rn.f16x2
// ANY: st.global.v4.b32
#i = affine_map<(i) -> (i)>
func.func @any(%x: tensor<?xf16>, %y: tensor<?xf16>, %o: tensor<?xf16>) -> tensor<?xf16> {
  %r = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%x, %y : tensor<?xf16>, tensor<?xf16>) outs(%o : tensor<?xf16>) {
  ^bb0(%0: f16, %1: f16, %2: f16):
    %s = arith.addf %0, %1 : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
}

// A multiple of 16 bytes: no element alone.
// ALIGNED-LABEL: .entry any_elementwise_0_aligned(
// ALIGNED-NOT: {{ld.global.nc.b16|st.global.b16|add.rn.f16 }}
// ALIGNED-COUNT-2: ld.global.nc.v4.b32
// ALIGNED-COUNT-4: add.rn.f16x2
// ALIGNED: st.global.v4.b32

// BF16-LABEL: .entry brain_elementwise_0(
// BF16-COUNT-2: ld.global.nc.v4.b32
// BF16-COUNT-4: mul{{(.rn)?}}.bf16x2
// BF16: st.global.v4.b32
func.func @brain(%x: tensor<4096xbf16>, %y: tensor<4096xbf16>, %o: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %r = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%x, %y : tensor<4096xbf16>, tensor<4096xbf16>) outs(%o : tensor<4096xbf16>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [256], warps = [1]>} {
  ^bb0(%0: bf16, %1: bf16, %2: bf16):
    %s = arith.mulf %0, %1 : bf16
    linalg.yield %s : bf16
  } -> tensor<4096xbf16>
  return %r : tensor<4096xbf16>
}

// MATRIX-LABEL: .entry matrix_elementwise_0(
// MATRIX-NOT: {{ld.global.nc.b32|st.global.b32|ld.local}}
// MATRIX-COUNT-2: ld.global.nc.v4.b32
// MATRIX-COUNT-4: add.rn.f32
// MATRIX: st.global.v4.b32
#ij = affine_map<(i, j) -> (i, j)>
func.func @matrix(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>, %o: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%o : tensor<1024x1024xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
