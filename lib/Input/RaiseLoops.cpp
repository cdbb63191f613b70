// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over memrefs become structured ops, one for each store:
//
//   affine.for %i = 0 to 64 { affine.for %j = 0 to 48 { affine.for %k = 0 to 32 {
//     %x = affine.load %a[%i, %k];  %y = affine.load %b[%k, %j];  %z = affine.load %c[%i, %j]
//     %m = arith.mulf %x, %y;       %s = arith.addf %z, %m
//     affine.store %s, %c[%i, %j]
//   } } }
// becomes
//   linalg.generic {(i, j, k): (i, k), (k, j), (i, j)} ins(%a, %b) outs(%c) { mulf; addf }
//
// Loops that are in the place of the store are parallel, others are sums. Several stores are
// carried out one after the other, each for all iterations, where no dependence forbids it
// (LoopStatements.h). What is read is a view: offsets, and steps of one loop, are its own,
// sums of loops (windows) are the map's. Conditions, and loops that go as far as others say,
// are choices in the body (NestConditions.cpp, NestRectangles.cpp).
//
// affine.for becomes structured ops or is refused. An outer loop whose iterations depend on
// each other, as one of time, stays on the host where what is in it becomes structured ops.
// scf.for around loads and stores stays host code where it does not, and a remark says why.

#include "NestRaiser.h"
#include "tilewright/Input/Input.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilewright {
#define GEN_PASS_DEF_RAISELOOPSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

LogicalResult NestRaiser::run() {
  Operation *original = nest;
  std::optional<NestRefusal> refusal = checkOps();
  bool isHost = isa<scf::ForOp>(original);
  // A loop around kernels and calls is the host's, and no nest of loads and stores.
  if (refusal && isHost && !isa<scf::ForOp, affine::AffineForOp>(refusal->op))
    return failure();
  if (!refusal) {
    // All is tried on a copy, behind the nest.
    b.setInsertionPointAfter(original);
    nest = b.clone(*original);
    refusal = toAffine();
  }
  if (!refusal) {
    refusal = checkDependences();
    isDependence = refusal.has_value();
    for (Statement &statement : collectStatements(nest))
      if (!refusal)
        refusal = build(statement);
  }
  if (refusal) {
    why.emplace(refusal->op->getLoc(),
                ("'" + refusal->op->getName().getStringRef() + "' op " + refusal->reason).str());
    if (refusal->other)
      other = refusal->other->getLoc();
  }
  for (Operation *copy : copies)
    copy->erase();
  if (!refusal) {
    b.setInsertionPointAfter(nest);
    for (auto [result, memref] : llvm::zip_equal(original->getResults(), given))
      result.replaceAllUsesWith(
          memref::LoadOp::create(b, result.getLoc(), memref, ValueRange()).getResult());
    nest->erase();
    original->erase();
  } else if (nest != original) {
    // The copy, then what was built for it in front of it, the last first.
    Operation *last = nest->getPrevNode();
    for (Operation *op = nest; op != original; op = last, last = op->getPrevNode())
      op->erase();
  }
  dropStandIns();
  return failure(refusal.has_value());
}

