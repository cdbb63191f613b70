// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed operands of a contraction on a CPU: which kernels can have them, and what
// they take. lib/Promote/PackPanels.cpp carries it out.
//
//   block = [256, 256, 256], thread = [8, 32, 8] of a 512 x 512 x 512 matmul:
//     32 tiles of A, of which one row is packed at a time; 8 tiles of B;
//     chunks of 32 steps; 8 KiB + 256 KiB, and 256 KiB of sums between chunks
//
// A register tile takes one number of each of its rows at a time, which vectors take from
// anywhere: with promote = [1] they are read out of A, whose copy few columns do not pay.

#include "tilewright/Configure/TilePlan.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

int64_t tilewright::sumExtent(const KernelInfo &info, const Contraction &product) {
  int64_t extent = 1;
  for (unsigned loop : product.k)
    extent *= nominalExtent(info, loop);
  return extent;
}

Refusal tilewright::whyNotPacked(const KernelInfo &info) {
  linalg::LinalgOp root = info.getRoot();
  std::optional<Contraction> product = matchContractionByRows(root);
  auto extentOf = [&](unsigned loop) {
    return info.classes[info.getClasses(root)[loop]].extent;
  };
  auto isKnown = [&](unsigned loop) { return extentOf(loop) >= 0; };
  if (!product || product->perElement > 1)
    return refuse(Refused::NotContraction,
                  "it is no product of two operands with loops of their own");
  if (info.getProducts().size() > 1)
    return refuse(Refused::Neighbours, "the kernel has several products");
  if (info.split)
    return refuse(Refused::Config, "the sum is cut into parts");
  if (product->k.size() > 2)
    return refuse(Refused::NotContraction,
                  "the sum runs over " + Twine(product->k.size()) + " loops");
  if (product->k.size() == 2 && !isKnown(product->k.back()))
    return refuse(Refused::DynamicExtents,
                  "the sum runs over two loops, the inner one of a dynamic number of steps");
  if (llvm::all_of(product->k, isKnown) && sumExtent(info, *product) < 16)
    return refuse(Refused::Extents, "the sum is " + Twine(sumExtent(info, *product)) + " long");
  if (llvm::any_of(info.ops,
                   [&](linalg::LinalgOp op) { return op != root && op.getNumReductionLoops(); }))
    return refuse(Refused::Neighbours, "another op of the kernel reduces, too");
  if (llvm::any_of(root.getDpsInputOperands(),
                   [](OpOperand *input) { return bytesOf(input->get()) != input->get(); }))
    return refuse(Refused::Types, "two elements of an operand lie in a byte");
  return {};
}

Refusal tilewright::whyNoRowsInPlace(const KernelInfo &info) {
  linalg::LinalgOp root = info.getRoot();
  Contraction product = *matchContractionByRows(root);
  OpOperand &rows = root->getOpOperand(product.a);
  AffineMap map = root.getMatchingIndexingMap(&rows);
  auto type = cast<RankedTensorType>(rows.get().getType());
  unsigned k = product.k.front();
  std::string operand = numberOperand(rows);
  if (product.k.size() > 1)
    return refuse(Refused::NotContraction, "the sum runs over two loops");
  if (!isa<BlockArgument>(rows.get()))
    return refuse(Refused::Neighbours, operand + " is computed in the kernel");
  if (type.getElementType() != getElementTypeOrSelf(root.getDpsInits()[0].getType()))
    return refuse(Refused::Types, operand + " is widened for the product");
  if (map.getDimPosition(map.getNumResults() - 1) != k)
    return refuse(Refused::Layout, "the sum does not run along the rows of " + operand);
  return {};
}

bool tilewright::hasStrips(linalg::LinalgOp root, const Contraction &product) {
  AffineMap map = root.getMatchingIndexingMap(&root->getOpOperand(product.b));
  ArrayRef<AffineExpr> loops = map.getResults();
  auto isSummed = [&](AffineExpr loop) {
    return llvm::is_contained(product.k, cast<AffineDimExpr>(loop).getPosition());
  };
  return product.n.size() == 2 && loops.size() > 2 &&
         map.getDimPosition(0) == product.n.front() &&
         map.getDimPosition(loops.size() - 1) == product.n.back() &&
         llvm::all_of(loops.drop_front().drop_back(), isSummed);
}

