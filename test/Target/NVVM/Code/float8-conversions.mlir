// Conversions of floats of 8 bits by NVIDIA's instructions, and by the bits of f16 where there are none, of all bytes and of all f16 and
// their neighbours in f32: equal to what the reference makes of them.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && mkdir %t && tilewright-compile %s --target=cuda:sm_80,cuda:sm_90,cpu-reference -o %t/program.tw
// RUN: %python %S/Inputs/float8-conversions.py %t
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t/program.tw --device=ptxsim --function=extend --input=@%t/bytes.npy --input=@%t/bytes.npy --check=oracle | FileCheck %s
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t/program.tw --device=ptxsim --function=extend --input=@%t/bytes.npy --input=@%t/bytes.npy --check=oracle | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu-reference --fp=contract -o %t/contract.tw
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t/contract.tw --device=ptxsim --function=extend --input=@%t/bytes.npy --input=@%t/bytes.npy --check=oracle | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu-reference --fp=ftz -o %t/ftz.tw
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t/ftz.tw --device=ptxsim --function=extend --input=@%t/bytes.npy --input=@%t/bytes.npy --check=oracle | FileCheck %s
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t/program.tw --device=ptxsim --function=alone --input=@%t/odd.npy --check=oracle | FileCheck %s
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t/program.tw --device=ptxsim --function=alone --input=@%t/odd.npy --check=oracle | FileCheck %s
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t/program.tw --device=ptxsim --function=round --input=@%t/singles.npy --input=@%t/halves.npy --check=oracle | FileCheck %s
// RUN: env PTXSIM_ARCH=sm_90 tilewright-run %t/program.tw --device=ptxsim --function=round --input=@%t/singles.npy --input=@%t/halves.npy --check=oracle | FileCheck %s
// RUN: mkdir %t/ptx && tilewright-compile %s --target=cuda:sm_90 --emit=ptx -o %t/ptx && cat %t/ptx/*/* | FileCheck %s --check-prefix=PTX

// CHECK: result[0]: ok: {{.*}}, all elements equal
// CHECK: result[1]: ok: {{.*}}, all elements equal
// CHECK: result[2]: ok: {{.*}}, all elements equal
// CHECK: result[3]: ok: {{.*}}, all elements equal

// RUN: mkdir %t/ada && tilewright-compile %s --target=cuda:sm_89 --emit=ptx -o %t/ada && cat %t/ada/*/* | FileCheck %s --check-prefix=ADA
// ADA: .version 8.1

// PTX-DAG: .version 7.8
// PTX-DAG: cvt.rn.f16x2.e4m3x2
// PTX-DAG: cvt.rn.satfinite.e4m3x2.f32
// PTX-DAG: cvt.rn.satfinite.e5m2x2.f32

// Rows of an odd number of bytes have conversions without a partner; of signs, which equal zeros have both, copies show.
func.func @alone(%x: tensor<257xf8E4M3FN>) -> (tensor<257xf16>, tensor<257xf8E5M2>, tensor<257xf8E4M3FN>, tensor<257xf32>) {
  %one = arith.constant dense<1.0> : tensor<257xf32>
  %0 = arith.extf %x : tensor<257xf8E4M3FN> to tensor<257xf16>
  %1 = arith.truncf %0 : tensor<257xf16> to tensor<257xf8E5M2>
  %b = arith.extf %x : tensor<257xf8E4M3FN> to tensor<257xbf16>
  %2 = arith.truncf %b : tensor<257xbf16> to tensor<257xf8E4M3FN>
  %s = arith.extf %x : tensor<257xf8E4M3FN> to tensor<257xf32>
  %3 = math.copysign %one, %s : tensor<257xf32>
  return %0, %1, %2, %3 : tensor<257xf16>, tensor<257xf8E5M2>, tensor<257xf8E4M3FN>, tensor<257xf32>
}

func.func @extend(%x: tensor<4096xf8E4M3FN>, %y: tensor<4096xf8E5M2>) -> (tensor<4096xf16>, tensor<4096xf32>, tensor<4096xbf16>, tensor<4096xf16>) {
  %0 = arith.extf %x : tensor<4096xf8E4M3FN> to tensor<4096xf16>
  %1 = arith.extf %x : tensor<4096xf8E4M3FN> to tensor<4096xf32>
  %2 = arith.extf %y : tensor<4096xf8E5M2> to tensor<4096xbf16>
  %3 = arith.extf %y : tensor<4096xf8E5M2> to tensor<4096xf16>
  return %0, %1, %2, %3 : tensor<4096xf16>, tensor<4096xf32>, tensor<4096xbf16>, tensor<4096xf16>
}

func.func @round(%x: tensor<196608xf32>, %y: tensor<65536xf16>) -> (tensor<196608xf8E4M3FN>, tensor<196608xf8E5M2>, tensor<65536xf8E4M3FN>, tensor<65536xf8E5M2>) {
  %0 = arith.truncf %x : tensor<196608xf32> to tensor<196608xf8E4M3FN>
  %1 = arith.truncf %x : tensor<196608xf32> to tensor<196608xf8E5M2>
  %2 = arith.truncf %y : tensor<65536xf16> to tensor<65536xf8E4M3FN>
  %3 = arith.truncf %y : tensor<65536xf16> to tensor<65536xf8E5M2>
  return %0, %1, %2, %3 : tensor<196608xf8E4M3FN>, tensor<196608xf8E5M2>, tensor<65536xf8E4M3FN>, tensor<65536xf8E5M2>
}
