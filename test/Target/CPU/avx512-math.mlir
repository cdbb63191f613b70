// RUN: tilewright-opt %s -tilewright-avx512-math | FileCheck %s

// CHECK-LABEL: @Rows
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.maxnum"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>
// CHECK-NOT: math.exp
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK: return
func.func private @Rows(%x: vector<2x16xf32>, %y: vector<2x16xf32>) -> vector<2x16xf32> attributes {tilewright.kernel} {
  %m = arith.maxnumf %x, %y : vector<2x16xf32>
  %e = math.exp %m : vector<2x16xf32>
  return %e : vector<2x16xf32>
}

// Powers of two are looked up in a register; a polynomial of degree 3; the smaller magnitude, so
// that what the polynomial yields is a positive number.
// CHECK-LABEL: @Exp
// CHECK: %[[N:.*]] = arith.subf
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"
// CHECK: %[[POWER:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK: %[[P:.*]] = math.fma %[[POWER]], %{{.*}}, %[[POWER]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[P]], %[[N]],
func.func private @Exp(%x: vector<16xf32>) -> vector<16xf32> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<16xf32>
  return %e : vector<16xf32>
}

// Parts of a register are computed as a register.
// CHECK-LABEL: @ExpOfOddRows
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1] : vector<20xf32>, vector<20xf32>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [20], strides = [1]}
func.func private @ExpOfOddRows(%x: vector<20xf32>) -> vector<20xf32> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<20xf32>
  return %e : vector<20xf32>
}

// The greatest number so far is never NaN: a loop begins with a number.
// CHECK-LABEL: @GreatestOfLoop
// CHECK: scf.for {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[READ:.*]] = vector.load
// CHECK: %[[MORE:.*]] = arith.cmpf ogt, %[[READ]], %[[BEST]]
// CHECK: arith.select %[[MORE]], %[[READ]], %[[BEST]]
// CHECK-NOT: llvm.maxnum
// CHECK: return
func.func private @GreatestOfLoop(%x: memref<64xf32>) -> f32 attributes {tilewright.kernel} {
  %low = arith.constant dense<0xFF800000> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %m = scf.for %i = %c0 to %c64 step %c16 iter_args(%best = %low) -> vector<16xf32> {
    %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %n = arith.maxnumf %best, %v : vector<16xf32>
    scf.yield %n : vector<16xf32>
  }
  %r = vector.reduction <maxnumf>, %m : vector<16xf32> into f32
  return %r : f32
}

// One that begins with NaN is NaN until a number comes; and what another op yields may be NaN.
// CHECK-LABEL: @GreatestMayBeNaN
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.maxnum"
// CHECK: return
func.func private @GreatestMayBeNaN(%x: memref<64xf32>) -> (vector<16xf32>, vector<16xf32>) attributes {tilewright.kernel} {
  %nan = arith.constant dense<0xFFC00000> : vector<16xf32>
  %low = arith.constant dense<0xFF800000> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %m:2 = scf.for %i = %c0 to %c64 step %c16 iter_args(%a = %nan, %b = %low) -> (vector<16xf32>, vector<16xf32>) {
    %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %n = arith.maxnumf %a, %v : vector<16xf32>
    %o = arith.maxnumf %b, %v : vector<16xf32>
    %p = arith.mulf %o, %v : vector<16xf32>
    scf.yield %n, %p : vector<16xf32>, vector<16xf32>
  }
  return %m#0, %m#1 : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @OfOtherTypes
// CHECK: math.exp %{{.*}} : vector<8xf64>
func.func private @OfOtherTypes(%x: vector<8xf64>) -> vector<8xf64> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<8xf64>
  return %e : vector<8xf64>
}

// By halves: of 16 lanes in four steps.
// CHECK-LABEL: @Greatest
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.maxnum"
// CHECK-NOT: vector.reduction
// CHECK: %[[R:.*]] = vector.extract
// CHECK: arith.maxnumf %[[R]], %arg1
func.func private @Greatest(%x: vector<16xf32>, %m: f32) -> f32 attributes {tilewright.kernel} {
  %r = vector.reduction <maxnumf>, %x, %m : vector<16xf32> into f32
  return %r : f32
}

// A polynomial for each part of the range, whose coefficients are looked up in two registers.
// CHECK-LABEL: @Erf
// CHECK-NOT: math.erf
// CHECK-COUNT-10: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>, vector<16xf32>) -> vector<16xf32>
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func private @Erf(%x: vector<32xf32>) -> vector<32xf32> attributes {tilewright.kernel} {
  %e = math.erf %x : vector<32xf32>
  return %e : vector<32xf32>
}

// CHECK-LABEL: @ErfOfPartsOfRegisters
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1] : vector<8xf32>, vector<8xf32>
// CHECK-NOT: math.erf
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [8], strides = [1]}
func.func private @ErfOfPartsOfRegisters(%x: vector<8xf32>) -> vector<8xf32> attributes {tilewright.kernel} {
  %e = math.erf %x : vector<8xf32>
  return %e : vector<8xf32>
}

// CHECK-LABEL: @Tanh
// CHECK-NOT: math.tanh
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func private @Tanh(%x: vector<16xf32>) -> vector<16xf32> attributes {tilewright.kernel} {
  %e = math.tanh %x : vector<16xf32>
  return %e : vector<16xf32>
}

