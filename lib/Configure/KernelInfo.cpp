// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the strategy that a kernel is for, and assumes extents.

#include "tilewright/Configure/KernelInfo.h"
#include "Strategy.h"
#include "tilewright/Configure/Pixels.h"
#include "tilewright/Dialect/Divisibility.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

static void chooseStrategy(KernelInfo &info) {
  TargetAttr target = getTarget(info.kernel);
  ArrayRef<const ScheduleStrategy *> strategies = strategiesFor(target);
  auto pinned = info.root->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  auto found = llvm::find_if(strategies, [&](const ScheduleStrategy *strategy) {
    return pinned && strategy->isAskedFor(info, pinned, target);
  });
  if (found == strategies.end())
    found = llvm::find_if(strategies, [&](const ScheduleStrategy *strategy) {
      return strategy->isFor(info, target);
    });
  info.strategy = (*found)->getName();
}

/// Loops of contractions whose sums no threads share.
static void markContracted(KernelInfo &info) {
  if (info.strategy == Strategy::SkinnyContraction)
    return;
  for (linalg::LinalgOp op : info.getProducts()) {
    const Contraction &contraction = *info.getContraction(op);
    for (ArrayRef<unsigned> loops :
         {ArrayRef(contraction.m), ArrayRef(contraction.n), ArrayRef(contraction.k)})
      for (unsigned loop : loops)
        info.classes[info.getClasses(op)[loop]].contracted = true;
  }
}

/// Of a convolution, rows of pixels fill a tile as well as images do, and a batch may
/// be of one: where there are rows, a dynamic batch is assumed to be of few.
static void assumeBatches(KernelInfo &info) {
  constexpr int64_t kRow = 16, kFew = 8;
  const Contraction *product = info.getContraction(info.root);
  if (!product)
    return;
  SmallVector<int64_t> extents = info.root.getStaticLoopRanges();
  for (ArrayRef<unsigned> side : {ArrayRef(product->m), ArrayRef(product->n)}) {
    if (llvm::none_of(side, [&](unsigned loop) {
          return !ShapedType::isDynamic(extents[loop]) && extents[loop] >= kRow;
        }))
      continue;
    for (unsigned loop : side) {
      LoopClass &loopClass = info.classes[info.getClasses(info.root)[loop]];
      if (!ShapedType::isDynamic(extents[loop]) || loopClass.isSettled)
        continue;
      loopClass.nominal = kFew;
      loopClass.isSettled = true;
    }
  }
}

/// Images that an open number of them is assumed to be, where no less is promised, and
/// pixels of them all where their size is open.
static constexpr int64_t kManyImages = 64, kManyPixels = kManyImages * 32 * 32;

int64_t tilewright::pixelsPerImage(const KernelLoops &info, unsigned loopClass) {
  linalg::LinalgOp root = info.root;
  if (!root || !info.kernel->hasAttr(kImagesAttr))
    return 1;
  for (OpOperand *input : root.getDpsInputOperands()) {
    auto argument = dyn_cast<BlockArgument>(input->get());
    if (!argument || !getImage(info.kernel, operandNumber(argument)))
      continue;
    unsigned loop = root.getMatchingIndexingMap(input).getDimPosition(0);
    if (info.getClasses(root)[loop] == loopClass)
      return pixelsPerImage(info.kernel, operandNumber(argument), 0);
  }
  return 1;
}

/// Dynamic extents are assumed to give a GPU something to do: 2^20 iterations
/// in all, or 1024 each.
static void assumeExtents(KernelInfo &info) {
  for (auto [number, loopClass] : llvm::enumerate(info.classes)) {
    int64_t operand = operandNumber(info.kernel.getArgument(loopClass.argument));
    int64_t most = promisedMost(info.kernel, operand, loopClass.dim);
    loopClass.most = ShapedType::isDynamic(loopClass.extent) ? most : loopClass.extent;
    if (ShapedType::isDynamic(loopClass.extent) && !ShapedType::isDynamic(most)) {
      loopClass.nominal = std::max<int64_t>(most, 1);
      loopClass.isSettled = true;
    } else if (int64_t pixels = pixelsPerImage(info, number);
               ShapedType::isDynamic(loopClass.extent) && pixels != 1) {
      loopClass.nominal =
          ShapedType::isDynamic(pixels) ? kManyPixels : kManyImages * pixels;
    }
  }
  assumeBatches(info);
  TargetAttr target = getTarget(info.kernel);
  if (!target || target.getFact("subgroup", 1) <= 1)
    return;
  double known = 1, dynamic = 0;
  for (const LoopClass &loopClass : info.classes)
    if (!ShapedType::isDynamic(loopClass.extent))
      known *= std::max<int64_t>(1, loopClass.extent);
    else if (loopClass.isSettled)
      known *= loopClass.nominal;
    else
      ++dynamic;
  for (LoopClass &loopClass : info.classes)
    while (dynamic && !loopClass.isSettled &&
           known * std::pow(2.0 * loopClass.nominal, dynamic) <= 1 << 20)
      loopClass.nominal *= 2;
}

FailureOr<KernelInfo> KernelInfo::get(func::FuncOp kernel) {
  FailureOr<KernelLoops> loops = KernelLoops::get(kernel);
  if (failed(loops))
    return failure();
  KernelInfo info;
  static_cast<KernelLoops &>(info) = std::move(*loops);
  chooseStrategy(info);
  markContracted(info);
  assumeExtents(info);
  return info;
}
