// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function computes and moves, as sums over its kernels of products of sizes
// (FollowSizes.h, SizeExpressions.h). A sum has one term per product of dims, however many
// kernels contribute.

#include "tilewright/Artifact/Work.h"
#include "FollowSizes.h"

#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::sizes;

/// An estimate of more is not worth its place in the manifest.
static constexpr int kMaxCalls = 1000;

namespace {
class Estimator : SizeFollower {
public:
  using SizeFollower::SizeFollower;
  FunctionWork run();
  /// `func` is a kernel.
  FunctionWork runKernel();

private:
  void multiplyPairs(AttentionOp op, Product &count);
  Product elements(Value value);
  void visit(Block &block, const Product &times);
  void addKernel(DispatchOp dispatch, const Product &times);
  void addCall(func::CallOp call, const Product &times);
  void addOps(func::FuncOp kernel, const Product &times);
  Expr reduction(Value value);
  Expr bytes();

  Sum flops;
  SmallVector<func::FuncOp> calling;
  int numCalls = 0;
};
} // namespace

static func::FuncOp kernelOf(DispatchOp dispatch) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      dispatch, dispatch.getCalleeAttr());
}

/// `count` times the pairs of a query i and a key j, I and J of them, that `causal` and `window` let
/// see each other. Of the pairs with j <= i + c, by T(x) = 1 + 2 + ... + x (0 below 1):
///
///   sum over i of min(max(i + c + 1, 0), J) = T(I + c) - T(c) - T(I + c - J) + T(c - J)
void Estimator::multiplyPairs(AttentionOp op, Product &count) {
  Expr queries = loopExtent(op, op.getQueryLoop()), keys = loopExtent(op, op.getKeyLoop());
  int64_t before = op.getKeysBefore(), behind = op.getKeysBehind();
  if (before < 0 && behind < 0) {
    count.multiply(queries);
    count.multiply(keys);
    return;
  }
  // Twice T(x).
  auto triangle = [&](Expr x) {
    x = fold("max", std::move(x), Expr(0));
    Expr next = fold("add", x, Expr(1));
    return fold("mul", std::move(x), std::move(next));
  };
  // Twice the pairs with j <= i + limit, where the diagonal is.
  auto pairsBelow = [&](int64_t limit) {
    Expr toLast, toFirst, lastBeyond, firstBeyond;
    if (op.isBottomRight()) {
      toLast = fold("add", keys, Expr(limit));
      toFirst = fold("sub", toLast, queries);
      lastBeyond = Expr(limit);
      firstBeyond = limit > 0 ? fold("sub", Expr(limit), queries) : Expr(0);
    } else {
      toLast = fold("add", queries, Expr(limit));
      toFirst = Expr(limit);
      lastBeyond = fold("sub", toLast, keys);
      firstBeyond = limit > 0 ? fold("sub", Expr(limit), keys) : Expr(0);
    }
    return fold("sub", fold("add", triangle(toLast), triangle(firstBeyond)),
                fold("add", triangle(toFirst), triangle(lastBeyond)));
  };
  Expr pairs = behind >= 0 ? pairsBelow(behind)
                           : fold("mul", Expr(2), fold("mul", queries, keys));
  if (before >= 0)
    pairs = fold("sub", std::move(pairs), pairsBelow(-before - 1));
  if (std::optional<int64_t> number = pairs ? pairs->getAsInteger() : std::nullopt)
    count.multiply(Expr(*number / 2));
  else
    count.multiply(apply("floordiv", std::move(pairs), Expr(2)));
}

/// What counts as an operation of the body.
static bool isArithmetic(Operation &op) {
  if (op.getNumResults() != 1 || op.getResult(0).getType().isIndex())
    return false;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::RemFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
             arith::RemUIOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
             arith::MinUIOp>(op) ||
         op.getName().getDialectNamespace() == "math";
}

void Estimator::addKernel(DispatchOp dispatch, const Product &times) {
  func::FuncOp kernel = kernelOf(dispatch);
  if (!kernel || kernel.isExternal())
    return flops.forget();
  for (auto [argument, operand] :
       llvm::zip_equal(kernel.getArguments(), dispatch->getOperands()))
    operands.map(argument, operand);
  addOps(kernel, times);
  for (BlockArgument argument : kernel.getArguments())
    operands.erase(argument);
}

