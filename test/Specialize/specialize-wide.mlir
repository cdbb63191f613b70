// RUN: tilewright-opt %s -tilewright-specialize | FileCheck %s

// A target that computes indices with 32 bits and can do with 64.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {index_bits = 32 : i64, wide_index}>} {
  // The variant comes last: its guard holds for all.
  // CHECK: func.func private @dynamic(
  // CHECK-NOT: tilewright.index_bits
  // CHECK: func.func private @dynamic_wide(
  // CHECK-SAME: tilewright.index_bits = 64 : i64
  // CHECK-SAME: tilewright.variant_of = "dynamic"
  func.func private @dynamic(%a: tensor<?x7xf32>) attributes {tilewright.kernel} {
    return
  }

  // CHECK: func.func private @rows_aligned(
  // CHECK-NOT: tilewright.index_bits
  // CHECK: func.func private @rows(
  // CHECK: func.func private @rows_wide(
  // CHECK-NOT: tilewright.divisible
  // CHECK-SAME: tilewright.index_bits = 64 : i64
  func.func private @rows(%a: tensor<8x?xf32>) attributes {tilewright.kernel} {
    return
  }

  // CHECK: func.func private @small(
  // CHECK-NOT: tilewright.index_bits
  // CHECK-NOT: @small_wide
  func.func private @small(%a: tensor<65536x32767xi8>) attributes {tilewright.kernel} {
    return
  }

  // CHECK: func.func private @large(
  // CHECK-SAME: tilewright.index_bits = 64 : i64
  // CHECK-NOT: @large_wide
  func.func private @large(%a: tensor<65536x32768xi8>) attributes {tilewright.kernel} {
    return
  }

  // Windows of known size and strides reach as far as these tell, and the address is near.
  // CHECK: func.func private @windows_aligned(
  // CHECK: func.func private @windows(
  // CHECK-NOT: tilewright.index_bits
  // CHECK-NOT: @windows_wide
  func.func private @windows(%a: tensor<112x7x112x28xf16>)
    attributes {tilewright.kernel, tilewright.views = [strided<[1832, 916, 8, 1], offset: ?>]} {
    return
  }

  // CHECK: func.func private @far(
  // CHECK-SAME: tilewright.index_bits = 64 : i64
  func.func private @far(%a: tensor<2x8xf16>)
    attributes {tilewright.kernel, tilewright.views = [strided<[2147483648, 2], offset: ?>]} {
    return
  }

  // CHECK: func.func private @strides_aligned(
  // CHECK: func.func private @strides(
  // CHECK: func.func private @strides_wide(
  func.func private @strides(%a: tensor<2x8xf16>)
    attributes {tilewright.kernel, tilewright.views = [strided<[?, 1], offset: ?>]} {
    return
  }
}
