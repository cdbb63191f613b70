// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --threads=1 --input=192x2048xf32=random:1 --input=192x4096xf16=random:2 --input=192x4096xf16=random:3 --input=4096xf16=random:4 --input=4096xf16=random:5 --input=2048x384xf32=random:6 --input=8x131072xf32=random:7 --output=@%t.1.a.npy --output=@%t.1.b.npy --output=@%t.1.c.npy --output=@%t.1.d.npy --output=@%t.1.e.npy --output=@%t.1.f.npy --output=@%t.1.g.npy --output=@%t.1.h.npy --output=@%t.1.i.npy --output=@%t.1.j.npy
// RUN: tilewright-run %t.tw --device=cpu --threads=2 --input=192x2048xf32=random:1 --input=192x4096xf16=random:2 --input=192x4096xf16=random:3 --input=4096xf16=random:4 --input=4096xf16=random:5 --input=2048x384xf32=random:6 --input=8x131072xf32=random:7 --output=@%t.2.a.npy --output=@%t.2.b.npy --output=@%t.2.c.npy --output=@%t.2.d.npy --output=@%t.2.e.npy --output=@%t.2.f.npy --output=@%t.2.g.npy --output=@%t.2.h.npy --output=@%t.2.i.npy --output=@%t.2.j.npy
// RUN: tilewright-run %t.tw --device=cpu --threads=3 --input=192x2048xf32=random:1 --input=192x4096xf16=random:2 --input=192x4096xf16=random:3 --input=4096xf16=random:4 --input=4096xf16=random:5 --input=2048x384xf32=random:6 --input=8x131072xf32=random:7 --output=@%t.3.a.npy --output=@%t.3.b.npy --output=@%t.3.c.npy --output=@%t.3.d.npy --output=@%t.3.e.npy --output=@%t.3.f.npy --output=@%t.3.g.npy --output=@%t.3.h.npy --output=@%t.3.i.npy --output=@%t.3.j.npy
// RUN: cat %t.1.*.npy > %t.1
// RUN: cat %t.2.*.npy > %t.2
// RUN: cat %t.3.*.npy > %t.3
// RUN: cmp %t.1 %t.2
// RUN: cmp %t.1 %t.3

// Rows, columns and scans are divided among threads as whole blocks, which do not depend on how many threads there are: results have the
// same bits on one, two and three.

#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>

func.func @main(%x: tensor<192x2048xf32>, %h: tensor<192x4096xf16>, %k: tensor<192x4096xf16>, %g: tensor<4096xf16>, %b: tensor<4096xf16>,
                %c: tensor<2048x384xf32>, %s: tensor<8x131072xf32>)
    -> (tensor<192x2048xf32>, tensor<192x4096xf16>, tensor<192xf32>, tensor<192x4096xf16>, tensor<192x4096xi8>, tensor<192xf32>,
        tensor<192xf32>, tensor<192xi32>, tensor<384xf32>, tensor<8x131072xf32>) {
  %0 = func.call @softmax(%x) : (tensor<192x2048xf32>) -> tensor<192x2048xf32>
  %1 = func.call @layernorm(%h, %g, %b) : (tensor<192x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<192x4096xf16>
  %2 = func.call @lse(%x) : (tensor<192x2048xf32>) -> tensor<192xf32>
  %3:3 = func.call @quantize(%h, %k, %g) : (tensor<192x4096xf16>, tensor<192x4096xf16>, tensor<4096xf16>)
      -> (tensor<192x4096xf16>, tensor<192x4096xi8>, tensor<192xf32>)
  %4:2 = func.call @argmax(%x) : (tensor<192x2048xf32>) -> (tensor<192xf32>, tensor<192xi32>)
  %5 = func.call @columnsum(%c) : (tensor<2048x384xf32>) -> tensor<384xf32>
  %6 = func.call @scan(%s) : (tensor<8x131072xf32>) -> tensor<8x131072xf32>
  return %0, %1, %2, %3#0, %3#1, %3#2, %4#0, %4#1, %5, %6
      : tensor<192x2048xf32>, tensor<192x4096xf16>, tensor<192xf32>, tensor<192x4096xf16>, tensor<192x4096xi8>, tensor<192xf32>,
        tensor<192xf32>, tensor<192xi32>, tensor<384xf32>, tensor<8x131072xf32>
}

func.func private @softmax(%x: tensor<192x2048xf32>) -> tensor<192x2048xf32> {
  %e = tensor.empty() : tensor<192x2048xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<192x2048xf32>) outs(%e : tensor<192x2048xf32>) -> tensor<192x2048xf32>
  return %r : tensor<192x2048xf32>
}

