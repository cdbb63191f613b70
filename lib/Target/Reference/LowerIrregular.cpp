// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element by element, in order:
//   %r = tilewright.scatter ins(%u, %i) outs(%t) {dims = [0]}
// becomes
//   scf.for %n { %p = tensor.extract %i[%n, 0]
//     scf.if (%p is inside) { scf.for %c {
//       %v = tensor.extract %u[%n, %c], … = tensor.insert %v into %t'[%p, %c] } } }

#include "LowerIrregular.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

static Value dimOf(OpBuilder &b, Location loc, Value tensor, int64_t dim) {
  return tensor::DimOp::create(b, loc, tensor, constant(b, loc, dim));
}

using Body = llvm::function_ref<Value(OpBuilder &, ValueRange, Value)>;

/// Loops over `sizes` that hand on a tensor.
static Value loops(OpBuilder &b, Location loc, ArrayRef<Value> sizes, Value tensor, Body body) {
  if (sizes.empty())
    return body(b, {}, tensor);
  SmallVector<Value> lower(sizes.size(), constant(b, loc, 0)), steps(sizes.size(), constant(b, loc, 1));
  return scf::buildLoopNest(b, loc, lower, sizes, steps, tensor,
                            [&](OpBuilder &inner, Location, ValueRange ids, ValueRange carried) {
                              return scf::ValueVector{body(inner, ids, carried.front())};
                            })
      .results.front();
}

/// `then` where `condition` holds, else `otherwise`.
static Value choose(OpBuilder &b, Location loc, Value condition, Value otherwise,
                    llvm::function_ref<Value(OpBuilder &)> then) {
  return scf::IfOp::create(
             b, loc, condition,
             [&](OpBuilder &inner, Location at) {
               Value result = then(inner);
               scf::YieldOp::create(inner, at, result);
             },
             [&](OpBuilder &inner, Location at) {
               scf::YieldOp::create(inner, at, otherwise);
             })
      .getResult(0);
}

Value tilewright::lowerScatter(OpBuilder &b, ScatterOp op) {
  Location loc = op.getLoc();
  SmallVector<int64_t> slice = op.getSliceDims();
  SmallVector<Value> counts, sizes;
  int64_t batch = op.getIndicesType().getRank() - 1;
  for (int64_t dim = 0; dim < batch; ++dim)
    counts.push_back(dimOf(b, loc, op.getIndices(), dim));
  for (int64_t dim : slice)
    sizes.push_back(dimOf(b, loc, op.getDest(), dim));
  Type i64 = b.getI64Type();
  return loops(b, loc, counts, op.getDest(), [&](OpBuilder &b, ValueRange update, Value dest) {
    SmallVector<Value> place(op.getDestType().getRank());
    Value inside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    for (auto [k, dim] : llvm::enumerate(op.getDims())) {
      SmallVector<Value> at(update);
      at.push_back(constant(b, loc, k));
      Value value = tensor::ExtractOp::create(b, loc, op.getIndices(), at);
      if (value.getType() != i64)
        value = arith::ExtSIOp::create(b, loc, i64, value);
      Value size = arith::IndexCastOp::create(b, loc, i64, dimOf(b, loc, op.getDest(), dim));
      inside = arith::AndIOp::create(
          b, loc, inside,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value, size));
      place[dim] = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
    }
    return choose(b, loc, inside, dest, [&](OpBuilder &b) {
      return loops(b, loc, sizes, dest, [&](OpBuilder &b, ValueRange element, Value dest) {
        SmallVector<Value> from(update), to(place);
        llvm::append_range(from, element);
        for (auto [dim, coordinate] : llvm::zip_equal(slice, element))
          to[dim] = coordinate;
        Value value = tensor::ExtractOp::create(b, loc, op.getUpdates(), from);
        if (!op.getCombiner().empty()) {
          Value old = tensor::ExtractOp::create(b, loc, dest, to);
          value = combine(b, op.getCombiner(), {value, old});
        }
        return tensor::InsertOp::create(b, loc, value, dest, to).getResult();
      });
    });
  });
}

Value tilewright::lowerScan(OpBuilder &b, ScanOp op) {
  Location loc = op.getLoc();
  Value length = dimOf(b, loc, op.getInput(), 1), one = constant(b, loc, 1), zero = constant(b, loc, 0);
  SmallVector<Value> sizes{dimOf(b, loc, op.getInput(), 0), dimOf(b, loc, op.getInput(), 2)};
  return loops(b, loc, sizes, op.getOutput(), [&](OpBuilder &b, ValueRange row, Value out) {
    Type element = op.getInputType().getElementType();
    Value nothing = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
    auto along = scf::ForOp::create(
        b, loc, zero, length, one, ValueRange{out, nothing},
        [&](OpBuilder &b, Location, Value step, ValueRange carried) {
          Value out = carried[0], before = carried[1];
          Value chunk = zero, within = step;
          if (op.getChunk()) {
            chunk = arith::DivUIOp::create(b, loc, step, op.getChunk());
            within = arith::RemUIOp::create(b, loc, step, op.getChunk());
          }
          Value place = step;
          if (op.getReverse())
            place = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, length, one), step);
          SmallVector<Value> at{row[0], place, row[1]};
          Value value = tensor::ExtractOp::create(b, loc, op.getInput(), at);
          auto isZero = [&](Value v) -> Value {
            return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, v, zero);
          };
          Value begins = isZero(within);
          if (op.getInit())
            before = choose(b, loc, begins, before, [&](OpBuilder &b) -> Value {
              Value number = chunk;
              if (op.getCarried()) // of the first chunk, whichever
                number = arith::SubIOp::create(
                    b, loc, arith::MaxUIOp::create(b, loc, chunk, one), one);
              SmallVector<Value> from{row[0], row[1]};
              if (op.getChunk())
                from.insert(from.begin() + 1, number);
              return tensor::ExtractOp::create(b, loc, op.getInit(), from);
            });
          Value next = combine(b, op.getCombiner(), {before, value});
          if (!op.getInit())
            next = arith::SelectOp::create(b, loc, begins, value, next);
          else if (op.getCarried())
            next = arith::SelectOp::create(b, loc, isZero(step), value, next);
          Value written = op.getExclusive() ? before : next;
          if (op.getTotals())
            at[1] = chunk;
          out = tensor::InsertOp::create(b, loc, written, out, at);
          scf::YieldOp::create(b, loc, ValueRange{out, next});
        });
    return along.getResult(0);
  });
}
