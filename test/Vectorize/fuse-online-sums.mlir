// RUN: tilewright-opt %s -tilewright-fuse-online-sums -split-input-file -verify-diagnostics | FileCheck %s

// One loop for both; what the sum has is of the maximum so far, and in the end of the row's.
// CHECK-LABEL: func.func private @Softmax(
// CHECK-NOT: online_sums
// CHECK: %[[R:.*]]:2 = scf.for %[[J:.*]] = %c0 to %[[N:.*]] step %c512 iter_args(%[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK-NEXT: %[[X:.*]] = vector.transfer_read %arg0[%arg2, %[[J]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.maxnumf %[[X]], %[[M]]
// CHECK: %[[OLD:.*]] = arith.maxnumf %[[M]], %{{.*}}
// CHECK: %[[NOW:.*]] = arith.maxnumf %[[NEW]], %{{.*}}
// CHECK: %[[B:.*]] = arith.subf %[[X]], %[[NOW]]
// CHECK: %[[E:.*]] = math.exp %[[B]]
// CHECK: %[[LEFT:.*]] = affine.min #{{.*}}(%[[J]])[%[[N]]]
// CHECK: %[[MASK:.*]] = vector.create_mask %[[LEFT]]
// CHECK: %[[T:.*]] = arith.select %[[MASK]], %[[E]]
// CHECK: %[[D:.*]] = arith.subf %[[OLD]], %[[NOW]]
// CHECK: %[[F:.*]] = math.exp %[[D]]
// CHECK: %[[L:.*]] = math.fma %[[S]], %[[F]], %[[T]]
// CHECK: scf.yield %[[NEW]], %[[L]]
// CHECK: %[[MOST:.*]] = vector.multi_reduction <maxnumf>, %[[R]]#0
// CHECK: %[[ALL:.*]] = vector.broadcast %[[MOST]]
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %c0, %[[N]]
// CHECK: arith.maxnumf %[[ALL]], %{{.*}}
// CHECK: %[[ROW:.*]] = arith.select %[[SOME]], %[[ALL]], %{{.*}} : vector
// CHECK: %[[LESS:.*]] = arith.subf %{{.*}}, %[[ROW]]
// CHECK: %[[K:.*]] = math.exp %[[LESS]]
// CHECK: %[[SUMS:.*]] = arith.mulf %[[R]]#1, %[[K]]
// CHECK: vector.multi_reduction <add>, %[[SUMS]]
// CHECK-NOT: scf.for
func.func private @Softmax(%x: tensor<?x?xf32>, %o: tensor<?xf32>, %i: index) -> tensor<?xf32> attributes {tilewright.kernel, tilewright.online_sums = 1 : i64} {
  %zeros = arith.constant dense<0.0> : vector<512xf32>
  %low = arith.constant dense<0xFFC00000> : vector<512xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %nan = arith.constant 0xFFC00000 : f32
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %w = scf.for %j = %c0 to %n step %c512 iter_args(%acc = %low) -> (vector<512xf32>) {
    %v = vector.transfer_read %x[%i, %j], %nan : tensor<?x?xf32>, vector<512xf32>
    %m = arith.maxnumf %v, %acc : vector<512xf32>
    scf.yield %m : vector<512xf32>
  }
  %most = vector.multi_reduction <maxnumf>, %w, %nan [0] : vector<512xf32> to f32
  %l = scf.for %j = %c0 to %n step %c512 iter_args(%acc = %zeros) -> (vector<512xf32>) {
    %left = affine.min affine_map<(d0)[s0] -> (512, -d0 + s0)>(%j)[%n]
    %v = vector.transfer_read %x[%i, %j], %zero : tensor<?x?xf32>, vector<512xf32>
    %b = vector.broadcast %most : f32 to vector<512xf32>
    %d = arith.subf %v, %b : vector<512xf32>
    %e = math.exp %d : vector<512xf32>
    %mask = vector.create_mask %left : vector<512xi1>
    %t = arith.select %mask, %e, %zeros : vector<512xi1>, vector<512xf32>
    %s = arith.addf %t, %acc : vector<512xf32>
    scf.yield %s : vector<512xf32>
  }
  %sum = vector.multi_reduction <add>, %l, %zero [0] : vector<512xf32> to f32
  %r = tensor.insert %sum into %o[%i] : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Nobody asked for it.
// CHECK-LABEL: func.func private @NotPlanned(
// CHECK: scf.for
// CHECK: scf.for
func.func private @NotPlanned(%x: tensor<8x1024xf32>, %o: tensor<8xf32>, %i: index) -> tensor<8xf32> attributes {tilewright.kernel} {
  %zeros = arith.constant dense<0.0> : vector<512xf32>
  %low = arith.constant dense<0xFF800000> : vector<512xf32>
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %w = scf.for %j = %c0 to %c1024 step %c512 iter_args(%acc = %low) -> (vector<512xf32>) {
    %v = vector.transfer_read %x[%i, %j], %inf {in_bounds = [true]} : tensor<8x1024xf32>, vector<512xf32>
    %m = arith.maximumf %v, %acc : vector<512xf32>
    scf.yield %m : vector<512xf32>
  }
  %most = vector.multi_reduction <maximumf>, %w, %inf [0] : vector<512xf32> to f32
  %l = scf.for %j = %c0 to %c1024 step %c512 iter_args(%acc = %zeros) -> (vector<512xf32>) {
    %v = vector.transfer_read %x[%i, %j], %zero {in_bounds = [true]} : tensor<8x1024xf32>, vector<512xf32>
    %b = vector.broadcast %most : f32 to vector<512xf32>
    %d = arith.subf %v, %b : vector<512xf32>
    %e = math.exp %d : vector<512xf32>
    %s = arith.addf %e, %acc : vector<512xf32>
    scf.yield %s : vector<512xf32>
  }
  %sum = vector.multi_reduction <add>, %l, %zero [0] : vector<512xf32> to f32
  %r = tensor.insert %sum into %o[%i] : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Exponentials of something else than what the maximum is of may be greater than one by any factor.
// CHECK-LABEL: func.func private @OtherElements(
// CHECK: scf.for
// CHECK: scf.for
// expected-remark @+1 {{reads rows once more: 0 sums are taken in the loops of their maxima, 1 were planned}}
func.func private @OtherElements(%x: tensor<8x1024xf32>, %y: tensor<8x1024xf32>, %o: tensor<8xf32>, %i: index) -> tensor<8xf32> attributes {tilewright.kernel, tilewright.online_sums = 1 : i64} {
  %zeros = arith.constant dense<0.0> : vector<512xf32>
  %low = arith.constant dense<0xFF800000> : vector<512xf32>
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %w = scf.for %j = %c0 to %c1024 step %c512 iter_args(%acc = %low) -> (vector<512xf32>) {
    %v = vector.transfer_read %x[%i, %j], %inf {in_bounds = [true]} : tensor<8x1024xf32>, vector<512xf32>
    %m = arith.maximumf %v, %acc : vector<512xf32>
    scf.yield %m : vector<512xf32>
  }
  %most = vector.multi_reduction <maximumf>, %w, %inf [0] : vector<512xf32> to f32
  %l = scf.for %j = %c0 to %c1024 step %c512 iter_args(%acc = %zeros) -> (vector<512xf32>) {
    %v = vector.transfer_read %y[%i, %j], %zero {in_bounds = [true]} : tensor<8x1024xf32>, vector<512xf32>
    %b = vector.broadcast %most : f32 to vector<512xf32>
    %d = arith.subf %v, %b : vector<512xf32>
    %e = math.exp %d : vector<512xf32>
    %s = arith.addf %e, %acc : vector<512xf32>
    scf.yield %s : vector<512xf32>
  }
  %sum = vector.multi_reduction <add>, %l, %zero [0] : vector<512xf32> to f32
  %r = tensor.insert %sum into %o[%i] : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Rows across memory: the exponentials are in the order of memory, maxima and sums in that of the rows.
// CHECK-LABEL: func.func private @Columns(
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK: %[[M:.*]] = vector.multi_reduction <maximumf>, %[[R]]#0
// CHECK: %[[B:.*]] = vector.broadcast %[[M]] : vector<32xf32> to vector<64x32xf32>
// CHECK: %[[T:.*]] = vector.transpose %[[B]], [1, 0] : vector<64x32xf32> to vector<32x64xf32>
// CHECK: arith.maximumf %[[T]], %{{.*}}
// CHECK: arith.maximumf %[[R]]#0, %{{.*}}
// CHECK: arith.mulf %[[R]]#1, %{{.*}} : vector<32x64xf32>
// CHECK-NOT: scf.for
func.func private @Columns(%x: tensor<1024x32xf32>, %o: tensor<32xf32>) -> tensor<32xf32> attributes {tilewright.kernel, tilewright.online_sums = 1 : i64} {
  %zeros = arith.constant dense<0.0> : vector<32x64xf32>
  %low = arith.constant dense<0xFF800000> : vector<32x64xf32>
  %lows = arith.constant dense<0xFF800000> : vector<32xf32>
  %none = arith.constant dense<0.0> : vector<32xf32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %w = scf.for %j = %c0 to %c1024 step %c64 iter_args(%acc = %low) -> (vector<32x64xf32>) {
    %v = vector.transfer_read %x[%j, %c0], %inf {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : tensor<1024x32xf32>, vector<32x64xf32>
    %m = arith.maximumf %v, %acc : vector<32x64xf32>
    scf.yield %m : vector<32x64xf32>
  }
  %most = vector.multi_reduction <maximumf>, %w, %lows [1] : vector<32x64xf32> to vector<32xf32>
  %l = scf.for %j = %c0 to %c1024 step %c64 iter_args(%acc = %zeros) -> (vector<32x64xf32>) {
    %v = vector.transfer_read %x[%j, %c0], %zero {in_bounds = [true, true]} : tensor<1024x32xf32>, vector<64x32xf32>
    %b = vector.broadcast %most : vector<32xf32> to vector<64x32xf32>
    %d = arith.subf %v, %b : vector<64x32xf32>
    %e = math.exp %d : vector<64x32xf32>
    %t = vector.transpose %e, [1, 0] : vector<64x32xf32> to vector<32x64xf32>
    %s = arith.addf %t, %acc : vector<32x64xf32>
    scf.yield %s : vector<32x64xf32>
  }
  %sum = vector.multi_reduction <add>, %l, %none [1] : vector<32x64xf32> to vector<32xf32>
  %r = vector.transfer_write %sum, %o[%c0] {in_bounds = [true]} : vector<32xf32>, tensor<32xf32>
  return %r : tensor<32xf32>
}
