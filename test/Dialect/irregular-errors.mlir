// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @updates(%u: tensor<4x9xf32>, %i: tensor<4x1xi32>, %t: tensor<7x8xf32>) -> tensor<7x8xf32> {
  // expected-error @below {{has updates of 'tensor<4x9xf32>'; their dims are those of the indices but the last one, and those of the destination that are not among 'dims'}}
  %r = tilewright.scatter ins(%u, %i : tensor<4x9xf32>, tensor<4x1xi32>) outs(%t : tensor<7x8xf32>) {dims = array<i64: 0>} -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>
}

// -----

func.func @tuples(%u: tensor<4x8xf32>, %i: tensor<4x2xi32>, %t: tensor<7x8xf32>) -> tensor<7x8xf32> {
  // expected-error @below {{has 1 'dims'; the last dim of its indices is to be as long, and static}}
  %r = tilewright.scatter ins(%u, %i : tensor<4x8xf32>, tensor<4x2xi32>) outs(%t : tensor<7x8xf32>) {dims = array<i64: 0>} -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>
}

// -----

func.func @dims(%u: tensor<4xf32>, %i: tensor<4x2xi32>, %t: tensor<7x8xf32>) -> tensor<7x8xf32> {
  // expected-error @below {{'dims' are distinct dims of the destination, whose rank is 2}}
  %r = tilewright.scatter ins(%u, %i : tensor<4xf32>, tensor<4x2xi32>) outs(%t : tensor<7x8xf32>) {dims = array<i64: 1, 1>} -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>
}

// -----

func.func @mixed(%u: tensor<4x8xf32>, %i: tensor<4x1xi32>, %t: memref<7x8xf32>) {
  // expected-error @below {{mixes memrefs and tensors; use one of them}}
  tilewright.scatter ins(%u, %i : tensor<4x8xf32>, tensor<4x1xi32>) outs(%t : memref<7x8xf32>) {dims = array<i64: 0>}
  return
}

// -----

func.func @float8(%u: tensor<4x8xf8E4M3FN>, %i: tensor<4x1xi32>, %t: tensor<7x8xf8E4M3FN>) -> tensor<7x8xf8E4M3FN> {
  // expected-error @below {{has 'arith.addf' on floats of 8 bits in its combiner; extend them to f32, compute, and truncate the result}}
  %r = tilewright.scatter ins(%u, %i : tensor<4x8xf8E4M3FN>, tensor<4x1xi32>) outs(%t : tensor<7x8xf8E4M3FN>) {dims = array<i64: 0>} combine {
  ^bb0(%new: f8E4M3FN, %old: f8E4M3FN):
    %s = arith.addf %old, %new : f8E4M3FN
    tilewright.combined %s : f8E4M3FN
  } -> tensor<7x8xf8E4M3FN>
  return %r : tensor<7x8xf8E4M3FN>
}

// -----

