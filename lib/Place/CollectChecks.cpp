// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dims of a kernel's operands must agree, derived from the iteration
// spaces of its ops.
//
// Every (tensor, dim) of the kernel is a node. A loop of a structured op joins
// the dims that its maps say it runs over, a result is joined with its init, and
// a tensor.empty with the tensor.dim its size was read from. What is then one
// class must have one size:
//
//   matmul (m, n, k): a[m, k], b[k, n], out[m, n]
//     class m: a.0, out.0    class n: b.1, out.1    class k: a.1, b.0
//
// Of each class the first dim of static size, or else the first, is compared
// with the others; what types decide needs no check.

#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dispatch/Groups.h"
#include "tilewright/Place/Place.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_COLLECTCHECKSPASS
#include "tilewright/Place/Passes.h.inc"
} // namespace tilewright

namespace {
/// Classes of (tensor, dim), in the order in which dims were first met.
class DimClasses {
public:
  unsigned node(Value value, int64_t dim) {
    auto [it, isNew] = numbers.try_emplace({value, dim}, numbers.size());
    if (isNew)
      classes.insert(it->second);
    return it->second;
  }
  void join(unsigned a, unsigned b) { classes.unionSets(a, b); }
  unsigned leader(Value value, int64_t dim) {
    return classes.getLeaderValue(node(value, dim));
  }

private:
  llvm::MapVector<std::pair<Value, int64_t>, unsigned> numbers;
  llvm::EquivalenceClasses<unsigned> classes;
};

struct OperandDim {
  int64_t operand, dim, size;
};
} // namespace

static void joinLoops(DimClasses &classes, linalg::LinalgOp op) {
  SmallVector<std::optional<unsigned>> loops(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(result);
      if (!loop)
        continue;
      unsigned node = classes.node(operand.get(), dim);
      // There are as many as entries of the table, whatever number of matrices it names.
      if (std::optional<Pick> pick = dim ? std::nullopt : getPick(operand.get()))
        node = classes.node(pick->table, 0);
      std::optional<unsigned> &known = loops[loop.getPosition()];
      if (known)
        classes.join(*known, node);
      known = node;
    }
    if (!op.isDpsInit(&operand))
      continue;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      classes.join(classes.node(operand.get(), dim),
                   classes.node(op.getTiedOpResult(&operand), dim));
  }
}

/// The maps of attention are in the order of its operands. Pages of a pool are others
/// than those of a table.
static void joinLoops(DimClasses &classes, AttentionOp op) {
  llvm::DenseMap<std::pair<AffineExpr, unsigned>, unsigned> known;
  AffineExpr keys = getAffineDimExpr(op.getKeyLoop(), op.getContext());
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    for (auto [dim, result] : llvm::enumerate(op.getMap(number).getResults())) {
      unsigned node = classes.node(operand, dim);
      unsigned isPage = op.isPool(number) && result == keys.floorDiv(op.getPageSize());
      auto [other, isNew] = known.try_emplace({result, isPage}, node);
      if (!isNew)
        classes.join(other->second, node);
    }
}

/// Updates are as many as index tuples, and as large as the destination's slices.
static void joinDims(DimClasses &classes, ScatterOp op) {
  int64_t batch = op.getIndicesType().getRank() - 1;
  for (int64_t dim = 0; dim < batch; ++dim)
    classes.join(classes.node(op.getIndices(), dim), classes.node(op.getUpdates(), dim));
  for (auto [number, dim] : llvm::enumerate(op.getSliceDims()))
    classes.join(classes.node(op.getUpdates(), batch + number),
                 classes.node(op.getDest(), dim));
}

/// Chunks are counted by the init, or by the output of totals.
static void joinDims(DimClasses &classes, ScanOp op) {
  int64_t rank = op.getInputType().getRank(), dim = op.getDim();
  for (int64_t d = 0, at = 0; d < rank; ++d) {
    if (d != dim || !op.getTotals())
      classes.join(classes.node(op.getInput(), d), classes.node(op.getOutput(), d));
    if (d == dim && !op.hasOwnChunks())
      continue;
    if (op.getInit() && d != dim)
      classes.join(classes.node(op.getInput(), d), classes.node(op.getInit(), at));
    ++at;
  }
}

static void joinDims(DimClasses &classes, SortOp op) {
  for (auto [number, output] : llvm::enumerate(op.getOutputs())) {
    Value input = op.getInputs()[number % op.getInputs().size()];
    for (int64_t d = 0; d < op.getKeyType().getRank(); ++d) {
      classes.join(classes.node(op.getInputs()[0], d), classes.node(input, d));
      bool isShorter = op.getHalves() && d == int64_t(op.getDim());
      classes.join(classes.node((isShorter ? op.getOutputs() : op.getInputs())[0], d),
                   classes.node(output, d));
    }
  }
}

