// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @maps(%q: tensor<4x8xf16>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{has 3 indexing maps for 4 operands: query, key, value, mask if given, outputs}}
  %r = tilewright.attention ins(%q, %q, %q : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #v]} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @loops(%q: tensor<4x8xf16>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{the map of its value lacks loop 3; the last four loops are query, key, depth and column of the values}}
  %r = tilewright.attention ins(%q, %q, %q : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #k, #o]} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @extents(%q: tensor<4x8xf16>, %k: tensor<6x16xf16>, %v: tensor<6x8xf16>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{operand 0 has 8 along loop 2, another operand 16}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<4x8xf16>, tensor<6x16xf16>, tensor<6x8xf16>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @types(%q: tensor<4x8xf16>, %k: tensor<4x8xf32>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{has queries, keys and values of different types; convert them first}}
  %r = tilewright.attention ins(%q, %k, %q : tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf16>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @causal(%q: tensor<4x8xf16>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{'causal' is "yes"; accepted are "top_left" and "bottom_right"}}
  %r = tilewright.attention ins(%q, %q, %q : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "yes"} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @scale(%q: tensor<4x?xf16>, %v: tensor<4x8xf16>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{needs 'scale' where the depth is not known}}
  %r = tilewright.attention ins(%q, %q, %v : tensor<4x?xf16>, tensor<4x?xf16>, tensor<4x8xf16>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @no_parts(%q: tensor<4x8xf16>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{has 'key_parts': its first loop then counts the parts, has a known extent and is in the maps of the results alone, and log-sum-exps are one of these}}
  %r = tilewright.attention ins(%q, %q, %q : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #v, #o], key_parts = 128 : i64} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}
