// RUN: timeout 60 tilewright-opt %s -tilewright-avx512-math | FileCheck %s

// Each of a sorting network's values is looked at once, and not on each way to it.
// CHECK-LABEL: func @network(
// CHECK: return
func.func @network(%a0: vector<16xf32>, %b0: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %a1 = arith.maxnumf %a0, %b0 : vector<16xf32>
  %b1 = arith.minnumf %b0, %a0 : vector<16xf32>
  %a2 = arith.maxnumf %a1, %b1 : vector<16xf32>
  %b2 = arith.minnumf %b1, %a1 : vector<16xf32>
  %a3 = arith.maxnumf %a2, %b2 : vector<16xf32>
  %b3 = arith.minnumf %b2, %a2 : vector<16xf32>
  %a4 = arith.maxnumf %a3, %b3 : vector<16xf32>
  %b4 = arith.minnumf %b3, %a3 : vector<16xf32>
  %a5 = arith.maxnumf %a4, %b4 : vector<16xf32>
  %b5 = arith.minnumf %b4, %a4 : vector<16xf32>
  %a6 = arith.maxnumf %a5, %b5 : vector<16xf32>
  %b6 = arith.minnumf %b5, %a5 : vector<16xf32>
  %a7 = arith.maxnumf %a6, %b6 : vector<16xf32>
  %b7 = arith.minnumf %b6, %a6 : vector<16xf32>
  %a8 = arith.maxnumf %a7, %b7 : vector<16xf32>
  %b8 = arith.minnumf %b7, %a7 : vector<16xf32>
  %a9 = arith.maxnumf %a8, %b8 : vector<16xf32>
  %b9 = arith.minnumf %b8, %a8 : vector<16xf32>
  %a10 = arith.maxnumf %a9, %b9 : vector<16xf32>
  %b10 = arith.minnumf %b9, %a9 : vector<16xf32>
  %a11 = arith.maxnumf %a10, %b10 : vector<16xf32>
  %b11 = arith.minnumf %b10, %a10 : vector<16xf32>
  %a12 = arith.maxnumf %a11, %b11 : vector<16xf32>
  %b12 = arith.minnumf %b11, %a11 : vector<16xf32>
  %a13 = arith.maxnumf %a12, %b12 : vector<16xf32>
  %b13 = arith.minnumf %b12, %a12 : vector<16xf32>
  %a14 = arith.maxnumf %a13, %b13 : vector<16xf32>
  %b14 = arith.minnumf %b13, %a13 : vector<16xf32>
  %a15 = arith.maxnumf %a14, %b14 : vector<16xf32>
  %b15 = arith.minnumf %b14, %a14 : vector<16xf32>
  %a16 = arith.maxnumf %a15, %b15 : vector<16xf32>
  %b16 = arith.minnumf %b15, %a15 : vector<16xf32>
  %a17 = arith.maxnumf %a16, %b16 : vector<16xf32>
  %b17 = arith.minnumf %b16, %a16 : vector<16xf32>
  %a18 = arith.maxnumf %a17, %b17 : vector<16xf32>
  %b18 = arith.minnumf %b17, %a17 : vector<16xf32>
  %a19 = arith.maxnumf %a18, %b18 : vector<16xf32>
  %b19 = arith.minnumf %b18, %a18 : vector<16xf32>
  %a20 = arith.maxnumf %a19, %b19 : vector<16xf32>
  %b20 = arith.minnumf %b19, %a19 : vector<16xf32>
  %a21 = arith.maxnumf %a20, %b20 : vector<16xf32>
  %b21 = arith.minnumf %b20, %a20 : vector<16xf32>
  %a22 = arith.maxnumf %a21, %b21 : vector<16xf32>
  %b22 = arith.minnumf %b21, %a21 : vector<16xf32>
  %a23 = arith.maxnumf %a22, %b22 : vector<16xf32>
  %b23 = arith.minnumf %b22, %a22 : vector<16xf32>
  %a24 = arith.maxnumf %a23, %b23 : vector<16xf32>
  %b24 = arith.minnumf %b23, %a23 : vector<16xf32>
  %a25 = arith.maxnumf %a24, %b24 : vector<16xf32>
  %b25 = arith.minnumf %b24, %a24 : vector<16xf32>
  %a26 = arith.maxnumf %a25, %b25 : vector<16xf32>
  %b26 = arith.minnumf %b25, %a25 : vector<16xf32>
  %a27 = arith.maxnumf %a26, %b26 : vector<16xf32>
  %b27 = arith.minnumf %b26, %a26 : vector<16xf32>
  %a28 = arith.maxnumf %a27, %b27 : vector<16xf32>
  %b28 = arith.minnumf %b27, %a27 : vector<16xf32>
  %a29 = arith.maxnumf %a28, %b28 : vector<16xf32>
  %b29 = arith.minnumf %b28, %a28 : vector<16xf32>
  %a30 = arith.maxnumf %a29, %b29 : vector<16xf32>
  %b30 = arith.minnumf %b29, %a29 : vector<16xf32>
  %a31 = arith.maxnumf %a30, %b30 : vector<16xf32>
  %b31 = arith.minnumf %b30, %a30 : vector<16xf32>
  %a32 = arith.maxnumf %a31, %b31 : vector<16xf32>
  %b32 = arith.minnumf %b31, %a31 : vector<16xf32>
  %a33 = arith.maxnumf %a32, %b32 : vector<16xf32>
  %b33 = arith.minnumf %b32, %a32 : vector<16xf32>
  %a34 = arith.maxnumf %a33, %b33 : vector<16xf32>
  %b34 = arith.minnumf %b33, %a33 : vector<16xf32>
  %a35 = arith.maxnumf %a34, %b34 : vector<16xf32>
  %b35 = arith.minnumf %b34, %a34 : vector<16xf32>
  %a36 = arith.maxnumf %a35, %b35 : vector<16xf32>
  %b36 = arith.minnumf %b35, %a35 : vector<16xf32>
  %a37 = arith.maxnumf %a36, %b36 : vector<16xf32>
  %b37 = arith.minnumf %b36, %a36 : vector<16xf32>
  %a38 = arith.maxnumf %a37, %b37 : vector<16xf32>
  %b38 = arith.minnumf %b37, %a37 : vector<16xf32>
  %a39 = arith.maxnumf %a38, %b38 : vector<16xf32>
  %b39 = arith.minnumf %b38, %a38 : vector<16xf32>
  %a40 = arith.maxnumf %a39, %b39 : vector<16xf32>
  %b40 = arith.minnumf %b39, %a39 : vector<16xf32>
  return %a40, %b40 : vector<16xf32>, vector<16xf32>
}
