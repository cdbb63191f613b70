// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beside every public function of the oracle one that says, of each element of
// its results, by how much a right program may be off: running error analysis,
// a bound beside every value that floats have to do with.
//
//   func.func @f(%x: memref<?xf32>) -> memref<?xf32>
//     linalg.generic ins(%x) outs(%r)             // %e = math.exp %v
//
//   func.func @f.bounds(%x: memref<?xf32>) -> (memref<?xf32>, memref<?xf64>)
//     linalg.generic ins(%x) outs(%r, %b)         // the same, and the bound of
//     %e
//
// 1. Host control flow becomes branches, so that whatever flows anywhere flows
//    through block arguments.
// 2. Each function is cloned: @f.bounds, whose arguments are exact, and, where
// it
//    is called, @f.pair, whose arguments have bounds.
// 3. Block arguments, allocations, views, copies and calls get companions: a
//    memref of f64 beside a memref, an f64 beside a scalar. Operands that are
//    exact (inputs, constants) have none until they meet one that is not.
// 4. linalg.generic computes bounds in its body by the rules of ErrorRules.h. A
//    sum (kAccumulatorAttr) of K terms may be added up in any order and allows
//    (K + 8) u Σ|term|, u being the unit roundoff of the accumulator's type as
//    the program has it (Higham, Accuracy and Stability of Numerical
//    Algorithms, section 3.1). Where a target keeps few bits of sums of products of
//    8-bit floats (kFloat8SumsAttr), each of a partial sum's terms, and the sum so
//    far, loses less than the last of them.
//
// What is taken for granted: data-dependent branches of host code, and
// addresses that were computed from floats, are the same in both programs.

#include "Bounder.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Reference/BoundErrors.h"
#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringSet.h"

namespace tilewright {
#define GEN_PASS_DEF_BOUNDERRORSPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Loops of host code, of affine too, as branches; what the bodies of linalg ops have stays.
static LogicalResult lowerHostLoops(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateAffineToStdConversionPatterns(patterns);
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addDynamicallyLegalDialect<affine::AffineDialect, scf::SCFDialect>([](Operation *op) {
    return op->getParentOfType<linalg::LinalgOp>() != nullptr;
  });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

static void generalizeAll(ModuleOp module) {
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// True if floats decide about integers: their memory gets companions, too.
static bool makesIntegersOfFloats(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        if (isa<func::CallOp, memref::StoreOp>(op))
          return WalkResult::advance();
        bool isMade = llvm::any_of(op->getResultTypes(), [](Type type) {
          return isa<IntegerType, IndexType>(type);
        });
        bool fromFloat = llvm::any_of(op->getOperandTypes(), [](Type type) {
          return isa<FloatType>(type);
        });
        return isMade && fromFloat ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult tilewright::boundErrors(ModuleOp module) {
  generalizeAll(module);
  if (failed(lowerHostLoops(module)))
    return failure();
  bool tracksIntegers = makesIntegersOfFloats(module);
  auto fp = module->getAttrOfType<ArrayAttr>(kFpAttr);
  bool isTf32 = fp && llvm::is_contained(
                          fp, StringAttr::get(module.getContext(), "tf32"));
  ArrayRef<int64_t> float8Sums;
  if (auto sums = module->getAttrOfType<DenseI64ArrayAttr>(kFloat8SumsAttr))
    float8Sums = sums.asArrayRef();
  llvm::StringSet<> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      functions.push_back(func);
  SmallVector<std::pair<func::FuncOp, bool>> clones;
  for (func::FuncOp func : functions) {
    OpBuilder builder(func);
    builder.setInsertionPointAfter(func);
    auto add = [&](std::string name, bool isEntry) -> LogicalResult {
      if (module.lookupSymbol(name))
        return func.emitOpError()
               << "@" << name
               << " is what the oracle calls the error bounds of @"
               << func.getName()
               << ", and the program has a function of that "
                  "name; rename it";
      auto clone = cast<func::FuncOp>(builder.clone(*func));
      clone.setName(name);
      if (!isEntry)
        clone.setPrivate();
      clones.emplace_back(clone, isEntry);
      return success();
    };
    if ((func.isPublic() &&
         failed(add((func.getName() + kBoundsSuffix).str(), true))) ||
        (called.contains(func.getName()) &&
         failed(add(getPairName(func.getName()), false))))
      return failure();
  }
  for (auto [clone, isEntry] : clones)
    if (failed(Bounder(clone, isEntry, tracksIntegers, isTf32, float8Sums).run()))
      return failure();
  return success();
}

namespace {
struct BoundErrorsPass
    : tilewright::impl::BoundErrorsPassBase<BoundErrorsPass> {
  void runOnOperation() override {
    if (failed(boundErrors(getOperation())))
      signalPassFailure();
  }
};
} // namespace