// In f32, rounded once.
// CHECK-LABEL: @OfSmallFloats
// CHECK: arith.extf %arg0 : vector<16xf16> to vector<16xf32>
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
// CHECK: arith.extf %arg1 : vector<16xbf16> to vector<16xf32>
// CHECK-COUNT-5: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
func.func private @OfSmallFloats(%x: vector<16xf16>, %y: vector<16xbf16>) -> (vector<16xf16>, vector<16xbf16>) attributes {tilewright.kernel} {
  %e = math.tanh %x : vector<16xf16>
  %f = math.erf %y : vector<16xbf16>
  return %e, %f : vector<16xf16>, vector<16xbf16>
}

// Of magnitudes the bits are compared, as integers in the same order.
// CHECK-LABEL: @GreatestMagnitude
// CHECK: scf.for {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[ABS:.*]] = math.absf
// CHECK-DAG: %[[X:.*]] = arith.bitcast %[[ABS]] : vector<16xf32> to vector<16xi32>
// CHECK-DAG: %[[Y:.*]] = arith.bitcast %[[BEST]] : vector<16xf32> to vector<16xi32>
// CHECK: arith.maxsi %[[X]], %[[Y]]
// CHECK: scf.yield
// CHECK-COUNT-4: arith.maxsi
// CHECK-NOT: vector.reduction
// CHECK: return
func.func private @GreatestMagnitude(%x: memref<64xf32>) -> f32 attributes {tilewright.kernel} {
  %low = arith.constant dense<0xFF800000> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %m = scf.for %i = %c0 to %c64 step %c16 iter_args(%best = %low) -> vector<16xf32> {
    %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %a = math.absf %v : vector<16xf32>
    %n = arith.maximumf %a, %best : vector<16xf32>
    scf.yield %n : vector<16xf32>
  }
  %r = vector.reduction <maximumf>, %m : vector<16xf32> into f32
  return %r : f32
}

// A NaN that is read has to be found, one that came before is the second operand.
// CHECK-LABEL: @GreatestOrNaN
// CHECK: scf.for {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[READ:.*]] = vector.load
// CHECK: %[[MORE:.*]] = arith.cmpf ogt, %[[READ]], %[[BEST]]
// CHECK: %[[MAX:.*]] = arith.select %[[MORE]], %[[READ]], %[[BEST]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[READ]], %[[READ]]
// CHECK: %[[NEXT:.*]] = arith.select %[[NAN]], %[[READ]], %[[MAX]]
// CHECK: scf.yield %[[NEXT]]
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.maximum"
func.func private @GreatestOrNaN(%x: memref<64xf32>) -> f32 attributes {tilewright.kernel} {
  %low = arith.constant dense<0xFF800000> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %m = scf.for %i = %c0 to %c64 step %c16 iter_args(%best = %low) -> vector<16xf32> {
    %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %n = arith.maximumf %best, %v : vector<16xf32>
    scf.yield %n : vector<16xf32>
  }
  %r = vector.reduction <maximumf>, %m : vector<16xf32> into f32
  return %r : f32
}

// Of zeros the second one is the result: beside +0, or for the least one -0, it is that constant.
// CHECK-LABEL: @BesideZero
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK-DAG: %[[MINUS:.*]] = arith.constant dense<-0.0
// CHECK: %[[MORE:.*]] = arith.cmpf ugt, %[[X]], %[[ZERO]]
// CHECK: %[[RELU:.*]] = arith.select %[[MORE]], %[[X]], %[[ZERO]]
// CHECK: %[[LESS:.*]] = arith.cmpf ult, %[[X]], %[[MINUS]]
// CHECK: %[[LEAST:.*]] = arith.select %[[LESS]], %[[X]], %[[MINUS]]
// CHECK: %[[OTHER:.*]] = arith.cmpf ogt, %[[MINUS]], %[[X]]
// CHECK: %[[SAME:.*]] = arith.select %[[OTHER]], %[[MINUS]], %[[X]]
// CHECK: return %[[RELU]], %[[LEAST]], %[[SAME]]
func.func private @BesideZero(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>) attributes {tilewright.kernel} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %minus = arith.constant dense<-0.0> : vector<16xf32>
  %a = arith.maximumf %x, %zero : vector<16xf32>
  %b = arith.minimumf %minus, %x : vector<16xf32>
  %c = arith.maximumf %x, %minus : vector<16xf32>
  return %a, %b, %c : vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// One conversion rounds; four registers of integers become one of bytes.
// CHECK-LABEL: @RoundToBytes
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.packsswb.512"
// CHECK: vector.shuffle %{{.*}} [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
// CHECK-NOT: arith.fptosi
// CHECK: return
func.func private @RoundToBytes(%x: vector<64xf32>) -> vector<64xi8> attributes {tilewright.kernel} {
  %n = math.roundeven %x : vector<64xf32>
  %i = arith.fptosi %n : vector<64xf32> to vector<64xi8>
  return %i : vector<64xi8>
}

// CHECK-LABEL: @RoundOfOddRows
// CHECK: arith.fptosi %{{.*}} : vector<48xf32> to vector<48xi8>
func.func private @RoundOfOddRows(%x: vector<48xf32>) -> vector<48xi8> attributes {tilewright.kernel} {
  %n = math.roundeven %x : vector<48xf32>
  %i = arith.fptosi %n : vector<48xf32> to vector<48xi8>
  return %i : vector<48xi8>
}

// One number is no row.
// CHECK-LABEL: @OneByte
// CHECK: arith.fptosi %{{.*}} : f32 to i8
func.func private @OneByte(%x: f32) -> i8 attributes {tilewright.kernel} {
  %n = math.roundeven %x : f32
  %i = arith.fptosi %n : f32 to i8
  return %i : i8
}