Panels tilewright::planPanels(const KernelInfo &info, LoweringConfigAttr config,
                              const TilePlan &plan) {
  linalg::LinalgOp root = info.getRoot();
  Contraction product = *matchContractionByRows(root);
  ArrayRef<unsigned> classes = info.getClasses(root);
  auto tiles = [&](ArrayRef<unsigned> loops) {
    int64_t count = 1;
    for (unsigned loop : loops)
      count *= llvm::divideCeil(plan.classes[classes[loop]].step,
                                plan.classes[classes[loop]].inner);
    return count;
  };
  auto elements = [&](ArrayRef<unsigned> loops) {
    int64_t count = 1;
    for (unsigned loop : loops)
      count *= plan.classes[classes[loop]].inner;
    return count;
  };
  // Of two loops, a step of the outer one has all steps of the inner one.
  unsigned k = product.k.front();
  const LoopClass &sum = info.classes[classes[k]];
  int64_t step = plan.classes[classes[k]].step, innerSteps = 1;
  if (product.k.size() == 2) {
    unsigned inner = classes[product.k.back()];
    innerSteps = llvm::divideCeil(info.classes[inner].extent, plan.classes[inner].step);
  }
  Panels panels;
  panels.tiles[0] = tiles(product.m);
  panels.tiles[1] = tiles(product.n);
  int64_t chunk = entry(config.getBlock(), k, 0);
  if (!ShapedType::isDynamic(sum.extent))
    chunk = chunk ? std::min(chunk, sum.extent) : sum.extent;
  panels.steps = std::max<int64_t>(1, llvm::divideCeil(chunk, step)) * innerSteps;
  int64_t m = elements(product.m), n = elements(product.n);
  int64_t depth = panels.steps * plan.classes[classes[product.k.back()]].step;
  bool chunks = ShapedType::isDynamic(sum.extent) ||
                sum.extent > panels.steps / innerSteps * step;
  int64_t sumBytes = bytesPerElement(root.getDpsInits()[0].getType());
  panels.elementBytes = sumBytes;
  bool turnsRows = false;
  if (config.getMma()) {
    auto instruction = MatrixInstruction::parse(config.getContext(), config.getMma());
    panels.elementBytes = instruction->operandBits() / 8;
    // Intel's optimization manual, chapter "AMX": 16 cycles for 16 x 16 words.
    panels.speed = instruction->perWord() * (instruction->tiles ? 8 : 1);
    panels.inTiles = instruction->tiles;
    turnsRows = instruction->turnsRows();
  }
  panels.rowsInPlace = config.getPromote().size() == 1;
  panels.bytes = (panels.tiles[1] * n + (panels.rowsInPlace ? 0 : m)) * depth *
                     panels.elementBytes +
                 (chunks ? panels.tiles[0] * m * panels.tiles[1] * n : 0) * sumBytes;
  // A number of each column, and a step of one row (lib/Promote/TurnRows.cpp).
  if (turnsRows)
    panels.bytes += panels.tiles[1] * n * sumBytes +
                    plan.classes[classes[product.k.back()]].step * panels.elementBytes;
  return panels;
}

/// The loop along which a product, or a reduction of one result, is summed, if there is one.
static std::optional<unsigned> summedLoop(linalg::LinalgOp root) {
  if (std::optional<Contraction> product = matchProduct(root)) {
    if (product->perElement > 1 || product->k.size() != 1)
      return std::nullopt;
    return product->k.front();
  }
  SmallVector<unsigned> loops;
  root.getReductionDims(loops);
  if (loops.size() != 1 || root.getNumDpsInits() != 1)
    return std::nullopt;
  return loops.front();
}

std::optional<ChunkedSum> tilewright::chunkedSum(const KernelInfo &info) {
  linalg::LinalgOp root = info.getRoot();
  std::optional<unsigned> k = summedLoop(root);
  if (!k || info.split)
    return std::nullopt;
  // The matrix is contiguous along the result, and nothing else is summed.
  std::optional<unsigned> columns;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (map.getNumResults() == 2 && map.isProjectedPermutation() && map.getDimPosition(0) == *k)
      columns = map.getDimPosition(1);
  }
  if (!columns || !info.classes[info.getClasses(root)[*columns]].parallel)
    return std::nullopt;
  for (auto [loop, extent] : llvm::enumerate(promisedExtents(root)))
    if (loop != *k && loop != *columns && extent != 1)
      return std::nullopt;
  for (linalg::LinalgOp op : info.ops)
    if (op != root && op.getNumReductionLoops())
      return std::nullopt;
  return ChunkedSum{*k, *columns};
}
