// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_ATTENTION_OP_TD
#define TILEWRIGHT_ATTENTION_OP_TD

include "tilewright/Dialect/TilewrightBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tilewright_AttentionOp : Op<Tilewright_Dialect, "attention", [Pure,
    AttrSizedOperandSegments, DestinationStyleOpInterface]> {
  let summary = "softmax of masked scores of queries and keys, times values";
  let description = [{
    For each batch index b, query i and column e of the values:

        s[i, j]   = scale * sum over d of query[b, i, d] * key[b, j, d]
        s[i, j]   = softcap * tanh(s[i, j] / softcap)          where given
        s[i, j]   = 0                                          where `keep` is given and false
        s[i, j]   = s[i, j] + mask[b, i, j], or -inf where a boolean mask is false
        s[i, j]   = -inf where causal or window do not let i see j
        p[i, j]   = exp(s[i, j] - max over j) / sum over j of exp(...)
        out[i, e] = sum over j of p[i, j] * value[b, j, e]
        lse[i]    = log of the sum over j of exp(s[i, j])      where asked for

    A query that sees no key gets zeros, and -inf as its log-sum-exp. Scores, softmax
    and sums are f32 (f64 of f64 inputs); p is rounded to the type of the values
    before it is multiplied. This is what ONNX's `Attention` of opset 25 computes, whose
    order of scale, soft cap, mask and windows is the op's.

    `keep`, of i1, stands beside a mask of floats: where it is false the mask takes the
    score's place. A program that chooses a number there, and not -inf, has that in a query
    of which all keys are hidden: their average, say.

    `indexing_maps` are those of query, key, value, mask, keep, table, lengths (these four where
    given), out and log-sum-exp (where asked for), over the loops (batch..., i, j, d, e): the
    last four are query, key, depth and column of the values, all others are batch loops.
    Each map is a projected permutation, so that operands may lie in any order, and each
    operand may lack batch loops: keys and values without the loop of a group are those
    of grouped or multi-query heads.

    `lengths`, of i32 or i64, say how many keys there are for a batch index: no more than
    the loop has, and 0 for less than none. Keys and values behind them are not read, and
    "bottom_right" has its last key there: j <= i + length - queries, also of a length that is
    more than the loop has.

    With a `table`, of i32 or i64, keys and values lie in pages of n rows, anywhere in a pool
    that all batch indices share. Their maps then have `j floordiv n` where a pool counts
    its pages and `j mod n` where a page counts its rows, and the table's has `j floordiv n`:

        key[b, j, d] = pool[table[b, j floordiv n], j mod n, d]

    What `key` and `value` mean above is that. A page beyond the pool is moved inside, as
    coordinates of any gather are; entries behind the length are not looked at.

      * `scale`: one over the square root of the depth where not given.
      * `causal`: "top_left": query i sees keys j <= i. "bottom_right": the last
        query sees the last key, j <= i + keys - queries.
      * `window = [left, right]`: of the keys around its diagonal (that of `causal`;
        top left without) a query sees `left` before and `right` behind, both inclusive;
        -1 is no limit.
      * `softcap`: 0 is none.
      * `key_parts`: the keys are taken in parts. The first batch loop, which only the
        results have, counts them: result p is that of the p-th part of the keys alone.
        Parts are of equal length, the least multiple of `key_parts` that reaches all keys.
        Results of parts are put together by their log-sum-exps.

    ```mlir
    // 8 heads of keys for 32 heads of queries, causal
    %o = tilewright.attention
        ins(%q, %k, %v : tensor<8x4x?x64xf16>, tensor<8x?x64xf16>, tensor<8x?x64xf16>)
        outs(%e : tensor<8x4x?x64xf16>)
        {indexing_maps = [affine_map<(h, g, i, j, d, e) -> (h, g, i, d)>, affine_map<(h, g, i, j, d, e) -> (h, j, d)>,
                          affine_map<(h, g, i, j, d, e) -> (h, j, e)>, affine_map<(h, g, i, j, d, e) -> (h, g, i, e)>],
         causal = "top_left"} -> tensor<8x4x?x64xf16>
    // One query for each of ? sequences, whose keys lie in pages of 16
    %o = tilewright.attention
        ins(%q, %k, %v : tensor<?x8x4x64xf16>, tensor<?x16x8x64xf16>, tensor<?x16x8x64xf16>)
        table(%t : tensor<?x?xi32>) lengths(%n : tensor<?xi32>) outs(%e : tensor<?x8x4x64xf16>)
        {indexing_maps = [affine_map<(b, h, i, j, d, e) -> (b, h, i, d)>,
                          affine_map<(b, h, i, j, d, e) -> (j floordiv 16, j mod 16, h, d)>,
                          affine_map<(b, h, i, j, d, e) -> (j floordiv 16, j mod 16, h, e)>,
                          affine_map<(b, h, i, j, d, e) -> (b, j floordiv 16)>,
                          affine_map<(b, h, i, j, d, e) -> (b)>,
                          affine_map<(b, h, i, j, d, e) -> (b, h, i, e)>]} -> tensor<?x8x4x64xf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, Optional<AnyRankedTensor>:$mask,
                       Optional<AnyRankedTensor>:$keep,
                       Optional<AnyRankedTensor>:$table,
                       Optional<AnyRankedTensor>:$lengths,
                       Variadic<AnyRankedTensor>:$outputs,
                       AffineMapArrayAttr:$indexing_maps,
                       OptionalAttr<F64Attr>:$scale,
                       OptionalAttr<StrAttr>:$causal,
                       OptionalAttr<DenseI64ArrayAttr>:$window,
                       OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<I64Attr>:$key_parts);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,`
    type($value) `)` (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`keep` `(` $keep^ `:` type($keep) `)`)?
    (`table` `(` $table^ `:` type($table) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict `->` type($results)
  }];
  let extraClassDeclaration = [{
    /// Operands in the order of their maps; outputs last.
    ::mlir::AffineMap getMap(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexingMaps()[number]).getValue();
    }
    ::mlir::AffineMap getQueryMap() { return getMap(0); }
    ::mlir::AffineMap getKeyMap() { return getMap(1); }
    ::mlir::AffineMap getValueMap() { return getMap(2); }
    ::mlir::AffineMap getMaskMap() { return getMask() ? getMap(3) : ::mlir::AffineMap(); }
    ::mlir::AffineMap getKeepMap() {
      return getKeep() ? getMap(3 + bool(getMask())) : ::mlir::AffineMap();
    }
    ::mlir::AffineMap getTableMap() {
      return getTable() ? getMap(getTableNumber()) : ::mlir::AffineMap();
    }
    unsigned getTableNumber() { return 3 + bool(getMask()) + bool(getKeep()); }
    ::mlir::AffineMap getLengthsMap() {
      return getLengths() ? getMap(getNumInputs() - 1) : ::mlir::AffineMap();
    }
    ::mlir::AffineMap getOutputMap(unsigned number = 0) {
      return getMap(getNumInputs() + number);
    }
    unsigned getNumInputs() {
      return getTableNumber() + bool(getTable()) + bool(getLengths());
    }
    /// Keys of a page; 0 where keys and values do not lie in pages.
    int64_t getPageSize();
    /// Operand `number` is a pool of pages.
    bool isPool(unsigned number) { return getTable() && (number == 1 || number == 2); }
    unsigned getNumLoops() { return getQueryMap().getNumDims(); }
    unsigned getNumBatchLoops() { return getNumLoops() - 4; }
    unsigned getQueryLoop() { return getNumLoops() - 4; }
    unsigned getKeyLoop() { return getNumLoops() - 3; }
    unsigned getDepthLoop() { return getNumLoops() - 2; }
    unsigned getColumnLoop() { return getNumLoops() - 1; }
    /// The extent of each loop, dynamic where no operand tells.
    ::llvm::SmallVector<int64_t> getLoopExtents();
    /// An operand and its dim that have loop `loop`, and how many steps of the loop an
    /// element of it is: of a table of pages their keys, else 1.
    std::pair<::mlir::Value, unsigned> getOperandOfLoop(unsigned loop);
    int64_t getStepsOfLoop(unsigned loop);
    /// The scale, given or not; the depth is static then.
    double getScaleValue();
    double getSoftcapValue() {
      return getSoftcap() ? getSoftcap()->convertToDouble() : 0.0;
    }
    /// How many parts the keys are taken in; 1 without `key_parts`.
    int64_t getNumKeyParts() { return getKeyParts() ? getLoopExtents()[0] : 1; }
    /// The type of scores, softmax and sums.
    ::mlir::FloatType getScoreType();
    bool hasLogSumExp() { return getOutputs().size() == 2; }
    /// Keys before and behind the diagonal that a query sees, -1: all of them, by
    /// `causal` and `window` together.
    int64_t getKeysBefore();
    int64_t getKeysBehind();
    /// The diagonal ends at the last query and the last key.
    bool isBottomRight() { return getCausal() == "bottom_right"; }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
  let hasVerifier = 1;
}

#endif
