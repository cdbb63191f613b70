// RUN: tilewright-opt %s -tilewright-decompose-tensor-ops -split-input-file -verify-diagnostics

func.func @Pack(%x: tensor<?xf32>, %d: tensor<?x?xf32>, %t: index) -> tensor<?x?xf32> {
  // expected-error @below {{has tiles of a size that is not known before the program runs; give inner_tiles as numbers}}
  %r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<?xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @Unpack(%x: tensor<?x?xf32>, %d: tensor<?xf32>, %t: index) -> tensor<?xf32> {
  // expected-error @below {{has tiles of a size that is not known before the program runs; give inner_tiles as numbers}}
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<?x?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}
