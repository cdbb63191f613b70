// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of --emit=loops: decompose, bufferize, free what was allocated, loops;
// at the end a look at what is left over.

#include "tilewright/Target/Reference/Loops.h"
#include "tilewright/Dialect/GreedyRewrite.h"

#include "tilewright/Target/Host/Passes.h"
#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

void tilewright::generalizeCopies(ModuleOp module) {
  module.walk([](memref::CopyOp op) {
    OpBuilder builder(op);
    int64_t rank = cast<ShapedType>(op.getSource().getType()).getRank();
    SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    linalg::GenericOp::create(
        builder, op.getLoc(), op.getSource(), op.getTarget(), maps, iterators,
        [](OpBuilder &b, Location l, ValueRange args) {
          linalg::YieldOp::create(b, l, args[0]);
        });
    op.erase();
  });
}

void tilewright::protectArguments(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (!func.isExternal() && isa<TensorType>(func.getArgumentTypes()[i]))
        func.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                        BoolAttr::get(module.getContext(), false));
}

void tilewright::buildBufferization(OpPassManager &pm) {
  pm.addPass(createCopyEqualResultsPass());
  pm.addPass(createCopyPartialInitsPass());
  pm.addNestedPass<func::FuncOp>(createKeepOverwrittenPass());
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addNestedPass<func::FuncOp>(createCopyReturnedViewsPass());
  pm.addPass(createOrderConstantsPass());
  pm.addPass(memref::createExpandReallocPass());
  pm.addPass(createCanonicalizePass("emit"));
}

static void buildMemrefs(OpPassManager &pm) {
  pm.addPass(createDecomposeOpsPass());
  buildBufferization(pm);
  pm.addPass(createCSEPass());
}

/// Frees what bufferization allocated, unless the program frees by itself:
/// upstream's analysis knows one owner only.
static void buildDeallocation(ModuleOp module, OpPassManager &pm) {
  if (module.walk([](memref::DeallocOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return;
  bufferization::BufferDeallocationPipelineOptions options;
  bufferization::buildBufferDeallocationPipeline(pm, options);
  pm.addPass(createConvertBufferizationToMemRefPass());
}

/// affine.for takes sizes that are known outside of every other loop. Ops whose
/// are not become scf.for, which a remark says.
static LogicalResult lowerInnerSizes(ModuleOp module) {
  SmallVector<linalg::LinalgOp> inner;
  module.walk([&](linalg::LinalgOp op) {
    if (llvm::any_of(op->getOperands(), [](Value operand) {
          auto type = dyn_cast<MemRefType>(operand.getType());
          return type && !type.hasStaticShape() &&
                 !affine::isTopLevelValue(operand);
        }))
      inner.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::LinalgOp op : inner) {
    op->emitRemark("becomes scf.for: affine.for needs sizes that are known "
                   "outside of the loop around it");
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op->emitOpError("has no loops");
    rewriter.eraseOp(op);
  }
  return success();
}

static void buildLoops(OpPassManager &pm, bool affine) {
  if (affine) {
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToAffineLoopsPass());
  } else {
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
    pm.addPass(createLowerAffinePass());
  }
  pm.addPass(createCanonicalizePass("emit"));
  pm.addPass(createCSEPass());
}

static LogicalResult checkAllLoops(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (!isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect,
                         bufferization::BufferizationDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("has no loops: upstream's bufferization and linalg to "
                    "loops leave it as it is; compile it with "
                    "--emit=artifact, or write it as a linalg.generic");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult tilewright::lowerToLoops(ModuleOp module, bool affine) {
  protectArguments(module);
  PassManager memrefs(module.getContext(), ModuleOp::getOperationName());
  buildMemrefs(memrefs);
  if (failed(memrefs.run(module)))
    return failure();
  generalizeCopies(module);
  PassManager deallocation(module.getContext(), ModuleOp::getOperationName());
  buildDeallocation(module, deallocation);
  if (failed(deallocation.run(module)) ||
      (affine && failed(lowerInnerSizes(module))))
    return failure();
  PassManager loops(module.getContext(), ModuleOp::getOperationName());
  buildLoops(loops, affine);
  if (failed(loops.run(module)))
    return failure();
  for (auto func : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      func.removeArgAttr(
          i, StringAttr::get(module.getContext(),
                             bufferization::BufferizationDialect::
                                 kWritableAttrName));
  return checkAllLoops(module);
}