static void joinDims(DimClasses &classes, GemmOp op) {
  llvm::SmallDenseMap<unsigned, std::pair<Value, int64_t>> known;
  for (auto [operand, map] :
       llvm::zip_equal(op->getOperands(), op.getMaps().getAsValueRange<AffineMapAttr>()))
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
      auto [first, isNew] =
          known.try_emplace(map.getDimPosition(dim), operand, int64_t(dim));
      if (!isNew)
        classes.join(classes.node(first->second.first, first->second.second),
                     classes.node(operand, dim));
    }
}

static void joinSizes(DimClasses &classes, tensor::EmptyOp op) {
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    if (!op.getType().isDynamicDim(dim))
      continue;
    auto source = op.getDynamicSize(dim).getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> index =
        source ? source.getConstantIndex() : std::nullopt;
    if (index)
      classes.join(classes.node(op.getResult(), dim),
                   classes.node(source.getSource(), *index));
  }
}

/// "linalg.matmul (line 12)": what the kernel is, and where it was written.
static std::string describe(func::FuncOp kernel) {
  auto attentions = kernel.getBody().front().getOps<AttentionOp>();
  if (!attentions.empty())
    return addLine("attention", *attentions.begin());
  if (Operation *irregular = findIrregular(kernel)) {
    // What the user wrote of a product is another op.
    bool isGemm = isa<GemmOp>(irregular) && !getWrittenOp(irregular->getLoc()).empty();
    return addLine(isGemm ? getWrittenOp(irregular->getLoc())
                          : irregular->getName().stripDialect(),
                   irregular);
  }
  linalg::LinalgOp root;
  kernel.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::FillOp>(op.getOperation()) &&
        (!root || classify(op) > classify(root)))
      root = op;
  });
  if (!root)
    return kernel.getSymName().str();
  static constexpr StringLiteral names[] = {"elementwise op", "reduction",
                                            "matmul"};
  StringRef written = getWrittenOp(root->getLoc());
  return addLine(written.empty() ? StringRef(names[unsigned(classify(root))]) : written, root);
}

FailureOr<SmallVector<DimCheck>>
tilewright::collectChecks(func::FuncOp kernel) {
  DimClasses classes;
  kernel.walk([&](Operation *op) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      joinLoops(classes, structured);
    if (auto attention = dyn_cast<AttentionOp>(op))
      joinLoops(classes, attention);
    if (auto scatter = dyn_cast<ScatterOp>(op))
      joinDims(classes, scatter);
    if (auto scan = dyn_cast<ScanOp>(op))
      joinDims(classes, scan);
    if (auto sort = dyn_cast<SortOp>(op))
      joinDims(classes, sort);
    if (auto gemm = dyn_cast<GemmOp>(op))
      joinDims(classes, gemm);
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      joinSizes(classes, empty);
  });
  // Dims of arguments by class.
  llvm::MapVector<unsigned, SmallVector<OperandDim>> byClass;
  int64_t operand = 0;
  for (Value argument : kernel.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      byClass[classes.leader(argument, dim)].push_back(
          {operand, int64_t(dim), size});
    ++operand;
  }
  std::string what = describe(kernel);
  SmallVector<std::string> names;
  for (Value argument : kernel.getArguments())
    if (isa<RankedTensorType>(argument.getType())) {
      StringRef name = getWrittenName(argument);
      names.push_back(name.empty() ? "operand " + std::to_string(names.size())
                                   : name.str());
    }
  SmallVector<DimCheck> checks;
  for (auto &[leader, members] : byClass) {
    const OperandDim *first = &members.front();
    for (const OperandDim &member : members)
      if (ShapedType::isStatic(member.size)) {
        first = &member;
        break;
      }
    for (const OperandDim &member : members) {
      if (&member == first)
        continue;
      if (ShapedType::isStatic(member.size)) {
        if (member.size == first->size)
          continue;
        return kernel.emitError()
               << what << ": dim " << first->dim << " of "
               << names[first->operand] << " is " << first->size << " but dim "
               << member.dim << " of " << names[member.operand] << " is "
               << member.size << "; they must be equal";
      }
      checks.push_back(
          {first->operand, first->dim, member.operand, member.dim,
           llvm::formatv("{0}: dim {1} of {2} and dim {3} of {4} must be equal",
                         what, first->dim, names[first->operand], member.dim,
                         names[member.operand])});
    }
  }
  return checks;
}

namespace {
struct CollectChecksPass
    : public tilewright::impl::CollectChecksPassBase<CollectChecksPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    FailureOr<SmallVector<DimCheck>> checks = collectChecks(kernel);
    if (failed(checks))
      return signalPassFailure();
    Builder b(&getContext());
    SmallVector<Attribute> entries;
    for (const DimCheck &check : *checks)
      entries.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("dims",
                          b.getDenseI64ArrayAttr({check.operandA, check.dimA,
                                                  check.operandB, check.dimB})),
           b.getNamedAttr("message", b.getStringAttr(check.message))}));
    if (!entries.empty())
      kernel->setAttr("tilewright.checks", b.getArrayAttr(entries));
  }
};
} // namespace
