// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=dispatch -o - | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_90 --stop-after=dispatch -o - | FileCheck %s --check-prefix=PLAIN

// K lies across the rows of both operands: one is transposed in memory, the other one by registers.
// CHECK-LABEL: func.func @Large
// CHECK-SAME: "linalg.contract (line {{[0-9]+}}): operand 0 is transposed by a kernel in front, for warpgroups to multiply: {{[0-9.]+}} us with a kernel that transposes it, as predicted, {{[0-9.]+}} us without"
// CHECK: %[[T:.*]] = tilewright.dispatch @Large_copy_0(%arg0 :
// CHECK: tilewright.dispatch @Large_matmul_1(%[[T]], %arg1 :
// PLAIN-LABEL: func.func @Large
// PLAIN-NOT: _copy_
// PLAIN: func.func @Small

// CHECK-LABEL: func.func @Small
// CHECK-SAME: "linalg.contract (line {{[0-9]+}}): neither operand is transposed for warpgroups by a kernel in front: {{[0-9.]+}} us with a kernel that transposes it, as predicted, {{[0-9.]+}} us without"
// CHECK: tilewright.dispatch @Small_matmul_0(%arg0, %arg1 :

// The shorter operand takes less.
// CHECK-LABEL: func.func @Wide
// CHECK: %[[T:.*]] = tilewright.dispatch @Wide_copy_0(%arg1 :
// CHECK: tilewright.dispatch @Wide_matmul_1(%arg0, %[[T]] :

// Rows of 1021 bytes are no copy engine's, those of the copy are.
// CHECK-LABEL: func.func @Odd
// CHECK: %[[T:.*]] = tilewright.dispatch @Odd_copy_0(%arg1 :
// CHECK: tilewright.dispatch @Odd_matmul_1(%arg0, %[[T]] :

// What depends on no argument is transposed when it is loaded.
// CHECK-LABEL: func.func private @Constant.at_load
// CHECK: tilewright.dispatch @Constant_copy_0
// CHECK-LABEL: func.func @Constant(
// CHECK-NOT: _copy_
// CHECK: tilewright.dispatch @Constant_matmul_1

// It is so for a product in a loop, too.
// CHECK-LABEL: func.func private @ConstantInLoop.at_load
// CHECK: tilewright.dispatch @ConstantInLoop_copy_{{[01]}}
// CHECK-LABEL: func.func @ConstantInLoop(
// CHECK: scf.for
// CHECK-NOT: _copy_
// CHECK: tilewright.dispatch @ConstantInLoop_matmul_

// The host knows the sizes.
// CHECK-LABEL: func.func @Any
// CHECK-SAME: (of dynamic extents of 1024); the host looks whether extents are long enough, and rows whole 16 bytes"
// CHECK-DAG: %[[WHOLE:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[FEWEST:.*]] = arith.constant {{256|512}} : index
// CHECK: arith.cmpi sge, %{{.*}}, %[[FEWEST]]
// CHECK: arith.remui %{{.*}}, %[[WHOLE]]
// CHECK: scf.if
// CHECK: %[[T:.*]] = tilewright.dispatch @Any_copy_0(%arg0 :
// CHECK: tilewright.dispatch @Any_matmul_1(%[[T]], %arg1 :
// CHECK: else
// CHECK: tilewright.dispatch @Any_matmul_2(%arg0, %arg1 :

// A pinned config has one operand in registers, and the other one in shared memory; of warps it leaves both.
// CHECK-LABEL: func.func @Pinned
// CHECK-SAME: operand 1 is transposed by a kernel in front, for warpgroups to multiply: as the pinned config has it in shared memory
// CHECK: %[[T:.*]] = tilewright.dispatch @Pinned_copy_0(%arg1 :
// CHECK: tilewright.dispatch @Pinned_matmul_1(%arg0, %[[T]] :
// CHECK-LABEL: func.func @Off
// CHECK: tilewright.dispatch @Off_matmul_0(%arg0, %arg1 :

// Rows of 16 bits are whole 16 bytes, or transposed in front: N across, K along both, not where columns are no whole 16 bytes
// either. A window's rows lie as far apart as those of the whole.
// CHECK-LABEL: func.func @OddColumns
// CHECK-SAME: operand 1 is transposed by a kernel in front, for warpgroups to multiply: {{[0-9.]+}} us
// CHECK: %[[T:.*]] = tilewright.dispatch @OddColumns_copy_0(%arg1 :
// CHECK: tilewright.dispatch @OddColumns_matmul_1(%arg0, %[[T]] :
// CHECK-LABEL: func.func @OddSum
// CHECK-SAME: both operands are transposed by a kernel in front, for warpgroups to multiply: {{[0-9.]+}} us
// CHECK-LABEL: func.func @OddAll
// CHECK-NOT: _copy_
// CHECK-LABEL: func.func @Window
// CHECK-NOT: _copy_
// CHECK-LABEL: func.func @OddPinned
// CHECK-SAME: operand 1 is transposed by a kernel in front, for warpgroups to multiply: as the pinned config has it in shared memory

