// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @maps(%q: tensor<4x8xf16>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{has 3 indexing maps for 4 operands: query, key, value, mask, keep, table and lengths if given, outputs}}
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
  // expected-error @below {{needs 'scale' where the depth is not known, or zero}}
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

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @size_of_pages(%q: tensor<2x4x8xf16>, %k: tensor<9x8x8xf16>, %v: tensor<9x8x8xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{has pages of 16 keys by its maps, but operand 1 is 'tensor<9x8x8xf16>'}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<9x8x8xf16>, tensor<9x8x8xf16>)
      table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, #k, #v, #t, #n, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @number_of_pages(%q: tensor<2x4x8xf16>, %k: tensor<9x16x8xf16>, %v: tensor<7x16x8xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{has 9 pages of keys and 7 of values}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<9x16x8xf16>, tensor<7x16x8xf16>)
      table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, #k, #v, #t, #n, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @table_type(%q: tensor<2x4x8xf16>, %k: tensor<9x16x8xf16>, %v: tensor<9x16x8xf16>, %t: tensor<2x3xi8>, %n: tensor<2xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{has a table or lengths of 'i8'; they are of i32 or i64}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<9x16x8xf16>, tensor<9x16x8xf16>)
      table(%t : tensor<2x3xi8>) lengths(%n : tensor<2xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, #k, #v, #t, #n, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @other_pages(%q: tensor<2x4x8xf16>, %k: tensor<9x16x8xf16>, %v: tensor<9x16x8xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{the map of its value, affine_map<(d0, d1, d2, d3, d4) -> (d2 floordiv 8, d2 mod 8, d4)>, is no projected permutation of the 5 loops, with pages by 'j floordiv n' and 'j mod n'}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<9x16x8xf16>, tensor<9x16x8xf16>)
      table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, #k, affine_map<(b, i, j, d, e) -> (j floordiv 8, j mod 8, e)>, #t, #n, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @no_rows(%q: tensor<2x4x8xf16>, %k: tensor<9x16x8xf16>, %v: tensor<9x16x8xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{the map of its key, affine_map<(d0, d1, d2, d3, d4) -> (d2 floordiv 16, d0, d3)>, is no projected permutation of the 5 loops, with pages by 'j floordiv n' and 'j mod n'}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<9x16x8xf16>, tensor<9x16x8xf16>)
      table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, affine_map<(b, i, j, d, e) -> (j floordiv 16, b, d)>, #v, #t, #n, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 1, j mod 1, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 1, j mod 1, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 1)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @pages_of_one(%q: tensor<2x4x8xf16>, %k: tensor<9x1x8xf16>, %v: tensor<9x1x8xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{the map of its key, affine_map<(d0, d1, d2, d3, d4) -> (d2, 0, d3)>, is no projected permutation of the 5 loops, with pages by 'j floordiv n' and 'j mod n'; leave out dims of one (tensor.collapse_shape), those of pages of one key, too}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<9x1x8xf16>, tensor<9x1x8xf16>)
      table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, affine_map<(b, i, j, d, e) -> (j floordiv 1, j mod 1, d)>, #v, #t, #n, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (b, j, d)>
#v = affine_map<(b, i, j, d, e) -> (b, j, e)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @narrow_result(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{gives 'f16'; it may give 'f32'}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%o : tensor<2x4x8xf16>)
      {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @lengths_of_queries(%q: tensor<2x4x8xf16>, %k: tensor<9x16x8xf16>, %v: tensor<9x16x8xf16>, %t: tensor<2x3xi32>, %n: tensor<2x4xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{the map of its lengths has loop 1; the last four loops are query, key, depth and column of the values}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<9x16x8xf16>, tensor<9x16x8xf16>)
      table(%t : tensor<2x3xi32>) lengths(%n : tensor<2x4xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, #k, #v, #t, affine_map<(b, i, j, d, e) -> (b, i)>, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(b, i, j, d, e) -> (b, i, d)>
#k = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, d)>
#v = affine_map<(b, i, j, d, e) -> (j floordiv 16, j mod 16, e)>
#t = affine_map<(b, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, i, j, d, e) -> (b)>
#o = affine_map<(b, i, j, d, e) -> (b, i, e)>
func.func @odd_table(%q: tensor<2x4x8xf16>, %k: tensor<2x4x8xf16>, %v: tensor<2x4x8xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>, %o: tensor<2x4x8xf16>) -> tensor<2x4x8xf16> {
  // expected-error @below {{the map of its table, affine_map<(d0, d1, d2, d3, d4) -> (d0, d2 * 2)>, is no projected permutation of the 5 loops, with pages by 'j floordiv n' and 'j mod n'}}
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>)
      table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) outs(%o : tensor<2x4x8xf16>) {indexing_maps = [#q, affine_map<(b, i, j, d, e) -> (j, b, d)>, affine_map<(b, i, j, d, e) -> (j, b, e)>, affine_map<(b, i, j, d, e) -> (b, j * 2)>, #n, #o]} -> tensor<2x4x8xf16>
  return %r : tensor<2x4x8xf16>
}

// -----

#q = affine_map<(i, j, d, e) -> (i, d)>
#k = affine_map<(i, j, d, e) -> (j, d)>
#v = affine_map<(i, j, d, e) -> (j, e)>
#m = affine_map<(i, j, d, e) -> (i, j)>
#o = affine_map<(i, j, d, e) -> (i, e)>
func.func @keep_beside_a_boolean_mask(%q: tensor<4x8xf16>, %m: tensor<4x4xi1>, %o: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @below {{has 'keep', of i1, which stands beside a mask of floats: where it is false the mask takes the score's place}}
  %r = tilewright.attention ins(%q, %q, %q : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>)
      mask(%m : tensor<4x4xi1>) keep(%m : tensor<4x4xi1>)
      outs(%o : tensor<4x8xf16>) {indexing_maps = [#q, #k, #v, #m, #m, #o]} -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}
