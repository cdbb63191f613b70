# A function that adds 80 tensors, one after the other.
COUNT = 80
T = "tensor<16x8xf32>"
print(f"func.func @main({', '.join(f'%a{i}: {T}' for i in range(COUNT))}) -> {T} {{")
print(f"  %e = tensor.empty() : {T}")
last = "%a0"
for i in range(1, COUNT):
    print(f"  %s{i} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], "
          f'iterator_types = ["parallel", "parallel"]}} ins({last}, %a{i} : {T}, {T}) outs(%e : {T}) {{')
    print("  ^bb0(%x: f32, %y: f32, %o: f32):")
    print("    %t = arith.addf %x, %y : f32")
    print(f"    linalg.yield %t : f32\n  }} -> {T}")
    last = f"%s{i}"
print(f"  return {last} : {T}\n}}")
