// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What depends on constants alone is computed once, when the program is loaded, in a
// function of its own.
//
//   func.func @main(%x: tensor<8x64xf32>) -> tensor<8x32xf32> {
//     %w = arith.constant dense_resource<"w"> : tensor<64x32xf32>
//     %s = linalg.generic <scale the columns> ins(%w, %factors)
//     %r = linalg.generic <matmul> ins(%x, %s) …
// becomes
//   func.func private @main.at_load() -> tensor<64x32xf32> attributes {tilewright.at_load} {
//     %w = arith.constant dense_resource<"w"> : tensor<64x32xf32>
//     %s = linalg.generic <scale the columns> ins(%w, %factors)
//     return %s
//   func.func @main(%x: tensor<8x64xf32>) -> tensor<8x32xf32> {
//     %s = tilewright.loaded @main.at_load[0] : tensor<64x32xf32>
//     %r = linalg.generic <matmul> ins(%x, %s) …
//
// Where a body computes from constants and from other tensors, the part of the constants
// becomes an op of its own first: of a batch norm's `(x - mean) * rsqrt(var + eps)`,
// `rsqrt(var + eps)`.
//
// Functions of coordinates alone, as the frequencies of a rotary embedding, are computed so, too.
//
// It is not done where the result takes more memory than what it is computed from, as of
// weights that are dequantised or a bias that is broadcast: then reading costs more than
// computing. An op that only moves elements is left to those who read through it, unless
// the pass that made it says `tilewright.at_load`.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_COMPUTEATLOADPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// Results up to this size are kept even if they are larger than what they come from.
static constexpr int64_t kSmallBytes = 4096;

int64_t tilewright::getStaticBytes(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || !shaped.getElementType().isIntOrFloat())
    return 0;
  return llvm::divideCeil(shaped.getNumElements() *
                              int64_t(shaped.getElementTypeBitWidth()),
                          8);
}

/// A tensor whose values the program or its parameter file has, not all the same.
static bool isData(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isa<RankedTensorType>(constant.getType()) &&
         !isa<SplatElementsAttr>(constant.getValue());
}

namespace {
/// A value that depends on constants alone.
struct ConstantWork {
  int64_t bytes = 0;     // of the data it is computed from
  bool computes = false; // does more than to move them
  bool tabulates = false; // has functions that take longer than a read
};

class LoadWork {
public:
  explicit LoadWork(func::FuncOp func) : func(func), b(func.getContext()) {}
  void splitBodies();
  /// Moves it to the function that runs at load, which is made where there is none.
  void takeOut(SymbolTable &symbols);

private:
  void classify(Operation *op);
  bool splitBody(linalg::GenericOp op);
  Value computeApart(linalg::GenericOp op, Value value, AffineMap &map);
  bool isWorthKeeping(Value value);
  void chooseKept();
  void addNeeded(Operation *op);
  void dropUnread(func::FuncOp atLoad);

  func::FuncOp func;
  OpBuilder b;
  llvm::DenseMap<Value, ConstantWork> known;
  /// Of ops that depend on constants: those that calls still have.
  llvm::DenseSet<Operation *> staying;
  /// What the new function returns.
  llvm::SetVector<Value> kept;
  llvm::DenseSet<Operation *> needed;
};
} // namespace

/// Whether `op` has no effects and may be computed earlier, on any values.
static bool mayMove(Operation *op) {
  Dialect *dialect = op->getDialect();
  bool isOurs = isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                                linalg::LinalgDialect, tensor::TensorDialect>(dialect);
  // A pinned config speaks of a kernel of the function in which it is written.
  return isOurs && !op->hasAttr(kConfigAttr) && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(), [](Type type) {
           auto shaped = dyn_cast<RankedTensorType>(type);
           return shaped ? shaped.hasStaticShape() && shaped.getElementType().isIntOrFloat()
                         : type.isIntOrIndexOrFloat();
         });
}

bool tilewright::dependsOnConstants(Value value) {
  SmallVector<Value> list{value};
  llvm::DenseSet<Value> seen;
  while (!list.empty()) {
    Value next = list.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (isa_and_nonnull<LoadedOp>(op))
      continue;
    if (!op || !mayMove(op))
      return false;
    llvm::append_range(list, op->getOperands());
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(list, captured);
  }
  return true;
}

