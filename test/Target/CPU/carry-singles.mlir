// RUN: tilewright-opt %s -tilewright-carry-singles -canonicalize | FileCheck %s

// Sums of a nest are f32 from its first step to what is stored.
// CHECK-LABEL: @Nest
// CHECK: %[[S:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK:   %[[T:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (vector<16xf32>)
// CHECK:     %[[C:.*]] = arith.addf %[[B]], %{{.*}} : vector<16xf32>
// CHECK:     scf.yield %[[C]]
// CHECK:   scf.yield %[[T]]
// CHECK: %[[R:.*]] = arith.truncf %[[S]] fastmath<contract>
// CHECK: vector.store %[[R]]
func.func private @Nest(%x: memref<8x64x16xf16>, %r: memref<16xf16>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<16xf16>
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> (vector<16xf16>) {
    %t = scf.for %j = %c0 to %c64 step %c1 iter_args(%b = %a) -> (vector<16xf16>) {
      %v = vector.load %x[%i, %j, %c0] : memref<8x64x16xf16>, vector<16xf16>
      %w = arith.extf %v fastmath<contract> : vector<16xf16> to vector<16xf32>
      %p = arith.extf %b fastmath<contract> : vector<16xf16> to vector<16xf32>
      %q = arith.addf %p, %w : vector<16xf32>
      %n = arith.truncf %q fastmath<contract> : vector<16xf32> to vector<16xf16>
      scf.yield %n : vector<16xf16>
    }
    scf.yield %t : vector<16xf16>
  }
  vector.store %s, %r[%c0] : memref<16xf16>, vector<16xf16>
  return
}

// A rounding that the program asks for stays in each step.
// CHECK-LABEL: @Rounded
// CHECK: scf.for {{.*}} -> (bf16)
// CHECK: arith.extf %{{.*}} : bf16 to f32
func.func private @Rounded(%x: memref<64xf32>, %r: memref<bf16>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : bf16
  %s = scf.for %i = %c0 to %c64 step %c1 iter_args(%a = %zero) -> (bf16) {
    %v = memref.load %x[%i] : memref<64xf32>
    %p = arith.extf %a : bf16 to f32
    %q = arith.addf %p, %v : f32
    %n = arith.truncf %q : f32 to bf16
    scf.yield %n : bf16
  }
  memref.store %s, %r[] : memref<bf16>
  return
}

// What a step reads as f16, too, is carried as that.
// CHECK-LABEL: @Stored
// CHECK: scf.for {{.*}} -> (f16)
func.func private @Stored(%x: memref<64xf16>, %r: memref<64xf16>, %first: f16) -> f16 attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %s = scf.for %i = %c0 to %c64 step %c1 iter_args(%a = %first) -> (f16) {
    memref.store %a, %r[%i] : memref<64xf16>
    %v = memref.load %x[%i] : memref<64xf16>
    %w = arith.extf %v fastmath<contract> : f16 to f32
    %p = arith.extf %a fastmath<contract> : f16 to f32
    %q = arith.addf %p, %w : f32
    %n = arith.truncf %q fastmath<contract> : f32 to f16
    scf.yield %n : f16
  }
  return %s : f16
}