func.func @exclusive(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is exclusive and needs an init: what the first element gets}}
  %r = tilewright.scan ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {dim = 0 : i64, exclusive} combine {
  ^bb0(%sum: f32, %next: f32):
    %s = arith.addf %sum, %next : f32
    tilewright.combined %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @init(%x: tensor<4x8xf32>, %i: tensor<4xf32>, %e: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{has an init of 'tensor<4xf32>'; it has the dims of the input, 'tensor<4x8xf32>', but the one of the scan}}
  %r = tilewright.scan ins(%x : tensor<4x8xf32>) init(%i : tensor<4xf32>) outs(%e : tensor<4x8xf32>) {dim = 0 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %s = arith.addf %sum, %next : f32
    tilewright.combined %s : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @combiner(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has a combiner that is no block of two arguments of 'f32', the elements' type}}
  %r = tilewright.scan ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {dim = 0 : i64} combine {
  ^bb0(%sum: f32):
    tilewright.combined %sum : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @empty(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has a combiner that does not end in 'tilewright.combined' of 'f32'}}
  %r = tilewright.scan ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {dim = 0 : i64} combine {
  ^bb0(%s: f32, %t: f32):
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @noOutput(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @below {{has 2 inputs and 1 outputs; each input, of which there is one at least, has an output}}
  %r = tilewright.sort ins(%x, %i : tensor<4xf32>, tensor<4xi32>) outs(%x : tensor<4xf32>) {dim = 0 : i64} -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @shapes(%x: tensor<4x3xf32>, %i: tensor<4x5xi32>) -> (tensor<4x3xf32>, tensor<4x5xi32>) {
  // expected-error @below {{has an operand of 'tensor<4x5xi32>' beside keys of 'tensor<4x3xf32>'; all have the same dims}}
  %r:2 = tilewright.sort ins(%x, %i : tensor<4x3xf32>, tensor<4x5xi32>) outs(%x, %i : tensor<4x3xf32>, tensor<4x5xi32>) {dim = 0 : i64} -> tensor<4x3xf32>, tensor<4x5xi32>
  return %r#0, %r#1 : tensor<4x3xf32>, tensor<4x5xi32>
}

// -----

func.func @results(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @below {{gives results of its destinations' types if these are tensors, else none}}
  %r = tilewright.sort ins(%x, %i : tensor<4xf32>, tensor<4xi32>) outs(%x, %i : tensor<4xf32>, tensor<4xi32>) {dim = 0 : i64} -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @sortDim(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'dim' is 1; the first input has rank 1}}
  %r = tilewright.sort ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {dim = 1 : i64} -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @comparison(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // expected-error @below {{has a comparison that is no block of two arguments each of 'f32', 'i32', the elements' types}}
  %r:2 = tilewright.sort ins(%x, %i : tensor<4xf32>, tensor<4xi32>) outs(%x, %i : tensor<4xf32>, tensor<4xi32>) {dim = 0 : i64} compare {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    tilewright.combined %c : i1
  } -> tensor<4xf32>, tensor<4xi32>
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

func.func @yields(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has a comparison that does not end in 'tilewright.combined' of 'i1'}}
  %r = tilewright.sort ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {dim = 0 : i64} compare {
  ^bb0(%a: f32, %b: f32):
    tilewright.combined %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is 'descending' and has a comparison; let that say the order}}
  %r = tilewright.sort ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {dim = 0 : i64, descending} compare {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    tilewright.combined %c : i1
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @tooMany(%x: tensor<4x7xf32>, %v: tensor<4x8xf32>, %i: tensor<4x8xi64>) -> tensor<4x8xf32> {
  // expected-error @below {{has an output of 'tensor<4x8xf32>' for an input of 'tensor<4x7xf32>'; it has the same dims but 1, which both outputs have alike and at most as long}}
  %r:2 = tilewright.top_k ins(%x : tensor<4x7xf32>) outs(%v, %i : tensor<4x8xf32>, tensor<4x8xi64>) {dim = 1 : i64} -> tensor<4x8xf32>, tensor<4x8xi64>
  return %r#0 : tensor<4x8xf32>
}

// -----

func.func @narrow(%x: tensor<400xf32>, %v: tensor<8xf32>, %i: tensor<8xi8>) -> tensor<8xf32> {
  // expected-error @below {{has indices of 'i8'; they are i32 or i64}}
  %r:2 = tilewright.top_k ins(%x : tensor<400xf32>) outs(%v, %i : tensor<8xf32>, tensor<8xi8>) {dim = 0 : i64} -> tensor<8xf32>, tensor<8xi8>
  return %r#0 : tensor<8xf32>
}

// -----

func.func @rows(%x: tensor<4x7xf32>, %i: tensor<28x1xi64>, %n: tensor<i64>) -> tensor<28x1xi64> {
  // expected-error @below {{has indices of 'tensor<28x1xi64>' for an input of rank 2; they are rows of so many}}
  %r:2 = tilewright.nonzero ins(%x : tensor<4x7xf32>) outs(%i, %n : tensor<28x1xi64>, tensor<i64>) -> tensor<28x1xi64>, tensor<i64>
  return %r#0 : tensor<28x1xi64>
}

// -----

func.func @count(%x: tensor<4x7xf32>, %i: tensor<28x2xi64>, %n: tensor<1xi64>) -> tensor<28x2xi64> {
  // expected-error @below {{has a count of 'tensor<1xi64>'; it has no dims, and is of 'i64' as the indices are}}
  %r:2 = tilewright.nonzero ins(%x : tensor<4x7xf32>) outs(%i, %n : tensor<28x2xi64>, tensor<1xi64>) -> tensor<28x2xi64>, tensor<1xi64>
  return %r#0 : tensor<28x2xi64>
}

// -----

func.func @values(%x: tensor<4x7xf32>, %v: tensor<4x7xf32>, %n: tensor<i64>) -> tensor<4x7xf32> {
  // expected-error @below {{has values of 'tensor<4x7xf32>'; they have one dim, and elements of 'f32' as the input has}}
  %r:2 = tilewright.unique ins(%x : tensor<4x7xf32>) outs(%v, %n : tensor<4x7xf32>, tensor<i64>) -> tensor<4x7xf32>, tensor<i64>
  return %r#0 : tensor<4x7xf32>
}

// -----

func.func @inverse(%x: tensor<4x7xf32>, %v: tensor<28xf32>, %n: tensor<i64>, %i: tensor<28xi64>) -> tensor<28xi64> {
  // expected-error @below {{has an inverse of 'tensor<28xi64>'; they have the dims of 'tensor<4x7xf32>', and are of 'i64' as the count is}}
  %r:3 = tilewright.unique ins(%x : tensor<4x7xf32>) outs(%v, %n : tensor<28xf32>, tensor<i64>) inverse(%i : tensor<28xi64>)
      -> tensor<28xf32>, tensor<i64>, tensor<28xi64>
  return %r#2 : tensor<28xi64>
}

// -----

func.func @scratch(%x: tensor<1x4x1xf32>, %e: tensor<1x4x1xf32>, %n: index, %s: tensor<3xi64>, %v: tensor<3xf32>) -> tensor<1x4x1xf32> {
  // expected-error @below {{looks back: that needs a 'chunk', neither 'carried' nor 'totals', and scratch memory for states of i32 and for values, of one dim each}}
  %r:3 = tilewright.scan ins(%x : tensor<1x4x1xf32>) chunk(%n) outs(%e : tensor<1x4x1xf32>) scratch(%s, %v : tensor<3xi64>, tensor<3xf32>) {dim = 1 : i64, look_back} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x4x1xf32>, tensor<3xi64>, tensor<3xf32>
  return %r#0 : tensor<1x4x1xf32>
}

// -----

func.func @noLookBack(%x: tensor<1x4x1xf32>, %e: tensor<1x4x1xf32>, %s: tensor<3xi32>) -> tensor<1x4x1xf32> {
  // expected-error @below {{has scratch memory and does not look back}}
  %r:2 = tilewright.scan ins(%x : tensor<1x4x1xf32>) outs(%e : tensor<1x4x1xf32>) scratch(%s : tensor<3xi32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<1x4x1xf32>, tensor<3xi32>
  return %r#0 : tensor<1x4x1xf32>
}