static bool computes(Operation *op) {
  if (op->hasAttr(kAtLoadAttr) || isa<tensor::InsertSliceOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && !isRelayout(generic);
}

/// Whether the body of `op` calls functions: exponentials, powers, sines.
static bool callsFunctions(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && llvm::any_of(*generic.getBody(), [](Operation &inner) {
    return isa_and_nonnull<math::MathDialect>(inner.getDialect()) &&
           !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp,
                math::FmaOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(inner);
  });
}

void LoadWork::classify(Operation *op) {
  if (isa<LoadedOp>(op))
    known[op->getResult(0)].bytes = getStaticBytes(op->getResult(0).getType());
  if (!mayMove(op))
    return;
  ConstantWork work;
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  for (Value value : values) {
    auto found = known.find(value);
    if (found == known.end())
      return;
    work.bytes += found->second.bytes;
    work.computes |= found->second.computes;
    work.tabulates |= found->second.tabulates;
  }
  if (isData(op))
    work.bytes = getStaticBytes(op->getResult(0).getType());
  work.tabulates |= callsFunctions(op);
  work.computes |= work.tabulates || (work.bytes && computes(op));
  for (Value result : op->getResults())
    known[result] = work;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// `value` of the body of `op`, computed by an op in front of it over the loops in
/// which the inputs that it comes from are indexed; `map` reads the result.
Value LoadWork::computeApart(linalg::GenericOp op, Value value, AffineMap &map) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.filter = [&](Operation *inner) { return inner->getBlock() == op.getBody(); };
  options.inclusive = true;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(value, &slice, options);
  SmallVector<OpOperand *> inputs;
  llvm::SmallSetVector<unsigned, 4> loops;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (llvm::none_of(argument.getUsers(), [&](Operation *user) { return slice.contains(user); }))
      continue;
    inputs.push_back(input);
    for (AffineExpr result : op.getMatchingIndexingMap(input).getResults())
      if (auto loop = dyn_cast<AffineDimExpr>(result))
        loops.insert(loop.getPosition());
  }
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> toNew(op.getNumLoops(), getAffineConstantExpr(0, context));
  SmallVector<AffineExpr> read;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape;
  for (auto [number, loop] : llvm::enumerate(loops)) {
    toNew[loop] = getAffineDimExpr(number, context);
    read.push_back(getAffineDimExpr(loop, context));
    shape.push_back(ranges[loop]);
  }
  map = AffineMap::get(op.getNumLoops(), 0, read, context);
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands;
  for (OpOperand *input : inputs) {
    operands.push_back(input->get());
    maps.push_back(op.getMatchingIndexingMap(input).replaceDimsAndSymbols(
        toNew, {}, loops.size(), 0));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(loops.size(), context));
  Location loc = op.getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, shape, value.getType());
  auto made = linalg::GenericOp::create(
      b, loc, empty.getType(), operands, empty, maps,
      SmallVector<utils::IteratorType>(loops.size(), utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location, ValueRange arguments) {
        IRMapping mapping;
        for (auto [input, argument] : llvm::zip(inputs, arguments))
          mapping.map(op.getMatchingBlockArgument(input), argument);
        for (Operation &inner : *op.getBody())
          if (slice.contains(&inner))
            inside.clone(inner, mapping);
        linalg::YieldOp::create(inside, loc, mapping.lookup(value));
      });
  return made.getResult(0);
}

/// Whether the elements of `input` are read at loops, each once, or at place 0.
static bool isReadPlainly(linalg::GenericOp op, OpOperand *input) {
  AffineMap map = op.getMatchingIndexingMap(input);
  return map.isProjectedPermutation(/*allowZeroInResults=*/true);
}

