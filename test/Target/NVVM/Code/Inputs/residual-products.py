# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of 4096 cubed with a bias for each column and an f16 residual, the results f16; and of 8-bit floats without either."""

FORMS = {"nn": ("m, k", "k, n"), "tb": ("m, k", "n, k"), "tab": ("k, m", "n, k")}
SQUARE = "tensor<4096x4096x"


def product(element, form, beside):
    name = element.lower().replace("f8", "f_")
    maps = ", ".join(f"affine_map<(m, n, k) -> ({dims})>" for dims in (*FORMS[form], "m, n"))
    same, columns = "affine_map<(m, n) -> (m, n)>", "affine_map<(m, n) -> (n)>"
    more = f", %bias: tensor<4096xf32>, %residual: {SQUARE}f16>" if beside else ""
    print(f"""func.func @{name}_{form}{'' if beside else '_alone'}(%a: {SQUARE}{element}>, %b: {SQUARE}{element}>{more}) -> {SQUARE}f16> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {SQUARE}f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : {SQUARE}f32>) -> {SQUARE}f32>
  %s = linalg.contract indexing_maps = [{maps}] ins(%a, %b : {SQUARE}{element}>, {SQUARE}{element}>) outs(%z : {SQUARE}f32>) -> {SQUARE}f32>
  %o = tensor.empty() : {SQUARE}f16>
  %r = linalg.generic {{indexing_maps = [{', '.join([same] + [columns, same] * beside + [same])}], iterator_types = ["parallel", "parallel"]}}
      ins(%s{', %bias, %residual' * beside} : {SQUARE}f32>{f', tensor<4096xf32>, {SQUARE}f16>' * beside}) outs(%o : {SQUARE}f16>) {{
  ^bb0(%x: f32, {'%y: f32, %w: f16, ' * beside}%old: f16):""")
    if beside:
        print("""    %t = arith.addf %x, %y : f32
    %v = arith.extf %w : f16 to f32
    %u = arith.addf %t, %v : f32
    %q = arith.maximumf %u, %zero : f32""")
    print(f"""    %h = arith.truncf {'%q' if beside else '%x'} : f32 to f16
    linalg.yield %h : f16
  }} -> {SQUARE}f16>
  return %r : {SQUARE}f16>
}}""")


for of in ("f16", "bf16", "f32", "f8E4M3FN"):
    for order in FORMS:
        product(of, order, True)
product("f8E4M3FN", "tab", False)
