// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-tile: a configured kernel becomes the code of one block.
//
//   func.func private @k(%x: tensor<?xf32>, %o: tensor<?xf32>) … {
//     %r = linalg.generic {tilewright.lowering_config = <…, block = [128]>}
//            ins(%x) outs(%o) …
//     return %r
//   }
// becomes
//   func.func private @k(…) attributes {tilewright.launch = #tilewright.launch<
//       threads = 32, subgroup = 32,
//       tiles = affine_map<()[s0] -> (s0 ceildiv 128)>, dims = [0, 0]>, …} {
//     %n = tensor.dim %x, 0
//     %id = tilewright.tile_id(%n ceildiv 128) : index
//     %s = min(128, %n - %id * 128)
//     %xs = tensor.extract_slice %x[%id * 128] [%s] [1]
//     %r = linalg.generic {tilewright.tile_sizes = array<i64: 128>} ins(%xs) …
//     %u = tensor.insert_slice %r into %o[%id * 128] [%s] [1]
//     return %u
//   }
//
// Upstream's tile-and-fuse tiles one consumer and pulls producers in one by
// one; a kernel with several results, or with several reductions over one loop
// (softmax), needs all ops placed at once, which is what BlockBuilder does. The
// ops themselves stay linalg ops on slices, as upstream would leave them.

#include "tilewright/Analysis/IndexRanges.h"
#include "tilewright/Configure/Irregular.h"
#include "tilewright/Configure/KeptRows.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Gathers.h"
#include "tilewright/Dialect/KeptRows.h"
#include "tilewright/Dialect/OnlineSums.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Tile/Tile.h"
#include "AttentionBlock.h"
#include "BlockBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_TILEPASS
#include "tilewright/Tile/Passes.h.inc"
} // namespace tilewright

/// Attention is written as vectors here; `vectorize` leaves such a kernel as it is.
static LogicalResult tileAttention(func::FuncOp kernel, AttentionOp op,
                                   TargetAttr target) {
  auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config)
    return op.emitOpError("has no 'tilewright.lowering_config'; run "
                          "tilewright-configure or pin one");
  OrRefusal<AttentionPlan> plan = planAttention(op, config, target);
  if (!plan)
    return op.emitOpError() << "the lowering config does not fit: " << plan.why().str();
  OpBuilder b(kernel.getContext());
  std::unique_ptr<AttentionBlock> form;
  if (!plan->panel)
    form = std::make_unique<AttentionVectors>(b, op, *plan);
  else if (!plan->scores)
    form = std::make_unique<AttentionPanels>(b, op, *plan);
  else
    form = std::make_unique<AttentionTiles>(b, op, *plan);
  AttentionBlock &block = *form;
  llvm::SetVector<Operation *> masks;
  for (Value mask : masksOf(op))
    if (linalg::GenericOp producer = computedMask(op, mask))
      masks.insert(producer);
  op->replaceAllUsesWith(block.build());
  op.erase();
  for (Operation *mask : masks)
    mask->erase();
  SmallVector<int64_t> dims;
  for (auto [tensor, dim] : block.countDims)
    dims.append({operandNumber(cast<BlockArgument>(tensor)), int64_t(dim)});
  AffineMap tiles =
      AffineMap::get(0, block.countDims.size(), block.tileCounts, kernel.getContext());
  kernel->setAttr(kConfigAttr, config);
  kernel->setAttr(kLaunchAttr,
                  LaunchAttr::get(kernel.getContext(), plan->threads + plan->copyThreads,
                                  plan->subgroup, AffineMapAttr::get(tiles), dims,
                                  config.getPersistent(), /*cluster=*/{}));
  return success();
}

/// The op stays as it is until `bufferize` writes what a thread does.
static LogicalResult tileIrregular(func::FuncOp kernel, Operation *op, TargetAttr target) {
  auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config)
    return op->emitOpError("has no 'tilewright.lowering_config'; run "
                           "tilewright-configure");
  OrRefusal<IrregularPlan> plan = planIrregular(op, config, target);
  if (!plan)
    return op->emitOpError() << "the lowering config does not fit: " << plan.why().str();
  SmallVector<int64_t> dims;
  for (auto [tensor, dim] : plan->countDims)
    dims.append({operandNumber(cast<BlockArgument>(tensor)), dim});
  AffineMap tiles = AffineMap::get(0, plan->countDims.size(), plan->tileCounts,
                                   kernel.getContext());
  kernel->setAttr(kConfigAttr, config);
  kernel->setAttr(kLaunchAttr,
                  LaunchAttr::get(kernel.getContext(), plan->threads, plan->subgroup,
                                  AffineMapAttr::get(tiles), dims,
                                  /*persistent=*/false, /*cluster=*/{}));
  return success();
}

/// Unrolls loops whose terms a body of its own takes: what one step reads of memory is under way
/// before the first of it is needed.
static LogicalResult readTermsAhead(ArrayRef<std::pair<scf::ForOp, int64_t>> loops) {
  for (auto [loop, terms] : loops)
    if (failed(loopUnrollByFactor(loop, terms)))
      return loop.emitOpError() << "cannot be unrolled " << terms << " times";
  return success();
}

