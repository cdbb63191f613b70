// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/FoldCasts.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

using namespace mlir;
using namespace tilewright;

/// Rewrites that one op, or one element of a vector (vectors are unrolled), may
/// take. Of the programs in test/, none takes more than one.
static constexpr int64_t kRewritesPerOp = 50;

/// Rewrites for the smallest of programs.
static constexpr int64_t kLeastRewrites = 2000;

static int64_t rewriteBudget(Operation *root) {
  int64_t size = 0;
  root->walk([&](Operation *op) {
    ++size;
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type))
        size += vector.getNumElements();
  });
  return std::max(kLeastRewrites, kRewritesPerOp * size);
}

namespace {
/// Counts rewrites and remembers the last one; tells `next` of everything.
struct CountRewrites : RewriterBase::ForwardingListener {
  explicit CountRewrites(OpBuilder::Listener *next)
      : ForwardingListener(next) {}

  void notifyPatternBegin(const Pattern &pattern, Operation *op) override {
    name = op->getName();
    loc = op->getLoc();
    ForwardingListener::notifyPatternBegin(pattern, op);
  }
  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    if (succeeded(status)) {
      ++count;
      lastName = name;
      lastLoc = loc;
    }
    ForwardingListener::notifyPatternEnd(pattern, status);
  }

  int64_t count = 0;
  std::optional<OperationName> name, lastName;
  std::optional<Location> loc, lastLoc;
};
} // namespace

LogicalResult tilewright::applyPatternsBounded(
    Operation *root, const FrozenRewritePatternSet &patterns, StringRef stage,
    StringRef what, GreedyRewriteConfig config) {
  const int64_t budget = rewriteBudget(root);
  CountRewrites counter(config.getListener());
  config.setListener(&counter);
  // Upstream's driver gives up after ten scans of the IR. Deep programs may
  // take more of them; a call that rewrites little is charged a hundredth.
  for (int64_t used = 0; used < budget;) {
    counter.count = 0;
    config.setMaxNumRewrites(budget - used);
    if (succeeded(applyPatternsGreedily(root, patterns, config)))
      return success();
    used += std::max(counter.count, budget / 100);
  }
  OperationName name = counter.lastName.value_or(root->getName());
  return emitError(counter.lastLoc.value_or(root->getLoc()))
         << "'" << name << "' op is rewritten without end: " << what
         << " in the stage '" << stage
         << "' does not converge; please report it, and write the op in "
            "another way meanwhile";
}

namespace {
struct CanonicalizePass : PassWrapper<CanonicalizePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalizePass)

  explicit CanonicalizePass(StringRef stage) : stage(stage) {}
  StringRef getArgument() const override { return "canonicalize"; }
  StringRef getName() const override { return "Canonicalizer"; }
  StringRef getDescription() const override {
    return "Canonicalize operations; fail where that does not end";
  }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(owned);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(owned, context);
    populateFoldCastsWithoutRegionPatterns(owned);
    patterns = std::make_shared<FrozenRewritePatternSet>(std::move(owned));
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Normal);
    if (failed(applyPatternsBounded(getOperation(), *patterns, stage,
                                    "canonicalization", config)))
      signalPassFailure();
  }

  std::string stage;
  std::shared_ptr<const FrozenRewritePatternSet> patterns;
};
} // namespace

std::unique_ptr<Pass> tilewright::createCanonicalizePass(StringRef stage) {
  return std::make_unique<CanonicalizePass>(stage);
}