void Estimator::addOps(func::FuncOp kernel, const Product &times) {
  kernel.walk([&](linalg::LinalgOp op) {
    Product count = times;
    int64_t operations = 0;
    for (Operation &inner : *op.getBlock())
      operations += isArithmetic(inner) +
                    (inner.getName().getStringRef() == "math.fma");
    if (!operations)
      return;
    count.multiply(Expr(operations));
    // The last loop of a sum in parts counts them; each has a share of another's.
    unsigned numLoops = op.getNumLoops() - op->hasAttr(kSplitAttr);
    for (unsigned loop = 0; loop < numLoops; ++loop)
      count.multiply(loopExtent(op, loop));
    flops.add(std::move(count));
  });
  kernel.walk([&](GemmOp op) {
    Product count = times;
    count.multiply(Expr(2));
    auto maps = op.getMaps().getAsValueRange<AffineMapAttr>();
    for (unsigned loop = 0, e = (*maps.begin()).getNumDims(); loop < e; ++loop)
      count.multiply(loopExtent(op, loop));
    flops.add(std::move(count));
  });
  // Both contractions, of the queries and keys that see each other by `causal` and `window`.
  // What other masks and lengths hide is counted, the softmax is not.
  kernel.walk([&](AttentionOp op) {
    for (unsigned last : {op.getDepthLoop(), op.getColumnLoop()}) {
      Product count = times;
      count.multiply(Expr(2));
      // Parts of the keys have a share of them each.
      for (unsigned loop = bool(op.getKeyParts()); loop < op.getQueryLoop(); ++loop)
        count.multiply(loopExtent(op, loop));
      multiplyPairs(op, count);
      count.multiply(loopExtent(op, last));
      flops.add(std::move(count));
    }
  });
}

void Estimator::addCall(func::CallOp call, const Product &times) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || !callee.getBody().hasOneBlock() || callee == func ||
      llvm::is_contained(calling, callee) || ++numCalls > kMaxCalls)
    return flops.forget();
  calling.push_back(callee);
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), call.getOperands()))
    operands.map(argument, operand);
  visit(callee.getBody().front(), times);
  for (BlockArgument argument : callee.getArguments())
    operands.erase(argument);
  calling.pop_back();
}

void Estimator::visit(Block &block, const Product &times) {
  for (Operation &op : block) {
    if (auto dispatch = dyn_cast<DispatchOp>(op)) {
      addKernel(dispatch, times);
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Product inside = times;
      Expr distance = apply("sub", scalar(loop.getUpperBound()),
                            scalar(loop.getLowerBound()));
      inside.multiply(apply("ceildiv", apply("max", distance, Expr(0)),
                            scalar(loop.getStep())));
      visit(*loop.getBody(), inside);
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      addCall(call, times);
      continue;
    }
    // Data decides.
    bool runsKernels = false;
    op.walk([&](Operation *inner) {
      runsKernels |= isa<DispatchOp, func::CallOp>(inner);
    });
    if (runsKernels)
      flops.forget();
  }
}

Expr Estimator::reduction(Value value) {
  Sum sum;
  SmallVector<Value> work{value};
  llvm::DenseSet<Operation *> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op) {
      if (cast<BlockArgument>(next).getOwner()->getParentOp() != func)
        return std::nullopt;
      continue;
    }
    if (!seen.insert(op).second || isa<tensor::EmptyOp>(op))
      continue;
    // Loops repeat sums, branches choose, functions hide them.
    if (op->getNumRegions() || isa<func::CallOp>(op))
      return std::nullopt;
    if (auto dispatch = dyn_cast<DispatchOp>(op)) {
      func::FuncOp kernel = kernelOf(dispatch);
      if (!kernel || kernel.isExternal())
        return std::nullopt;
      for (auto [argument, operand] :
           llvm::zip_equal(kernel.getArguments(), dispatch->getOperands()))
        operands.map(argument, operand);
      kernel.walk([&](linalg::LinalgOp reducing) {
        if (!reducing.getNumReductionLoops())
          return;
        Product terms;
        for (auto [loop, type] :
             llvm::enumerate(reducing.getIteratorTypesArray()))
          if (type == utils::IteratorType::reduction)
            terms.multiply(loopExtent(reducing, loop));
        sum.add(std::move(terms));
      });
      kernel.walk([&](GemmOp gemm) {
        SmallVector<AffineMap> maps(gemm.getMaps().getAsValueRange<AffineMapAttr>());
        Product terms;
        terms.multiply(loopExtent(gemm, matchGemm(maps)->k));
        sum.add(std::move(terms));
      });
      kernel.walk([&](AttentionOp attention) {
        for (unsigned loop : {attention.getDepthLoop(), attention.getKeyLoop()}) {
          Product terms;
          terms.multiply(loopExtent(attention, loop));
          sum.add(std::move(terms));
        }
      });
      operands.clear();
    }
    for (Value operand : op->getOperands())
      if (isa<ShapedType>(operand.getType()))
        work.push_back(operand);
  }
  Expr result = sum.take();
  if (!result)
    return std::nullopt;
  // No sum is a sum of one term.
  if (std::optional<int64_t> number = result->getAsInteger())
    return std::max<int64_t>(*number, 1);
  return apply("max", std::move(result), 1);
}

