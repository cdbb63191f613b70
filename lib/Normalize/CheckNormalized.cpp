// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gate behind `normalize`: what passes it is served by some strategy, what
// does not is refused here, with the reason and a way out.

#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CHECKNORMALIZEDPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

bool tilewright::isAcceptedElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         isFloat8(type);
}

static LogicalResult checkOperand(linalg::LinalgOp op, OpOperand &operand) {
  Type type = operand.get().getType();
  std::string name = nameOperand(operand);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (isa<ShapedType>(type) && !tensor)
    return op.emitOpError() << name << " is " << type
                            << "; only ranked tensors are compiled";
  if (tensor && tensor.getEncoding())
    return op.emitOpError() << name << " has the encoding "
                            << tensor.getEncoding()
                            << "; only dense tensors are compiled";
  if (!isAcceptedElementType(getElementTypeOrSelf(type)) &&
      !(type.isIndex() && !tensor))
    return op.emitOpError()
           << name << " has elements of type "
           << getElementTypeOrSelf(type)
           << "; accepted are f64, f32, f16, bf16, "
           << kFloat8Names << ", i64, i32, i16, i8, i1";
  if (tensor && tensor.getRank() > kMaxRank)
    return op.emitOpError() << name << " has rank "
                            << tensor.getRank() << "; the largest is "
                            << kMaxRank << " (collapse dims first)";
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isProjectedPermutation() && op.isDpsInit(&operand))
    return op.emitOpError()
           << name << " is indexed by " << AffineMapAttr::get(map)
           << ", which is not a projected permutation of the loops; write elements at other "
              "places by tilewright.scatter, or choose by linalg.index in a loop over all of the "
              "result";
  if (!map.isProjectedPermutation())
    return op.emitOpError()
           << name << " is indexed by "
           << AffineMapAttr::get(map)
           << ", which is not a projected permutation of the loops; of other "
              "maps, inputs may have sums of loops times positive constants "
              "(convolution, pooling, diagonals), and any where another operand "
              "has a dim for each loop";
  return success();
}

/// Elements that a body reads wherever it likes.
static LogicalResult checkExtract(linalg::GenericOp op,
                                  tensor::ExtractOp extract) {
  auto source = cast<RankedTensorType>(extract.getTensor().getType());
  if (isAcceptedElementType(source.getElementType()) && !source.getEncoding() &&
      source.getRank() <= kMaxRank)
    return success();
  return op.emitOpError() << "reads elements of " << source
                          << " in its body; accepted are dense tensors of f64, "
                             "f32, f16, bf16, "
                          << kFloat8Names << ", i64, i32, i16, i8, i1 of rank up to "
                          << kMaxRank;
}

static LogicalResult checkBody(linalg::GenericOp op) {
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp>(inner))
      continue;
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      if (failed(checkExtract(op, extract)))
        return failure();
      continue;
    }
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            inner.getDialect())) {
      InFlightDiagnostic error =
          op.emitOpError() << "has '" << inner.getName()
                           << "' in its body; accepted are scalar arith and "
                          "math ops, tensor.extract, linalg.index, scf.if and scf.for "
                          "of constant bounds and few iterations; a loop of other bounds goes "
                          "around the op";
      error.attachNote(inner.getLoc()) << "the op is here";
      return error;
    }
    for (Type type : inner.getResultTypes())
      if (!type.isIndex() && !isAcceptedElementType(type))
        return op.emitOpError() << "computes a value of type " << type
                                << " in its body; accepted are f64, f32, f16, "
                                   "bf16, "
                                << kFloat8Names << ", i64, i32, i16, i8, i1, index";
    if (isFloat8Arithmetic(&inner)) {
      InFlightDiagnostic error =
          op.emitOpError() << "has '" << inner.getName()
                           << "' on floats of 8 bits in its body, which are only "
                              "stored and converted; extend them to f32, "
                              "compute, and truncate the result";
      error.attachNote(inner.getLoc()) << "the op is here";
      return error;
    }
  }
  return success();
}

LogicalResult tilewright::checkNormalized(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError(
        "works on memrefs here; only ops on tensors are compiled (the stage "
        "`input` raises memrefs of identity layout)");
  if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()))
    return op.emitOpError("has no linalg.generic form; write it as one");
  for (OpOperand &operand : op->getOpOperands())
    if (failed(checkOperand(op, operand)))
      return failure();
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic)
    return success();
  if (generic.getNumLoops() > kMaxLoops)
    return op.emitOpError() << "has " << generic.getNumLoops()
                            << " loops; the most are " << kMaxLoops;
  llvm::SmallBitVector written(generic.getNumLoops());
  for (OpOperand &init : generic.getDpsInitsMutable())
    for (AffineExpr result : generic.getMatchingIndexingMap(&init).getResults())
      written.set(cast<AffineDimExpr>(result).getPosition());
  for (auto [loop, type] : llvm::enumerate(generic.getIteratorTypesArray())) {
    if (type == utils::IteratorType::parallel && !written.test(loop))
      return op.emitOpError()
             << "loop " << loop
             << " is parallel but no result has a dim for it, so its "
                "iterations write the same element; make it a reduction";
    if (type == utils::IteratorType::reduction && written.test(loop))
      return op.emitOpError()
             << "loop " << loop << " is a reduction but a result has a dim "
             << "for it; scans are not compiled";
  }
  return checkBody(generic);
}

namespace {
struct CheckNormalizedPass
    : public tilewright::impl::CheckNormalizedPassBase<CheckNormalizedPass> {
  void runOnOperation() override {
    bool refused = false;
    getOperation().walk([&](linalg::LinalgOp op) {
      refused |= failed(checkNormalized(op));
    });
    if (refused)
      signalPassFailure();
  }
};
} // namespace
