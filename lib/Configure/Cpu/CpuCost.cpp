// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel costs on a CPU: multiply-adds of one lane, by register tiles, and what
// reading or packing the operands of a product adds. Good enough to rank schedules of
// one kernel; no time.

#include "CostModel.h"
#include "Enumerate.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tilewright;

namespace {
/// What the model counts.
struct Counts {
  double blocks = 1;
  /// Steps that one block does one after the other.
  double steps = 1;
  double tileElements = 1;
};
} // namespace

static Counts count(const KernelInfo &info, const TilePlan &plan) {
  Counts counts;
  for (auto [loopClass, tile] : llvm::zip_equal(info.classes, plan.classes)) {
    double tiles = llvm::divideCeil(
        llvm::divideCeil(nominalExtent(loopClass), loopClass.parts), tile.step);
    (loopClass.parallel ? counts.blocks : counts.steps) *= tiles;
    counts.tileElements *= tile.step;
  }
  return counts;
}

/// Vector instructions that bring a vector of an operand of `op` to the type of the sums:
/// its conversion, and the ops of the kernel that compute it.
static double conversionCost(linalg::LinalgOp op, Value operand, Type sum) {
  double cost = 0;
  if (auto producer = operand.getDefiningOp<linalg::LinalgOp>()) {
    if (isa<linalg::FillOp>(producer.getOperation()))
      return 0;
    for (Value input : producer.getDpsInputs())
      cost = std::max(cost, conversionCost(producer, input,
                                           getElementTypeOrSelf(operand.getType())));
    for (Operation &inner : producer.getBlock()->without_terminator())
      cost += isa<CastOpInterface>(inner) ? 0 : 1;
  }
  Type type = getElementTypeOrSelf(operand.getType());
  unsigned bits = type.getIntOrFloatBitWidth();
  if (type == sum)
    return cost;
  // Of 8-bit floats exponent and mantissa are taken apart; of 4 bits two share a byte.
  if (isa<FloatType>(type))
    return cost + (bits == 8 ? 14 : 2);
  return cost + (bits < 8 ? 6 : 2);
}

/// The same of both operands of a product whose register tiles multiply numbers of the
/// sums' type.
static std::pair<double, double> conversionCosts(const KernelInfo &info,
                                                 const Contraction &product) {
  linalg::LinalgOp root = info.getRoot();
  Type sum = getElementTypeOrSelf(root.getDpsInits()[0].getType());
  return {conversionCost(root, root->getOperand(product.a), sum),
          conversionCost(root, root->getOperand(product.b), sum)};
}

