// RUN: tilewright-opt %s -tilewright-divide-vectors=divide-long=true | FileCheck %s

// CHECK-LABEL: func.func @Words
// CHECK-DAG: %[[X:.*]] = arith.sitofp %arg0 : vector<16xi32> to vector<16xf64>
// CHECK-DAG: %[[Y:.*]] = arith.sitofp %arg1 : vector<16xi32> to vector<16xf64>
// CHECK: %[[Z:.*]] = arith.divf %[[X]], %[[Y]]
// CHECK: %[[Q:.*]] = arith.fptosi %[[Z]] : vector<16xf64> to vector<16xi32>
// CHECK: return %[[Q]]
func.func @Words(%x: vector<16xi32>, %y: vector<16xi32>) -> vector<16xi32> {
  %q = arith.divsi %x, %y : vector<16xi32>
  return %q : vector<16xi32>
}

// CHECK-LABEL: func.func @RemaindersOfUnsignedBytes
// CHECK-DAG: %[[X:.*]] = arith.extui %arg0 : vector<64xi8> to vector<64xi32>
// CHECK-DAG: %[[Y:.*]] = arith.extui %arg1 : vector<64xi8> to vector<64xi32>
// CHECK: %[[Z:.*]] = arith.divf {{.*}} : vector<64xf32>
// CHECK: %[[Q:.*]] = arith.fptosi %[[Z]] : vector<64xf32> to vector<64xi32>
// CHECK: %[[T:.*]] = arith.muli %[[Q]], %[[Y]]
// CHECK: %[[R:.*]] = arith.subi %[[X]], %[[T]]
// CHECK: arith.trunci %[[R]] : vector<64xi32> to vector<64xi8>
func.func @RemaindersOfUnsignedBytes(%x: vector<64xi8>, %y: vector<64xi8>) -> vector<64xi8> {
  %r = arith.remui %x, %y : vector<64xi8>
  return %r : vector<64xi8>
}

// Two steps, each by the same reciprocal, and a comparison.
// CHECK-LABEL: func.func @LongByConstant
// CHECK: arith.divf {{.*}} : vector<8xf64>
// CHECK-COUNT-2: arith.fptoui {{.*}} : vector<8xf64> to vector<8xi64>
// CHECK: arith.cmpi uge
// CHECK-NOT: arith.divui
func.func @LongByConstant(%x: vector<8xi64>) -> vector<8xi64> {
  %seven = arith.constant dense<7> : vector<8xi64>
  %q = arith.divui %x, %seven : vector<8xi64>
  return %q : vector<8xi64>
}

// Constants of up to 32 bits and powers of two are multiplied by and shifted, numbers have an instruction.
// CHECK-LABEL: func.func @LeftAlone
// CHECK: arith.divsi %arg0, {{.*}} : vector<16xi32>
// CHECK: arith.remsi %arg1, {{.*}} : vector<8xi64>
// CHECK: arith.divui %arg2, %arg2 : i32
func.func @LeftAlone(%x: vector<16xi32>, %y: vector<8xi64>, %z: i32)
    -> (vector<16xi32>, vector<8xi64>, i32) {
  %seven = arith.constant dense<7> : vector<16xi32>
  %eight = arith.constant dense<8> : vector<8xi64>
  %q = arith.divsi %x, %seven : vector<16xi32>
  %r = arith.remsi %y, %eight : vector<8xi64>
  %s = arith.divui %z, %z : i32
  return %q, %r, %s : vector<16xi32>, vector<8xi64>, i32
}