/// Whether elements are loaded or stored, other than by structured ops.
static bool accesses(Operation *op) {
  return op
      ->walk<WalkOrder::PreOrder>([](Operation *inner) {
        if (isa<linalg::LinalgOp>(inner))
          return WalkResult::skip();
        return isa<memref::LoadOp, memref::StoreOp, affine::AffineLoadOp, affine::AffineStoreOp>(
                   inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static void say(InFlightDiagnostic diagnostic, const NestRaiser &raiser) {
  if (raiser.other)
    diagnostic.attachNote(raiser.other) << "the other one of the two";
}

static LogicalResult raiseIn(Block &block, bool quiet = false);

/// A nest of affine.for whose iterations depend on each other as loops of the host, around
/// structured ops that all loads and stores in it become; fails where they do not.
static LogicalResult raiseInside(affine::AffineForOp nest) {
  bool isInnermost = !nest.getBody()
                          ->walk([](affine::AffineForOp) { return WalkResult::interrupt(); })
                          .wasInterrupted();
  if (isInnermost)
    return failure();
  Block *block = nest->getBlock();
  Operation *before = nest->getPrevNode(), *behind = nest->getNextNode();
  RewritePatternSet patterns(nest.getContext());
  populateAffineToStdConversionPatterns(patterns);
  ConversionTarget target(*nest.getContext());
  target.addLegalDialect<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect>();
  target.addIllegalDialect<affine::AffineDialect>();
  if (failed(applyPartialConversion(nest, target, std::move(patterns))))
    return failure();
  auto begin = before ? std::next(before->getIterator()) : block->begin();
  for (Operation &op : llvm::make_range(begin, behind->getIterator()))
    if (auto loop = dyn_cast<scf::ForOp>(op))
      if (failed(raiseIn(*loop.getBody(), /*quiet=*/true)) || accesses(loop))
        return failure();
  return success();
}

/// Raises the nests of a block and of what stands in it. Of loops that are remarked on,
/// nothing more is said of those inside, and nothing where these have become structured ops.
static LogicalResult raiseIn(Block &block, bool quiet) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto affine = dyn_cast<affine::AffineForOp>(op);
    std::optional<NestRaiser> raiser;
    // Host loops that only compute scalars stay.
    if (affine || (isa<scf::ForOp>(op) && accesses(&op))) {
      raiser.emplace(&op);
      if (succeeded(raiser->run()))
        continue;
      if (affine) {
        Location loc = affine.getLoc();
        if (raiser->isDependence && succeeded(raiseInside(affine))) {
          say(emitRemark(loc, "this loop runs on the host, around kernels: " +
                                  raiser->why->second),
              *raiser);
          continue;
        }
        InFlightDiagnostic error = emitError(raiser->why->first, raiser->why->second);
        if (raiser->isDependence)
          error << "; written as scf.for with memref.load and memref.store, the loops run on the "
                   "host, element by element";
        say(std::move(error), *raiser);
        return failure();
      }
    }
    bool says = raiser && raiser->why && !quiet;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (!isa<linalg::LinalgOp>(op) && failed(raiseIn(inner, quiet || says)))
          return failure();
    if (says && accesses(&op))
      say(emitRemark(raiser->why->first,
                     "its loops run on the host, element by element: " + raiser->why->second),
          *raiser);
  }
  return success();
}

/// affine.load and affine.store outside of loops as those of memref.
static void lowerAccesses(func::FuncOp func) {
  SmallVector<Operation *> accesses;
  func.walk([&](Operation *op) {
    if (isa<affine::AffineLoadOp, affine::AffineStoreOp>(op))
      accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    OpBuilder b(op);
    affine::MemRefAccess at(op);
    auto load = dyn_cast<affine::AffineLoadOp>(op);
    auto store = dyn_cast<affine::AffineStoreOp>(op);
    AffineMap map = load ? load.getAffineMap() : store.getAffineMap();
    SmallVector<Value> places = *affine::expandAffineMap(
        b, op->getLoc(), map, load ? load.getMapOperands() : store.getMapOperands());
    if (load)
      load.replaceAllUsesWith(
          memref::LoadOp::create(b, op->getLoc(), load.getMemRef(), places).getResult());
    else
      memref::StoreOp::create(b, op->getLoc(), store.getValueToStore(), store.getMemRef(),
                              places);
    op->erase();
  }
}

namespace {
struct RaiseLoopsPass : tilewright::impl::RaiseLoopsPassBase<RaiseLoopsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    for (Block &block : func.getBody())
      if (failed(raiseIn(block)))
        return signalPassFailure();
    lowerAccesses(func);
  }
};
} // namespace