// Where the host would have to look at the number of rows and a bias is added in the kernel, the operand stays as it is.
// CHECK-LABEL: func.func @AnyRows
// CHECK-SAME: operand 1 is transposed by a kernel in front, for warpgroups to multiply: {{.*}}; the host looks
// CHECK-LABEL: func.func @AnyRowsWithBias
// CHECK-SAME: neither operand is transposed by a kernel in front: the host would have to look at extents
// CHECK-NOT: _copy_

// What is computed for the product alone is computed in each branch, once, transposed in the first.
// CHECK-LABEL: func.func @AnyComputed
// CHECK-NOT: tilewright.dispatch
// CHECK: scf.if
// CHECK: %[[T:.*]] = tilewright.dispatch @AnyComputed_elementwise_0(%arg0 :
// CHECK: tilewright.dispatch @AnyComputed_matmul_1(%[[T]], %arg1 :
// CHECK: else
// CHECK: %[[H:.*]] = tilewright.dispatch @AnyComputed_elementwise_2(%arg0 :
// CHECK: tilewright.dispatch @AnyComputed_matmul_3(%[[H]], %arg1 :

// Whole tiles of warpgroups on half of the multiprocessors take less than parts of the sum and a kernel that adds them up.
// CHECK-LABEL: func.func @Short
// CHECK-SAME: operand {{[01]}} is transposed by a kernel in front, for warpgroups to multiply: {{[0-9.]+}} us with
// CHECK: tilewright.dispatch @Short_copy_0
// CHECK: tilewright.dispatch @Short_matmul_1
// CHECK-NOT: tilewright.dispatch

// A copy of more than a GiB is too much.
// CHECK-LABEL: func.func @Huge
// CHECK-SAME: operand 1 is transposed by a kernel in front
// CHECK-LABEL: func.func @Huger
// CHECK-SAME: neither operand is transposed for warpgroups by a kernel in front: operand 1: a copy of it would take 1280 MiB of memory, and may take 1024
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @Large(%a: tensor<2048x2048xi8>, %b: tensor<2048x2048xi8>, %c: tensor<2048x2048xi32>) -> tensor<2048x2048xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<2048x2048xi8>, tensor<2048x2048xi8>) outs(%c : tensor<2048x2048xi32>) -> tensor<2048x2048xi32>
  return %r : tensor<2048x2048xi32>
}
func.func @Small(%a: tensor<128x128xi8>, %b: tensor<128x128xi8>, %c: tensor<128x128xi32>) -> tensor<128x128xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<128x128xi8>, tensor<128x128xi8>) outs(%c : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}
func.func @Wide(%a: tensor<2048x8192xi8>, %b: tensor<2048x1024xi8>, %c: tensor<8192x1024xi32>) -> tensor<8192x1024xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<2048x8192xi8>, tensor<2048x1024xi8>) outs(%c : tensor<8192x1024xi32>) -> tensor<8192x1024xi32>
  return %r : tensor<8192x1024xi32>
}
func.func @Odd(%a: tensor<2048x1024xi8>, %b: tensor<2048x1021xi8>, %c: tensor<1024x1021xi32>) -> tensor<1024x1021xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<2048x1024xi8>, tensor<2048x1021xi8>) outs(%c : tensor<1024x1021xi32>) -> tensor<1024x1021xi32>
  return %r : tensor<1024x1021xi32>
}
func.func @Constant(%a: tensor<512x512xi8>) -> tensor<512x512xi32> {
  %b0 = tensor.empty() : tensor<512x512xi8>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%b0 : tensor<512x512xi8>) {
    ^bb0(%o: i8):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %s = math.sin %f : f32
      %q = arith.fptosi %s : f32 to i8
      linalg.yield %q : i8
  } -> tensor<512x512xi8>
  %e = tensor.empty() : tensor<512x512xi32>
  %zero = arith.constant 0 : i32
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<512x512xi32>) -> tensor<512x512xi32>
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%z : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %r : tensor<512x512xi32>
}
func.func @ConstantInLoop(%a: tensor<512x512xi8>, %count: index, %c: tensor<512x512xi32>) -> tensor<512x512xi32> {
  %b0 = tensor.empty() : tensor<512x512xi8>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%b0 : tensor<512x512xi8>) {
    ^bb0(%o: i8):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %s = math.sin %f : f32
      %q = arith.fptosi %s : f32 to i8
      linalg.yield %q : i8
  } -> tensor<512x512xi8>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %at = %c0 to %count step %c1 iter_args(%sum = %c) -> tensor<512x512xi32> {
    %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%sum : tensor<512x512xi32>) -> tensor<512x512xi32>
    scf.yield %r : tensor<512x512xi32>
  }
  return %l : tensor<512x512xi32>
}
func.func @Any(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
func.func @Pinned(%a: tensor<256x256xi8>, %b: tensor<256x256xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<256x256xi8>, tensor<256x256xi8>) outs(%c : tensor<256x256xi32>)
      {tilewright.lowering_config = {"cuda:sm_90a" = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 128], warps = [4, 1, 1], stages = 4, promote = [1], mma = "wgmma.m64n64k32.s8.s32">}} -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}
