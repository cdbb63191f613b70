// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-distribute))' -verify-diagnostics

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, async_copy}>} {
func.func private @partial(%a: memref<8x1004xf16>, %k: index)
    attributes {tilewright.kernel, tilewright.access = ["read"],
                tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %at = arith.muli %k, %c128 : index
  %s = memref.alloc() : memref<1x128xf16, #tilewright.shared>
  // One row alone may begin anywhere, and its end is in the middle of 16 bytes.
  // expected-error @+1 {{is clipped at an end that is in the middle of 16 bytes ('tilewright.clipped')}}
  tilewright.async_copy %a[%c0, %at] to %s {in_bounds = [true, false], map = affine_map<(d0, d1) -> (d0, d1)>, tilewright.clipped = 16 : i64} : memref<8x1004xf16> to memref<1x128xf16, #tilewright.shared>
  tilewright.async_commit
  return
}
}
