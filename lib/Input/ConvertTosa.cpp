// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TOSA functions become linalg on tensors by upstream's conversions, before any
// stage looks at them, and in the oracle, too.
//
//   %r = tosa.matmul %a, %b, %zero, %zero
//          : (tensor<1x4x8xf32>, tensor<1x8x16xf32>, …) -> tensor<1x4x16xf32>
// becomes
//   %z = linalg.fill ins(%cst) outs(%e)
//   %r = linalg.batch_matmul ins(%a, %b) outs(%z)
//
// Tosa.h says where upstream's
// conversions are not what the specification says, and what is done there.
//
// The conversions are applied as patterns and not as upstream's passes, so that
// what they have no pattern for is an error of ours, at the op.

#include "Tosa.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Input/Input.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTTOSAPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static bool isTosa(Operation *op) {
  return isa_and_nonnull<tosa::TosaDialect>(op->getDialect());
}

/// Types without signs, and shapes as far as they are known.
static void buildTypes(OpPassManager &func) {
  func.addPass(tosa::createTosaConvertIntegerTypeToSignless());
  func.addPass(tosa::createTosaInferShapesPass());
}

/// What upstream's pipeline does before it converts. Decompositions are made
/// for linalg, and broadcasts need operands of one rank.
static void buildPreparation(OpPassManager &func) {
  func.addPass(tosa::createTosaOptionalDecompositionsPass());
  func.addPass(createCanonicalizePass("input"));
  func.addPass(tosa::createTosaInferShapesPass());
  func.addPass(tosa::createTosaMakeBroadcastablePass());
  func.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  func.addPass(tosa::createTosaMakeBroadcastablePass());
}

using Populate = llvm::function_ref<void(TypeConverter &, RewritePatternSet &)>;

/// Applies patterns to what they match and leaves the rest. Patterns make
/// `Intermediate` ops, which are for later ones.
template <typename... Intermediate>
static LogicalResult convert(func::FuncOp func, Populate populate,
                             llvm::function_ref<bool(Operation *)> isConverted = isTosa) {
  MLIRContext *context = func.getContext();
  TypeConverter types;
  tosa::populateTosaTypeConversion(types);
  RewritePatternSet patterns(context);
  populate(types, patterns);
  ConversionTarget target(*context);
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  (target.addLegalOp<Intermediate>(), ...);
  // Neither legal nor illegal: converted where there is a pattern.
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return isConverted(op) && !isTileOfUnknownCount(op) ? std::nullopt
                                                        : std::optional<bool>(true);
  });
  return applyPartialConversion(func, target, std::move(patterns), config);
}

/// Named ops, before the general patterns, which would take some of them.
static void populateNamed(TypeConverter &types, RewritePatternSet &patterns) {
  tosa::populateTosaToLinalgNamedConversionPatterns(types, &patterns, {});
}

static void populateGeneral(TypeConverter &types, RewritePatternSet &patterns) {
  tosa::populateTosaToLinalgConversionPatterns(types, &patterns);
  populateTosaResize(patterns);
  populateTosaTile(patterns);
}

/// Ops of which upstream folds other results than TOSA's: zeros where a NaN is multiplied by them,
/// the number itself where it is negated twice, has 0.0 added or is the logarithm of its power,
/// products of constants in the operands' bits, clamps to infinities that ignore NaN as nothing, i1
/// with a sign. They are converted before anything folds, but for those whose operands' ranks have
/// yet to be made one.
static bool isFoldedAmiss(Operation *op) {
  auto rankOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : -1;
  };
  if (isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
    return rankOf(op->getOperand(0)) == rankOf(op->getOperand(1));
  return isa<tosa::NegateOp, tosa::CastOp, tosa::ClampOp, tosa::ExpOp, tosa::LogOp,
             tosa::ReciprocalOp>(op);
}

static LogicalResult convertFoldedAmiss(func::FuncOp func) {
  return convert<tosa::ApplyScaleOp, tosa::ConstOp, tosa::ConstShapeOp>(func, populateGeneral,
                                                                        isFoldedAmiss);
}

