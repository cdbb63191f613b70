// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -tilewright-configure

// What 'thread' and 'block' of a CPU say is what the inner loops have, and compiles.

#target = #tilewright.target<"cpu:x86-64-v3", "cpu", {access_bytes = 32 : i64, max_threads = 1 : i64, registers = 16 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 32 : i64}>
module attributes {tilewright.target = #target} {
func.func private @LargerThanBlock(%x: tensor<64x512xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'thread' has 8 and 'block' 4 for loop 0 of linalg.reduce; a register tile is a part of the block}}
  %r = linalg.reduce ins(%x : tensor<64x512xf32>) outs(%o : tensor<64xf32>) dimensions = [1] {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4, 16], thread = [8, 16]>}
    (%a: f32, %s: f32) {
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    }
  return %r : tensor<64xf32>
}
func.func private @AlongSum(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'thread' has 4 for loop 2 of linalg.matmul, which is summed a step of 'block' at a time; make it 1 or 8, or pack the operands ('promote')}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], thread = [4, 16, 4]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
func.func private @OneStepPacked(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'thread' has 64 elements of the sum, which is 64 long; packed operands have several steps}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 64], thread = [4, 16, 64], promote = [0, 1]>}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
func.func private @LiveVectors(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %o: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a register tile keeps 131329 vectors, and has 128 at most, 8 for each of 16 registers; make 'thread' smaller, or 'block' where there is none}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [1024, 1024, 1]>}
      ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%o : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %m : tensor<2048x2048xf32>
}
func.func private @BeyondRegisters(%a: tensor<50x70xf32>, %b: tensor<70x90xf32>, %o: tensor<50x90xf32>) -> tensor<50x90xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a register tile keeps 573 vectors, and has 128 at most, 8 for each of 16 registers; make 'thread' smaller, or 'block' where there is none}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 256, 16], thread = [64, 128, 4], promote = [0, 1]>}
      ins(%a, %b : tensor<50x70xf32>, tensor<70x90xf32>) outs(%o : tensor<50x90xf32>) -> tensor<50x90xf32>
  return %m : tensor<50x90xf32>
}
func.func private @LiveElements(%x: tensor<2048x2048xf32>, %o: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a register tile keeps 262145 vectors, and has 1024 at most; make 'thread' smaller, or 'block' where there is none}}
  %m = linalg.add {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1024, 1024]>}
      ins(%x, %x : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%o : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %m : tensor<2048x2048xf32>
}
func.func private @OtherStrategy(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy warp_specialized does not serve this kernel here; simt_contraction does}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], thread = [4, 16, 4], promote = [0, 1], mma = "dot.m1n8k2.bf16.f32">}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

#target = #tilewright.target<"cpu:x86-64-v4", "cpu", {access_bytes = 64 : i64, max_threads = 1 : i64, registers = 32 : i64, shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64}>
module attributes {tilewright.target = #target} {
func.func private @ComputedVectors(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a register tile computes 16384 vectors, and has 8192 at most; make 'thread' smaller, or 'block' where there is none}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 256], thread = [32, 32, 256], promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}