/// Marks tensor.extract whose last coordinate is always inside.
static void markColumns(linalg::LinalgOp op) {
  IndexRanges ranges(op, IndexRanges::Unknown::Any);
  op.getBlock()->walk([&](tensor::ExtractOp extract) {
    ShapedType source = extract.getTensor().getType();
    if (!source.getRank() || source.isDynamicDim(source.getRank() - 1))
      return;
    Value column = extract.getIndices().back();
    IndexRange range = ranges.get(column);
    if (range.isNatural() && range.high < source.getShape().back() && ranges.isExact(column))
      extract->setAttr(kColumnInsideAttr, UnitAttr::get(op->getContext()));
  });
}

LogicalResult tilewright::tileKernel(func::FuncOp kernel) {
  TargetAttr target = getTarget(kernel);
  if (!target)
    return kernel.emitOpError("is in no module with 'tilewright.target'");
  if (AttentionOp attention = findAttention(kernel))
    return tileAttention(kernel, attention, target);
  if (Operation *irregular = findIrregular(kernel))
    return tileIrregular(kernel, irregular, target);
  FailureOr<KernelInfo> info = KernelInfo::get(kernel);
  if (failed(info))
    return failure();
  auto config = info->getRoot()->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config)
    return info->getRoot()->emitOpError("has no 'tilewright.lowering_config'; run "
                                   "tilewright-configure or pin one");
  OrRefusal<TilePlan> plan = fits(*info, config, target);
  if (!plan)
    return info->getRoot()->emitOpError()
           << "the lowering config does not fit: " << plan.why().str();

  OpBuilder b(kernel.getContext());
  for (linalg::LinalgOp op : info->ops) {
    op->setAttr(kTileSizesAttr,
                b.getDenseI64ArrayAttr(plan->getVectorSizes(*info, op)));
    markColumns(op);
  }
  Operation *terminator = kernel.getBody().front().getTerminator();
  b.setInsertionPoint(terminator);
  BlockBuilder block(b, *info, *plan);
  FailureOr<SmallVector<Value>> results = block.build();
  if (failed(results))
    return failure();
  terminator->setOperands(*results);
  if (failed(readTermsAhead(block.loopsOfTerms)))
    return failure();

  SmallVector<int64_t> dims;
  for (auto [argument, dim] : block.countDims)
    dims.append({operandNumber(kernel.getArgument(argument)), int64_t(dim)});
  AffineMap tiles = AffineMap::get(0, block.countDims.size(), block.tileCounts,
                                   kernel.getContext());
  kernel->setAttr(kConfigAttr, config);
  SmallVector<int64_t> loaded;
  for (OpOperand *tile : loadedTiles(*info, config))
    loaded.push_back(operandNumber(cast<BlockArgument>(tile->get())));
  if (!loaded.empty())
    kernel->setAttr(kLoadedTilesAttr, b.getDenseI64ArrayAttr(loaded));
  SmallVector<int64_t> kept;
  for (OpOperand *rows : keptRows(*info, config))
    kept.push_back(operandNumber(cast<BlockArgument>(rows->get())));
  if (!kept.empty())
    kernel->setAttr(kKeptRowsAttr, b.getDenseI64ArrayAttr(kept));
  if (plan->onlineSums)
    kernel->setAttr(kOnlineSumsAttr, b.getI64IntegerAttr(plan->onlineSums));
  if (plan->chunks)
    kernel->setAttr(kChunksAttr, b.getDenseI64ArrayAttr({plan->chunks->tiles[0],
                                                         plan->chunks->steps}));
  if (plan->panels)
    kernel->setAttr(kPanelsAttr,
                    b.getDenseI64ArrayAttr({plan->panels->tiles[0],
                                            plan->panels->tiles[1],
                                            plan->panels->steps}));
  kernel->setAttr(kLaunchAttr,
                  LaunchAttr::get(kernel.getContext(), plan->threads + plan->copyThreads,
                                  plan->subgroup, AffineMapAttr::get(tiles),
                                  dims, config.getPersistent() && !config.getStreamK(),
                                  block.cluster));
  // The untiled ops, and whatever only they used.
  IRRewriter rewriter(kernel.getContext());
  for (linalg::LinalgOp op : llvm::reverse(info->ops))
    if (op->use_empty())
      rewriter.eraseOp(op);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  return success();
}

namespace {
struct TilePass : public tilewright::impl::TilePassBase<TilePass> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (isKernel(func) && !func.isExternal() && failed(tileKernel(func)))
        signalPassFailure();
  }
};
} // namespace

void tilewright::populateTilePipeline(OpPassManager &pm) {
  pm.addPass(createTilePass());
  pm.addPass(createPeelLoopsPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCoalesceLoopsPass());
  pm.addPass(createCSEPass());
}

void tilewright::registerTilePasses() {
  registerPass([] { return createTilePass(); });
  registerPass([] { return createPeelLoopsPass(); });
  registerPass([] { return createCoalesceLoopsPass(); });
}
