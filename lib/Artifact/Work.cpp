// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are followed from the loops of each kernel's ops to dims of its
// operands, and from there through host code to dims of the function's inputs:
//
//   matmul in a kernel on %a, %b          2 · dim(a, 0) · dim(b, 1) · dim(a, 1)
//   dispatched on %x and %w[64, 32]       ["mul", 4096, ["dim", 0, 0]]
//
// A sum has one term per product of dims, however many kernels contribute.

#include "tilewright/Artifact/Work.h"

#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace tilewright;
namespace json = llvm::json;

using Expr = std::optional<json::Value>;

/// Beyond these an estimate is not worth its place in the manifest.
static constexpr int kMaxDepth = 8;
static constexpr size_t kMaxTerms = 64;
static constexpr int kMaxCalls = 1000;

static Expr apply(StringRef name, Expr left, Expr right) {
  if (!left || !right)
    return std::nullopt;
  return json::Array{name, std::move(*left), std::move(*right)};
}

/// `apply` of what is not known only: numbers and sums with 0 are folded.
static Expr fold(StringRef name, Expr left, Expr right) {
  if (!left || !right)
    return std::nullopt;
  std::optional<int64_t> a = left->getAsInteger(), b = right->getAsInteger();
  if (b == 0 && (name == "add" || name == "sub"))
    return left;
  if (a == 0 && name == "add")
    return right;
  if (a && b) {
    int64_t value = 0;
    bool overflows = false;
    if (name == "add")
      overflows = llvm::AddOverflow(*a, *b, value);
    else if (name == "sub")
      overflows = llvm::SubOverflow(*a, *b, value);
    else if (name == "mul")
      overflows = llvm::MulOverflow(*a, *b, value);
    else if (name == "max")
      value = std::max(*a, *b);
    else
      llvm_unreachable("is not folded");
    return overflows ? Expr() : Expr(value);
  }
  return apply(name, std::move(left), std::move(right));
}

namespace {
/// coefficient · factor · factor …
struct Product {
  int64_t coefficient = 1;
  std::vector<json::Value> factors;
  bool known = true;

  void multiply(const Expr &factor) {
    if (!factor) {
      known = false;
      return;
    }
    if (std::optional<int64_t> number = factor->getAsInteger())
      known &= !llvm::MulOverflow(coefficient, *number, coefficient);
    else
      factors.push_back(*factor);
  }
};

/// A sum of products, like ones joined.
class Sum {
public:
  void add(Product product) {
    known &= product.known;
    llvm::sort(product.factors, [](const json::Value &a, const json::Value &b) {
      return text(a) < text(b);
    });
    std::string key;
    for (const json::Value &factor : product.factors)
      key += text(factor);
    auto [it, isNew] = terms.insert({key, product});
    if (!isNew)
      known &= !llvm::AddOverflow(it->second.coefficient, product.coefficient,
                                  it->second.coefficient);
  }
  void forget() { known = false; }

  Expr take() {
    if (!known || terms.size() > kMaxTerms)
      return std::nullopt;
    json::Array sum{"add"};
    for (auto &[key, product] : terms) {
      json::Array factors{"mul"};
      if (product.coefficient != 1 || product.factors.empty())
        factors.push_back(product.coefficient);
      for (json::Value &factor : product.factors)
        factors.push_back(std::move(factor));
      sum.push_back(factors.size() == 2 ? std::move(factors[1])
                                        : json::Value(std::move(factors)));
    }
    if (sum.size() == 1)
      return 0;
    return sum.size() == 2 ? std::move(sum[1]) : json::Value(std::move(sum));
  }

private:
  static std::string text(const json::Value &value) {
    return llvm::formatv("{0}", value);
  }
  bool known = true;
  llvm::MapVector<std::string, Product, std::map<std::string, unsigned>> terms;
};

class Estimator {
public:
  explicit Estimator(func::FuncOp func) : func(func) {}
  FunctionWork run();
  /// `func` is a kernel.
  FunctionWork runKernel();

private:
  /// An index or integer of host code.
  Expr scalar(Value value, int depth = 0);
  /// Dim `d` of a tensor or memref, in host code or, by `operands`, a kernel.
  Expr dim(Value value, int64_t d, int depth = 0);
  Expr loopExtent(linalg::LinalgOp op, unsigned loop);
  Expr loopExtent(AttentionOp op, unsigned loop);
  Expr loopExtent(GemmOp op, unsigned loop);
  void multiplyPairs(AttentionOp op, Product &count);
  Product elements(Value value);
  void visit(Block &block, const Product &times);
  void addKernel(DispatchOp dispatch, const Product &times);
  void addCall(func::CallOp call, const Product &times);
  void addOps(func::FuncOp kernel, const Product &times);
  Expr reduction(Value value);
  Expr bytes();

  /// Where an argument of a kernel or of a called function comes from, as far out
  /// as is known.
  Value outermost(Value value) {
    while (operands.contains(value))
      value = operands.lookup(value);
    return value;
  }

  func::FuncOp func;
  Sum flops;
  /// Arguments of the kernel that is looked at, and of the functions that are being
  /// called, -> operands of the dispatch and of the calls.
  IRMapping operands;
  SmallVector<func::FuncOp> calling;
  int numCalls = 0;
};
} // namespace

static func::FuncOp kernelOf(DispatchOp dispatch) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      dispatch, dispatch.getCalleeAttr());
}