/// What packing costs a contraction, in multiply-adds of one lane; without it, what
/// reading the second operand again and again from caches further away does.
static double operandCost(const KernelInfo &info, const TilePlan &plan,
                          TargetAttr target) {
  std::optional<Contraction> product = matchContractionByRows(info.getRoot());
  if (!product)
    return 0;
  /// To move an element: a row of a tile is one load and one store.
  constexpr double kMove = 6;
  /// More per multiply-add where a column of tiles leaves the first-level cache, where
  /// the operand leaves the second-level cache.
  constexpr double kBeyondFirst = 0.15, kBeyondSecond = 1;
  /// The first where the operand is stored in the order in which it is read.
  constexpr double kBeyondFirstInOrder = 0.02;
  /// To read an element of a strip of columns the first time, where rows come from memory:
  /// each row of the strip is in a page of its own.
  constexpr double kStrip = 10;
  /// Rows so many bytes apart share a set of the first-level cache.
  constexpr int64_t kSetBytes = 16 * 1024;
  ArrayRef<unsigned> classes = info.getClasses(info.getRoot());
  auto count = [&](ArrayRef<unsigned> loops, auto &&size) {
    double result = 1;
    for (unsigned loop : loops)
      result *= size(info.classes[classes[loop]], plan.classes[classes[loop]]);
    return result;
  };
  auto extent = [](const LoopClass &loopClass, const ClassTile &) {
    return double(nominalExtent(loopClass));
  };
  auto blocks = [](const LoopClass &loopClass, const ClassTile &tile) {
    return double(llvm::divideCeil(nominalExtent(loopClass), tile.step));
  };
  double batch = count(product->batch, extent), m = count(product->m, extent),
         n = count(product->n, extent), k = count(product->k, extent);
  if (plan.panels) {
    double rows = m * count(product->n, blocks);
    if (plan.panels->rowsInPlace)
      rows *= int64_t(k) * plan.panels->elementBytes % kSetBytes ? 0 : 2;
    double move = kMove * plan.panels->elementBytes /
                  bytesPerElement(info.getRoot().getDpsInits()[0].getType());
    auto [convertA, convertB] = plan.panels->speed == 1
                                    ? conversionCosts(info, *product)
                                    : std::pair<double, double>(0, 0);
    double columns = n * count(product->m, blocks);
    return batch * k *
           (move * (rows + columns) + convertA * rows + convertB * columns);
  }
  auto inner = [](const LoopClass &, const ClassTile &tile) {
    return double(tile.inner);
  };
  auto step = [](const LoopClass &, const ClassTile &tile) { return double(tile.step); };
  double bytes = bytesPerElement(info.getRoot()->getOperand(product->b).getType());
  double column = k * count(product->n, inner) * bytes, operand = k * n * bytes;
  // Windows of a convolution lie over each other.
  auto type = cast<ShapedType>(info.getRoot()->getOperand(product->b).getType());
  if (type.hasStaticShape()) {
    double own = double(type.getNumElements()) / batch * bytes;
    column *= std::min(1.0, own / operand);
    operand = std::min(operand, own);
  }
  bool strips = hasStrips(info.getRoot(), *product);
  // A block that has all rows, or many of a strip, and one tile's columns, keeps these.
  double kept = operand;
  if ((count(product->m, blocks) == 1 || strips) &&
      count(product->n, inner) == count(product->n, step))
    kept = column;
  AffineMap map = info.getRoot().getMatchingIndexingMap(
      &info.getRoot()->getOpOperand(product->b));
  double more = kept > target.getFact("l2_bytes", 256 * 1024)    ? kBeyondSecond
                : column > target.getFact("l1_bytes", 32 * 1024) ? strips ? kBeyondFirstInOrder
                                                                          : kBeyondFirst
                                                                 : 0;
  // Columns that are not contiguous are gathered for each row of tiles.
  if (llvm::is_contained(product->k, map.getDimPosition(map.getNumResults() - 1)))
    more += kBeyondSecond;
  // A row of tiles reads each column once, which the first of them has to.
  double again = std::max(0.0, 1 - count(product->m, inner) / m);
  double first =
      operand > target.getFact("l2_bytes", 256 * 1024) && !strips ? kStrip : 0;
  return more * again * batch * m * n * k + first * batch * operand / bytes;
}

/// Whether a block computes all rows of a contraction, a tile after the other.
static bool hasAllRows(const KernelInfo &info, const TilePlan &plan) {
  std::optional<Contraction> product = matchContractionByRows(info.getRoot());
  if (!product)
    return false;
  ArrayRef<unsigned> classes = info.getClasses(info.getRoot());
  bool several = false;
  for (unsigned loop : product->m) {
    const ClassTile &tile = plan.classes[classes[loop]];
    if (nominalExtent(info.classes[classes[loop]]) > tile.step)
      return false;
    several |= tile.step > tile.inner;
  }
  return several;
}

/// More per multiply-add where a register tile of R rows by V vectors loads as much as it
/// multiplies: R numbers and V vectors for R x V multiply-adds. A little more where it
/// loads less than that: of equal tiles the larger one waits less. And what it takes to
/// convert what is loaded.
static double loadFactor(const KernelInfo &info, const TilePlan &plan, TargetAttr target) {
  std::optional<Contraction> product = matchContractionByRows(info.getRoot());
  if (!product || (plan.panels && plan.panels->inTiles))
    return 1;
  ArrayRef<unsigned> classes = info.getClasses(info.getRoot());
  double bytes = bytesPerElement(info.getRoot().getDpsInits()[0].getType()), rows = 1;
  for (unsigned loop : product->m)
    rows *= plan.classes[classes[loop]].inner;
  double vectors = std::ceil(plan.classes[classes[product->n.back()]].inner * bytes /
                             target.getFact("vector_bytes", 32));
  double loads = (rows + vectors) / (rows * vectors);
  // Without panels each register tile converts what it loads.
  double converts = 0;
  if (!plan.panels) {
    auto [convertA, convertB] = conversionCosts(info, *product);
    converts = (convertA * rows + convertB * vectors) / (rows * vectors);
  }
  /// Multiply-adds, and dot products of words, that are begun before the first of them has
  /// ended: two a cycle of four to five, and of up to six cycles (uops.info, Zen 4 and Zen 5,
  /// VFMADD231PS and VDPBF16PS). Fewer sums wait for each other.
  double begun = plan.panels && plan.panels->speed != 1 ? 12 : 10;
  double waits = std::max(0.0, begun / (rows * vectors) - 1);
  return 1 + 4 * std::max(0.0, loads - 1) + 0.05 * loads + waits + converts;
}