bool LoadWork::splitBody(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) || op.hasIndexSemantics() ||
      llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic) ||
      llvm::all_of(op->getResults(), [&](Value result) { return known.contains(result); }))
    return false;
  // What comes from data, and what is the same everywhere.
  llvm::DenseSet<Value> fromData, isUniform;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto work = known.find(input->get());
    if (work != known.end() && work->second.bytes && isReadPlainly(op, input))
      fromData.insert(op.getMatchingBlockArgument(input));
  }
  if (fromData.empty())
    return false;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumRegions() || !isMemoryEffectFree(&inner) || inner.getNumResults() != 1)
      continue;
    bool isConstant = true, hasData = false;
    for (Value operand : inner.getOperands()) {
      bool isOutside = operand.getParentBlock() != op.getBody();
      isConstant &= fromData.contains(operand) || isUniform.contains(operand) ||
                    (isOutside && known.contains(operand));
      hasData |= fromData.contains(operand);
    }
    if (isConstant && inner.getResult(0).getType().isIntOrFloat())
      (hasData ? fromData : isUniform).insert(inner.getResult(0));
  }
  // What others use of it, if it is computed at all, and takes no more memory.
  SmallVector<Value> values;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs = op.getDpsInputs();
  b.setInsertionPoint(op);
  for (Operation &inner : op.getBody()->without_terminator())
    for (Value value : inner.getResults())
      if (fromData.contains(value) && llvm::any_of(value.getUsers(), [&](Operation *user) {
            return user->getNumResults() != 1 || !fromData.contains(user->getResult(0));
          }))
        values.push_back(value);
  llvm::DenseMap<Value, unsigned> newInputs;
  for (Value value : values) {
    AffineMap map;
    Value apart = computeApart(op, value, map);
    classify(apart.getDefiningOp<linalg::GenericOp>().getDpsInits()[0].getDefiningOp());
    classify(apart.getDefiningOp());
    if (!isWorthKeeping(apart)) {
      Operation *made = apart.getDefiningOp();
      Value empty = cast<linalg::GenericOp>(made).getDpsInits()[0];
      known.erase(apart);
      known.erase(empty);
      made->erase();
      empty.getDefiningOp()->erase();
      continue;
    }
    newInputs[value] = inputs.size();
    maps.insert(maps.begin() + inputs.size(), map);
    inputs.push_back(apart);
  }
  if (newInputs.empty())
    return false;
  SmallVector<Value> inits(op.getDpsInits());
  auto made = linalg::GenericOp::create(b, op.getLoc(), op->getResultTypes(), inputs, inits,
                                        maps, op.getIteratorTypesArray());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&made.getRegion(), mapping);
  Block *body = made.getBody();
  unsigned before = op.getNumDpsInputs();
  for (unsigned number = before; number < inputs.size(); ++number)
    body->insertArgument(number, getElementTypeOrSelf(inputs[number].getType()), op.getLoc());
  for (auto [value, number] : newInputs)
    mapping.lookup(value).replaceAllUsesWith(body->getArgument(number));
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
  op->replaceAllUsesWith(made);
  op->erase();
  return true;
}