/// Extrema alone, so that the constants that they begin with are known.
static LogicalResult convertExtrema(func::FuncOp func) {
  markAsBefore(func);
  if (failed(convert<>(func, populateNamed, isTosaExtremum)) ||
      failed(convert<tosa::ReshapeOp, tosa::ConstShapeOp>(func, populateGeneral, isTosaExtremum)))
    return failure();
  beginWithInfinity(func);
  return success();
}

static void populateRest(TypeConverter &types, RewritePatternSet &patterns) {
  populateTosaScatter(patterns);
  tosa::populateTosaToTensorConversionPatterns(types, &patterns);
  tosa::populateTosaToSCFConversionPatterns(&patterns);
  tosa::populateTosaToArithConversionPatterns(&patterns);
  tosa::populateTosaRescaleToArithConversionPatterns(&patterns);
}

void tilewright::replaceWithCast(RewriterBase &b, Operation *op, Value value) {
  Type type = op->getResult(0).getType();
  if (value.getType() != type)
    value = tensor::CastOp::create(b, op->getLoc(), type, value);
  b.replaceOp(op, value);
}

static LogicalResult convertAll(func::FuncOp func) {
  if (failed(convertExtrema(func)) ||
      failed(convert<tosa::ApplyScaleOp, tosa::ConstOp, tosa::ConstShapeOp,
                     tosa::PadOp, tosa::ReshapeOp>(func, populateNamed)) ||
      failed(
          convert<tosa::ApplyScaleOp, tosa::ConstOp, tosa::ConstShapeOp,
                  tosa::ConcatOp, tosa::PadOp, tosa::ReshapeOp, tosa::SliceOp>(
              func, populateGeneral)))
    return failure();
  return convert<>(func, populateRest);
}

SmallVector<OperationName>
tilewright::getConvertedTosaOps(MLIRContext *context) {
  TypeConverter types;
  tosa::populateTosaTypeConversion(types);
  RewritePatternSet patterns(context);
  tosa::populateTosaDecomposeTransposeConv(context, patterns);
  tosa::populateTosaDecomposeDepthwise(context, patterns);
  populateNamed(types, patterns);
  populateGeneral(types, patterns);
  populateRest(types, patterns);
  llvm::SetVector<OperationName> names;
  for (auto &pattern : patterns.getNativePatterns())
    if (std::optional<OperationName> root = pattern->getRootKind();
        root && isa_and_nonnull<tosa::TosaDialect>(root->getDialect()))
      names.insert(*root);
  return names.takeVector();
}

/// Shapes that were operands are attributes of what they shaped.
static void eraseUnusedShapes(func::FuncOp func) {
  func.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isTosa(op) && op->use_empty() && isOpTriviallyDead(op))
      op->erase();
  });
}

static LogicalResult checkConverted(func::FuncOp func) {
  SmallVector<Operation *> left;
  func.walk([&](Operation *op) {
    if (isTosa(op))
      left.push_back(op);
  });
  // Shapes are left where what they shape is.
  auto isShape = [](Operation *op) { return isa<tosa::ConstShapeOp>(op); };
  if (!llvm::all_of(left, isShape))
    llvm::erase_if(left, isShape);
  for (Operation *op : left)
    op->emitOpError("is not compiled: MLIR's conversions of TOSA to linalg have no form for it with "
                    "these operands; write it as other tosa ops or as linalg.generic");
  return success(left.empty());
}

namespace {
struct ConvertTosaPass
    : public tilewright::impl::ConvertTosaPassBase<ConvertTosaPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func.walk([](Operation *op) {
               return isTosa(op) ? WalkResult::interrupt()
                                 : WalkResult::advance();
             })
             .wasInterrupted())
      return;
    prepareTosa(func);
    OpPassManager types(func::FuncOp::getOperationName());
    OpPassManager preparation(func::FuncOp::getOperationName());
    buildTypes(types);
    buildPreparation(preparation);
    if (failed(runPipeline(types, func)) || failed(convertFoldedAmiss(func)) ||
        failed(runPipeline(preparation, func)) || failed(convertAll(func)))
      return signalPassFailure();
    eraseUnusedShapes(func);
    if (failed(checkConverted(func)))
      signalPassFailure();
  }
};
} // namespace