Product Estimator::elements(Value value) {
  auto type = cast<ShapedType>(value.getType());
  Product product;
  Type element = type.getElementType();
  product.multiply(Expr(element.isIndex() ? 8
                                          : std::max<int64_t>(
                                                1, element.getIntOrFloatBitWidth() / 8)));
  for (int64_t d = 0; d < type.getRank(); ++d)
    product.multiply(dim(value, d));
  return product;
}

Expr Estimator::bytes() {
  Sum sum;
  for (BlockArgument argument : func.getArguments()) {
    if (!isa<ShapedType>(argument.getType()))
      continue;
    bool isRead = isa<TensorType>(argument.getType()) && !argument.use_empty();
    bool isWritten = false;
    for (Operation *user : argument.getUsers()) {
      isWritten |= isa<bufferization::MaterializeInDestinationOp>(user);
      auto tensor = dyn_cast<bufferization::ToTensorOp>(user);
      // A kernel that only writes its destination reads nothing of it.
      isRead |= tensor && llvm::any_of(tensor->getUses(), [](OpOperand &use) {
        auto dispatch = dyn_cast<DispatchOp>(use.getOwner());
        if (!dispatch || use.getOperandNumber() < dispatch.getInputs().size())
          return !isa<tensor::DimOp>(use.getOwner());
        func::FuncOp kernel = kernelOf(dispatch);
        auto access = kernel ? kernel->getAttrOfType<ArrayAttr>(kAccessAttr)
                             : ArrayAttr();
        size_t behind = dispatch->getNumOperands() - use.getOperandNumber();
        auto text = access && access.size() >= behind
                        ? dyn_cast<StringAttr>(access[access.size() - behind])
                        : StringAttr();
        return !text || text.getValue() != "write";
      });
    }
    for (int i = 0; i < isRead + isWritten; ++i)
      sum.add(elements(argument));
  }
  for (Value result : func.getBody().front().getTerminator()->getOperands())
    if (isa<ShapedType>(result.getType()) && !isa<BlockArgument>(result))
      sum.add(elements(result));
  return sum.take();
}

FunctionWork Estimator::run() {
  FunctionWork work;
  work.reductions.resize(func.getNumResults());
  if (!func.getBody().hasOneBlock())
    return work;
  Block &body = func.getBody().front();
  visit(body, Product());
  work.flops = flops.take();
  work.bytes = bytes();
  for (auto [number, value] :
       llvm::enumerate(body.getTerminator()->getOperands()))
    if (isa<ShapedType>(value.getType()))
      work.reductions[number] = reduction(value);
  return work;
}

FunctionWork Estimator::runKernel() {
  FunctionWork work;
  addOps(func, Product());
  work.flops = flops.take();
  Sum sum;
  auto access = func->getAttrOfType<ArrayAttr>(kAccessAttr);
  for (BlockArgument argument : func.getArguments()) {
    if (!isa<ShapedType>(argument.getType()))
      continue;
    int64_t number = tensorNumber(argument);
    auto how = access && number < int64_t(access.size())
                   ? dyn_cast<StringAttr>(access[number])
                   : StringAttr();
    sum.add(elements(argument));
    if (how && how.getValue() == "readwrite")
      sum.add(elements(argument));
  }
  work.bytes = sum.take();
  return work;
}

FunctionWork tilewright::describeWork(func::FuncOp func) {
  return Estimator(func).run();
}

FunctionWork tilewright::describeKernelWork(func::FuncOp kernel) {
  return Estimator(kernel).runKernel();
}