void LoadWork::splitBodies() {
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
    classify(&op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      (void)splitBody(generic);
  }
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

bool LoadWork::isWorthKeeping(Value value) {
  auto found = known.find(value);
  if (found == known.end() || !found->second.computes ||
      !isa<RankedTensorType>(value.getType()))
    return false;
  int64_t bytes = getStaticBytes(value.getType());
  if (bytes && value.getDefiningOp()->hasAttr(kAtLoadAttr))
    return true;
  int64_t most = found->second.tabulates ? kTableBytes : kSmallBytes;
  return bytes && bytes <= std::max(found->second.bytes, most);
}

/// From the end: an op that depends on constants stays if somebody who stays reads it and
/// it is not worth keeping.
void LoadWork::chooseKept() {
  for (Operation &op : llvm::reverse(func.getBody().front())) {
    if (!op.getNumResults() || !known.contains(op.getResult(0)))
      continue;
    for (Value result : op.getResults()) {
      bool isRead = false, isUsed = false;
      for (Operation *user : result.getUsers()) {
        Operation *ancestor = func.getBody().front().findAncestorOpInBlock(*user);
        bool stays = !ancestor || !ancestor->getNumResults() ||
                     !known.contains(ancestor->getResult(0)) || staying.contains(ancestor);
        isUsed |= stays;
        isRead |= stays && ancestor && !ancestor->hasTrait<OpTrait::IsTerminator>();
      }
      if (isRead && isWorthKeeping(result))
        kept.insert(result);
      else if (isUsed)
        staying.insert(&op);
    }
  }
}

void LoadWork::addNeeded(Operation *op) {
  if (!op || !needed.insert(op).second)
    return;
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  for (Value value : values)
    addNeeded(value.getDefiningOp());
}

func::FuncOp tilewright::getLoadFunction(func::FuncOp func, SymbolTable &symbols) {
  func::FuncOp known;
  func.walk([&](LoadedOp op) {
    known = symbols.lookup<func::FuncOp>(op.getFunction());
    return WalkResult::interrupt();
  });
  if (known)
    return known;
  auto made = func::FuncOp::create(func.getLoc(), (func.getName() + ".at_load").str(),
                                   FunctionType::get(func.getContext(), {}, {}));
  made.setPrivate();
  OpBuilder b(func.getContext());
  made->setAttr(kAtLoadAttr, b.getUnitAttr());
  b.setInsertionPointToStart(made.addEntryBlock());
  func::ReturnOp::create(b, func.getLoc());
  symbols.insert(made, Block::iterator(func));
  return made;
}

void LoadWork::takeOut(SymbolTable &symbols) {
  chooseKept();
  if (kept.empty())
    return;
  for (Value value : kept)
    addNeeded(value.getDefiningOp());
  func::FuncOp atLoad = getLoadFunction(func, symbols);
  auto done = cast<func::ReturnOp>(atLoad.getBody().front().getTerminator());
  b.setInsertionPoint(done);
  IRMapping mapping;
  for (Operation &op : func.getBody().front()) {
    if (!needed.contains(&op))
      continue;
    if (auto loaded = dyn_cast<LoadedOp>(op))
      mapping.map(loaded.getResult(), done.getOperand(loaded.getNumber()));
    else
      b.clone(op, mapping)->removeAttr(kAtLoadAttr);
  }
  b.setInsertionPointToStart(&func.getBody().front());
  for (Value value : llvm::to_vector(llvm::reverse(kept))) { // in the order of the program
    int64_t number = done.getNumOperands();
    done.getOperandsMutable().append(mapping.lookup(value));
    value.replaceAllUsesWith(LoadedOp::create(b, value.getLoc(), value.getType(),
                                              atLoad.getName(), number));
  }
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (needed.contains(&op) && isOpTriviallyDead(&op))
      op.erase();
  dropUnread(atLoad);
}

/// Results of `atLoad` that `func` does not read any more, and what computes them.
void LoadWork::dropUnread(func::FuncOp atLoad) {
  auto done = cast<func::ReturnOp>(atLoad.getBody().front().getTerminator());
  llvm::MapVector<int64_t, SmallVector<LoadedOp>> readers;
  func.walk([&](LoadedOp op) { readers[op.getNumber()].push_back(op); });
  SmallVector<Value> results;
  for (auto [number, result] : llvm::enumerate(llvm::to_vector(done.getOperands()))) {
    for (LoadedOp op : readers.lookup(number))
      op.setNumber(results.size());
    if (readers.contains(number))
      results.push_back(result);
  }
  done.getOperandsMutable().assign(results);
  atLoad.setFunctionType(
      FunctionType::get(func.getContext(), {}, ValueRange(results).getTypes()));
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(atLoad.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void tilewright::computeAtLoad(func::FuncOp func, SymbolTable &symbols) {
  // Without arguments all of it is constant, and calls are there to compute it.
  if (func.isExternal() || !func.getBody().hasOneBlock() || !func.getNumArguments() ||
      func->hasAttr(kAtLoadAttr))
    return;
  LoadWork work(func);
  work.splitBodies();
  work.takeOut(symbols);
}

namespace {
struct ComputeAtLoadPass
    : tilewright::impl::ComputeAtLoadPassBase<ComputeAtLoadPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!isKernel(func))
        computeAtLoad(func, symbols);
  }
};
} // namespace