func.func @Off(%a: tensor<2048x2048xi8>, %b: tensor<2048x2048xi8>, %c: tensor<2048x2048xi32>) -> tensor<2048x2048xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<2048x2048xi8>, tensor<2048x2048xi8>) outs(%c : tensor<2048x2048xi32>)
      {tilewright.lowering_config = {"cuda:sm_90a" = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 128], warps = [1, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k32.s8.s32">}} -> tensor<2048x2048xi32>
  return %r : tensor<2048x2048xi32>
}
func.func @OddColumns(%a: tensor<2048x2048xf16>, %b: tensor<2048x2047xf16>, %c: tensor<2048x2047xf32>) -> tensor<2048x2047xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2048x2048xf16>, tensor<2048x2047xf16>) outs(%c : tensor<2048x2047xf32>) -> tensor<2048x2047xf32>
  return %r : tensor<2048x2047xf32>
}
func.func @OddSum(%a: tensor<4096x4095xbf16>, %b: tensor<4096x4095xbf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, #c] ins(%a, %b : tensor<4096x4095xbf16>, tensor<4096x4095xbf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
func.func @OddAll(%a: tensor<2048x2047xf16>, %b: tensor<2047x2047xf16>, %c: tensor<2048x2047xf32>) -> tensor<2048x2047xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2048x2047xf16>, tensor<2047x2047xf16>) outs(%c : tensor<2048x2047xf32>) -> tensor<2048x2047xf32>
  return %r : tensor<2048x2047xf32>
}
func.func @Window(%a: tensor<2048x2048xf16>, %b: tensor<2048x2056xf16>, %c: tensor<2048x2047xf32>) -> tensor<2048x2047xf32> {
  %w = tensor.extract_slice %b[0, 8] [2048, 2047] [1, 1] : tensor<2048x2056xf16> to tensor<2048x2047xf16>
  %r = linalg.matmul ins(%a, %w : tensor<2048x2048xf16>, tensor<2048x2047xf16>) outs(%c : tensor<2048x2047xf32>) -> tensor<2048x2047xf32>
  return %r : tensor<2048x2047xf32>
}
func.func @OddPinned(%a: tensor<136x144xf16>, %b: tensor<144x139xf16>, %c: tensor<136x139xf32>) -> tensor<136x139xf32> {
  %r = linalg.matmul {tilewright.lowering_config = {"cuda:sm_90a" = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32">}}
      ins(%a, %b : tensor<136x144xf16>, tensor<144x139xf16>) outs(%c : tensor<136x139xf32>) -> tensor<136x139xf32>
  return %r : tensor<136x139xf32>
}
func.func @AnyRows(%a: tensor<?x2048xf16>, %b: tensor<2048x16383xf16>, %c: tensor<?x16383xf32>) -> tensor<?x16383xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x2048xf16>, tensor<2048x16383xf16>) outs(%c : tensor<?x16383xf32>) -> tensor<?x16383xf32>
  return %r : tensor<?x16383xf32>
}
func.func @AnyRowsWithBias(%a: tensor<?x2048xf16>, %b: tensor<2048x16383xf16>, %c: tensor<?x16383xf32>, %bias: tensor<16383xf32>) -> tensor<?x16383xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x2048xf16>, tensor<2048x16383xf16>) outs(%c : tensor<?x16383xf32>) -> tensor<?x16383xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<?x16383xf32>, tensor<16383xf32>) outs(%c : tensor<?x16383xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
  } -> tensor<?x16383xf32>
  return %s : tensor<?x16383xf32>
}
func.func @AnyComputed(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = tensor.dim %a, %c0 : tensor<?x?xi8>
  %m = tensor.dim %a, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%k, %m) : tensor<?x?xi8>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xi8>) outs(%e : tensor<?x?xi8>) {
    ^bb0(%x: i8, %o: i8):
      %one = arith.constant 1 : i8
      %s = arith.shrsi %x, %one : i8
      %q = arith.muli %s, %x : i8
      linalg.yield %q : i8
  } -> tensor<?x?xi8>
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%h, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
func.func @Short(%a: tensor<2048x512xi8>, %b: tensor<2048x512xi8>) -> tensor<512x512xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<512x512xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<512x512xi32>) -> tensor<512x512xi32>
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<2048x512xi8>, tensor<2048x512xi8>) outs(%z : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %r : tensor<512x512xi32>
}
func.func @Huge(%a: tensor<40960x32768xi8>, %b: tensor<40960x1024xi8>, %c: tensor<32768x1024xi32>) -> tensor<32768x1024xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<40960x32768xi8>, tensor<40960x1024xi8>) outs(%c : tensor<32768x1024xi32>) -> tensor<32768x1024xi32>
  return %r : tensor<32768x1024xi32>
}
func.func @Huger(%a: tensor<40960x32768xi8>, %b: tensor<40960x32768xi8>, %c: tensor<32768x32768xi32>) -> tensor<32768x32768xi32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<40960x32768xi8>, tensor<40960x32768xi8>) outs(%c : tensor<32768x32768xi32>) -> tensor<32768x32768xi32>
  return %r : tensor<32768x32768xi32>
}