/// Of `work` multiply-adds of a lane, whether the runtime runs all blocks in one thread.
static bool isSmallProduct(const KernelInfo &info, double work, TargetAttr target) {
  /// Of vectors.
  constexpr double kSmall = 80e3;
  double lanes = target.getFact("vector_bytes", 32) /
                 double(bytesPerElement(info.getRoot().getDpsInits()[0].getType()));
  return matchContractionByRows(info.getRoot()) && work <= kSmall * lanes;
}

/// More per multiply-add where every column of tiles is a block of its own and the last one
/// is cut by the edge: nothing tells it from the others, so all of them read and write under
/// masks, which take long where masks have no registers of their own.
static double maskFactor(const KernelInfo &info, const TilePlan &plan, TargetAttr target) {
  constexpr double kMasked = 1.7;
  std::optional<Contraction> product = matchContractionByRows(info.getRoot());
  if (!product || plan.panels || target.getFact("vector_bytes", 32) >= 64 ||
      target.getFact("sve_bits", 0))
    return 1;
  unsigned columns = info.getClasses(info.getRoot())[product->n.back()];
  const ClassTile &tile = plan.classes[columns];
  int64_t extent = nominalExtent(info.classes[columns]);
  return tile.step == tile.inner && extent > tile.inner && extent % tile.inner ? kMasked : 1;
}

/// More where the rows that a tile goes along several times, and what it may keep of each
/// element meanwhile, leave the second-level cache: fewer rows at a time would stay there.
static double rowsFactor(const KernelInfo &info, const TilePlan &plan, TargetAttr target) {
  constexpr double kBeyondSecond = 1.25;
  if (countPasses(info, plan) < 2 || matchContractionByRows(info.getRoot()))
    return 1;
  double elements = 1;
  bool several = false;
  for (auto [loopClass, tile] : llvm::zip_equal(info.classes, plan.classes)) {
    elements *= loopClass.parallel ? tile.inner : nominalExtent(loopClass);
    several |= loopClass.parallel && tile.inner > 1;
  }
  double bytes = bytesPerElement(info.getRoot()->getOperand(0).getType());
  return several && 2 * elements * bytes > target.getFact("l2_bytes", 256 * 1024)
             ? kBeyondSecond
             : 1;
}

double tilewright::estimateCpu(const KernelInfo &info, const TilePlan &plan,
                          TargetAttr target) {
  Counts counts = count(info, plan);
  // Elements are computed by register tiles; a partial one costs a whole one,
  // a small one does not pay for its loop.
  double tiles = counts.blocks * counts.steps, elements = 1, padded = 1;
  for (auto [loopClass, tile] : llvm::zip_equal(info.classes, plan.classes)) {
    double extent = nominalExtent(loopClass);
    padded *= llvm::divideCeil(int64_t(extent), tile.inner) * tile.inner;
    elements *= tile.inner;
  }
  double work = padded * (elements + 16) / elements * loadFactor(info, plan, target) *
                maskFactor(info, plan, target) / (plan.panels ? plan.panels->speed : 1);
  // Blocks of packed operands or of all rows are large: fewer threads have to do. Two
  // that read long rows take most of what memory gives.
  double threads = plan.chunks ? 2 : plan.panels || hasAllRows(info, plan) ? 4 : 16;
  // What takes little longer than handing it out runs in few threads, or in one.
  constexpr double kSmallElements = 128 * 1024;
  if (!matchContractionByRows(info.getRoot()) && padded <= kSmallElements)
    threads = std::min(threads, 4.0);
  if (isSmallProduct(info, padded / (plan.panels ? plan.panels->speed : 1), target))
    threads = 1;
  double grain = std::ceil(counts.blocks / threads) * threads;
  work += operandCost(info, plan, target);
  return work * rowsFactor(info, plan, target) * countPasses(info, plan) * grain /
             counts.blocks +
         50 * tiles;
}

