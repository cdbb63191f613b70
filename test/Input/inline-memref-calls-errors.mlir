// RUN: tilewright-opt %s -verify-diagnostics -tilewright-inline-memref-calls

// Each calls the next twice.
func.func private @f0(%x: memref<8xf32>) {
  memref.dealloc %x : memref<8xf32>
  return
}
func.func private @f1(%x: memref<8xf32>) {
  call @f0(%x) : (memref<8xf32>) -> ()
  call @f0(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f2(%x: memref<8xf32>) {
  call @f1(%x) : (memref<8xf32>) -> ()
  call @f1(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f3(%x: memref<8xf32>) {
  call @f2(%x) : (memref<8xf32>) -> ()
  call @f2(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f4(%x: memref<8xf32>) {
  call @f3(%x) : (memref<8xf32>) -> ()
  call @f3(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f5(%x: memref<8xf32>) {
  call @f4(%x) : (memref<8xf32>) -> ()
  call @f4(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f6(%x: memref<8xf32>) {
  call @f5(%x) : (memref<8xf32>) -> ()
  call @f5(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f7(%x: memref<8xf32>) {
  call @f6(%x) : (memref<8xf32>) -> ()
  call @f6(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f8(%x: memref<8xf32>) {
  call @f7(%x) : (memref<8xf32>) -> ()
  call @f7(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f9(%x: memref<8xf32>) {
  call @f8(%x) : (memref<8xf32>) -> ()
  call @f8(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f10(%x: memref<8xf32>) {
  call @f9(%x) : (memref<8xf32>) -> ()
  call @f9(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f11(%x: memref<8xf32>) {
  call @f10(%x) : (memref<8xf32>) -> ()
  call @f10(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f12(%x: memref<8xf32>) {
  call @f11(%x) : (memref<8xf32>) -> ()
  call @f11(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f13(%x: memref<8xf32>) {
  call @f12(%x) : (memref<8xf32>) -> ()
  call @f12(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f14(%x: memref<8xf32>) {
  call @f13(%x) : (memref<8xf32>) -> ()
  call @f13(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f15(%x: memref<8xf32>) {
  call @f14(%x) : (memref<8xf32>) -> ()
  // expected-error @+1 {{makes the program too large}}
  call @f14(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f16(%x: memref<8xf32>) {
  call @f15(%x) : (memref<8xf32>) -> ()
  call @f15(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @f17(%x: memref<8xf32>) {
  call @f16(%x) : (memref<8xf32>) -> ()
  call @f16(%x) : (memref<8xf32>) -> ()
  return
}