Expr Estimator::scalar(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (depth > kMaxDepth)
    return std::nullopt;
  value = outermost(value);
  auto of = [&](Value operand) { return scalar(operand, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != func)
      return std::nullopt;
    int64_t number = 0;
    for (unsigned i = 0; i < argument.getArgNumber(); ++i)
      number += !isa<ShapedType>(func.getArgument(i).getType());
    return json::Array{"scalar", number};
  }
  Operation *op = value.getDefiningOp();
  if (isa<tensor::DimOp, memref::DimOp>(op)) {
    APInt d;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&d)))
      return std::nullopt;
    return dim(op->getOperand(0), d.getSExtValue(), depth + 1);
  }
  StringRef name = llvm::TypeSwitch<Operation *, StringRef>(op)
                       .Case([](arith::AddIOp) { return "add"; })
                       .Case([](arith::SubIOp) { return "sub"; })
                       .Case([](arith::MulIOp) { return "mul"; })
                       .Case([](arith::MinSIOp) { return "min"; })
                       .Case([](arith::MaxSIOp) { return "max"; })
                       .Case([](arith::FloorDivSIOp) { return "floordiv"; })
                       .Case([](arith::CeilDivSIOp) { return "ceildiv"; })
                       .Default([](Operation *) { return ""; });
  if (!name.empty())
    return apply(name, of(op->getOperand(0)), of(op->getOperand(1)));
  if (isa<arith::IndexCastOp>(op))
    return of(op->getOperand(0));
  return std::nullopt;
}

/// Kernels count their tensors, which scalars may stand between.
static int64_t tensorNumber(BlockArgument argument) {
  return llvm::count_if(
      argument.getOwner()->getArguments().take_front(argument.getArgNumber()),
      [](BlockArgument other) { return isa<ShapedType>(other.getType()); });
}

Expr Estimator::dim(Value value, int64_t d, int depth) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasRank() || d < 0 || d >= type.getRank() ||
      depth > kMaxDepth)
    return std::nullopt;
  if (!type.isDynamicDim(d))
    return type.getDimSize(d);
  value = outermost(value);
  auto size = [&](OpFoldResult size) -> Expr {
    if (std::optional<int64_t> known = getConstantIntValue(size))
      return *known;
    return scalar(cast<Value>(size), depth + 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == func)
      return json::Array{"dim",
                         isKernel(func) ? tensorNumber(argument)
                                        : int64_t(argument.getArgNumber()),
                         d};
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop && argument.getArgNumber()
               ? dim(loop.getInitArgs()[argument.getArgNumber() - 1], d, depth + 1)
               : std::nullopt;
  }
  auto number = cast<OpResult>(value).getResultNumber();
  return llvm::TypeSwitch<Operation *, Expr>(value.getDefiningOp())
      .Case([&](tensor::EmptyOp op) { return size(op.getMixedSizes()[d]); })
      .Case([&](Im2colOp op) { return size(op.getSizes()[type.getDynamicDimIndex(d)]); })
      .Case([&](tensor::ExtractSliceOp op) -> Expr {
        llvm::SmallBitVector dropped = op.getDroppedDims();
        for (auto [source, extent] : llvm::enumerate(op.getMixedSizes()))
          if (!dropped.test(source) && d-- == 0)
            return size(extent);
        return std::nullopt;
      })
      .Case([&](tensor::ExpandShapeOp op) {
        return size(op.getMixedOutputShape()[d]);
      })
      .Case([&](tensor::CollapseShapeOp op) {
        Expr product = 1;
        // A name of its own: a range of part of a temporary outlives it.
        ReassociationIndices joined = op.getReassociationIndices()[d];
        for (int64_t source : joined)
          product = apply("mul", std::move(product),
                          dim(op.getSrc(), source, depth + 1));
        return product;
      })
      .Case([&](tensor::PadOp op) -> Expr {
        return apply("add", apply("add", dim(op.getSource(), d, depth + 1),
                                  size(op.getMixedLowPad()[d])),
                     size(op.getMixedHighPad()[d]));
      })
      .Case([&](DispatchOp op) { return dim(op.getOuts()[number], d, depth + 1); })
      .Case([&](scf::ForOp op) { return dim(op.getInitArgs()[number], d, depth + 1); })
      .Case([&](tensor::InsertSliceOp op) { return dim(op.getDest(), d, depth + 1); })
      .Case([&](linalg::LinalgOp op) {
        return dim(op.getDpsInitOperand(number)->get(), d, depth + 1);
      })
      .Case<tensor::CastOp, bufferization::ToTensorOp>(
          [&](Operation *op) { return dim(op->getOperand(0), d, depth + 1); })
      .Default([](Operation *) -> Expr { return std::nullopt; });
}

Expr Estimator::loopExtent(linalg::LinalgOp op, unsigned loop) {
  Expr found;
  for (OpOperand &operand : op->getOpOperands())
    for (auto [d, result] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto expr = dyn_cast<AffineDimExpr>(result);
      if (!expr || expr.getPosition() != loop)
        continue;
      Expr extent = dim(operand.get(), d);
      if (extent && (!found || extent->getAsInteger()))
        found = std::move(extent);
    }
  return found;
}

Expr Estimator::loopExtent(GemmOp op, unsigned loop) {
  for (auto [operand, map] :
       llvm::zip_equal(op->getOperands(), op.getMaps().getAsValueRange<AffineMapAttr>()))
    if (auto d = map.getResultPosition(getAffineDimExpr(loop, op.getContext())))
      return dim(operand, *d);
  return std::nullopt;
}

Expr Estimator::loopExtent(AttentionOp op, unsigned loop) {
  if (int64_t extent = op.getLoopExtents()[loop]; ShapedType::isStatic(extent))
    return Expr(extent);
  auto [operand, d] = op.getOperandOfLoop(loop);
  if (!operand)
    return std::nullopt;
  int64_t steps = op.getStepsOfLoop(loop);
  return steps == 1 ? dim(operand, d) : apply("mul", dim(operand, d), Expr(steps));
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