func.func private @layernorm(%x: tensor<192x4096xf16>, %g: tensor<4096xf16>, %b: tensor<4096xf16>) -> tensor<192x4096xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<192xf32>) -> tensor<192xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<192x4096xf16>) outs(%z : tensor<192xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %a = arith.addf %acc, %w : f32
      linalg.yield %a : f32
  } -> tensor<192xf32>
  %v = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %s : tensor<192x4096xf16>, tensor<192xf32>) outs(%z : tensor<192xf32>) {
    ^bb0(%in: f16, %sum: f32, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %w, %mean : f32
      %q = arith.mulf %d, %d : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<192xf32>
  %o = tensor.empty() : tensor<192x4096xf16>
  %r = linalg.generic {indexing_maps = [#all, #column, #column, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %b, %s, %v : tensor<192x4096xf16>, tensor<4096xf16>, tensor<4096xf16>, tensor<192xf32>, tensor<192xf32>)
       outs(%o : tensor<192x4096xf16>) {
    ^bb0(%in: f16, %gain: f16, %bias: f16, %sum: f32, %squares: f32, %out: f16):
      %w = arith.extf %in : f16 to f32
      %k = arith.extf %gain : f16 to f32
      %c = arith.extf %bias : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %w, %mean : f32
      %variance = arith.divf %squares, %n : f32
      %safe = arith.addf %variance, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %d, %inv : f32
      %p = arith.mulf %y, %k : f32
      %t = arith.addf %p, %c : f32
      %h = arith.truncf %t : f32 to f16
      linalg.yield %h : f16
  } -> tensor<192x4096xf16>
  return %r : tensor<192x4096xf16>
}

func.func private @lse(%x: tensor<192x2048xf32>) -> tensor<192xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<192xf32>) -> tensor<192xf32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<192xf32>) -> tensor<192xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<192x2048xf32>) outs(%l : tensor<192xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %m : tensor<192x2048xf32>, tensor<192xf32>) outs(%z : tensor<192xf32>) {
    ^bb0(%in: f32, %top: f32, %acc: f32):
      %d = arith.subf %in, %top : f32
      %p = math.exp %d : f32
      %a = arith.addf %acc, %p : f32
      linalg.yield %a : f32
  } -> tensor<192xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%m, %s : tensor<192xf32>, tensor<192xf32>) outs(%e : tensor<192xf32>) {
    ^bb0(%top: f32, %sum: f32, %out: f32):
      %g = math.log %sum : f32
      %a = arith.addf %g, %top : f32
      linalg.yield %a : f32
  } -> tensor<192xf32>
  return %r : tensor<192xf32>
}

func.func private @quantize(%x: tensor<192x4096xf16>, %y: tensor<192x4096xf16>, %g: tensor<4096xf16>)
    -> (tensor<192x4096xf16>, tensor<192x4096xi8>, tensor<192xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %most = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<192xf32>) -> tensor<192xf32>
  %o = tensor.empty() : tensor<192x4096xf16>
  %h = linalg.add ins(%x, %y : tensor<192x4096xf16>, tensor<192x4096xf16>) outs(%o : tensor<192x4096xf16>) -> tensor<192x4096xf16>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%h : tensor<192x4096xf16>) outs(%z : tensor<192xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %q = arith.mulf %w, %w : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<192xf32>
  %t = tensor.empty() : tensor<192x4096xf32>
  %normal = linalg.generic {indexing_maps = [#all, #column, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%h, %g, %s : tensor<192x4096xf16>, tensor<4096xf16>, tensor<192xf32>) outs(%t : tensor<192x4096xf32>) {
    ^bb0(%in: f16, %gain: f16, %sum: f32, %out: f32):
      %w = arith.extf %in : f16 to f32
      %k = arith.extf %gain : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %safe = arith.addf %mean, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %u = arith.mulf %w, %inv : f32
      %p = arith.mulf %u, %k : f32
      linalg.yield %p : f32
  } -> tensor<192x4096xf32>
  %top = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%normal : tensor<192x4096xf32>) outs(%z : tensor<192xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %p = math.absf %in : f32
      %a = arith.maximumf %acc, %p : f32
      linalg.yield %a : f32
  } -> tensor<192xf32>
  %scale = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%top : tensor<192xf32>) outs(%e : tensor<192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %a = arith.divf %in, %most : f32
      %b = arith.maximumf %a, %tiny : f32
      linalg.yield %b : f32
  } -> tensor<192xf32>
  %b = tensor.empty() : tensor<192x4096xi8>
  %bytes = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%normal, %scale : tensor<192x4096xf32>, tensor<192xf32>) outs(%b : tensor<192x4096xi8>) {
    ^bb0(%in: f32, %unit: f32, %out: i8):
      %d = arith.divf %in, %unit : f32
      %near = math.roundeven %d : f32
      %i = arith.fptosi %near : f32 to i8
      linalg.yield %i : i8
  } -> tensor<192x4096xi8>
  return %h, %bytes, %scale : tensor<192x4096xf16>, tensor<192x4096xi8>, tensor<192xf32>
}

func.func private @argmax(%x: tensor<192x2048xf32>) -> (tensor<192xf32>, tensor<192xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<192xf32>
  %f = tensor.empty() : tensor<192xi32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<192xf32>) -> tensor<192xf32>
  %z = linalg.fill ins(%none : i32) outs(%f : tensor<192xi32>) -> tensor<192xi32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<192x2048xf32>) outs(%l, %z : tensor<192xf32>, tensor<192xi32>) {
    ^bb0(%in: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %i = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %in, %best : f32
      %b = arith.select %c, %in, %best : f32
      %a = arith.select %c, %i, %at : i32
      linalg.yield %b, %a : f32, i32
  } -> (tensor<192xf32>, tensor<192xi32>)
  return %r#0, %r#1 : tensor<192xf32>, tensor<192xi32>
}

func.func private @columnsum(%x: tensor<2048x384xf32>) -> tensor<384xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<384xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<384xf32>) -> tensor<384xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<2048x384xf32>) outs(%z : tensor<384xf32>) dimensions = [0]
  return %r : tensor<384xf32>
}

func.func private @scan(%x: tensor<8x131072xf32>) -> tensor<8x131072xf32> {
  %e = tensor.empty() : tensor<8x131072xf32>
  %r = tilewright.scan ins(%x : tensor<8x131072xf32>) outs(%e : tensor<8x131072xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<8x131072xf32>
  return %r : tensor<8x131072xf32>
}
