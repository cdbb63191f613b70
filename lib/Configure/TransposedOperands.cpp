// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a product takes as it is, and with operands transposed in front of it: see
// TransposedOperands.h. Both are sketched in the program, predicted (PredictTime.h), and
// erased.
//
// Transposing in the kernel, tile by tile on the way into the ring, would save the round trip
// through memory, 10 us of a 4096 x 4096 int8 operand, but takes warps and issue slots from the
// same blocks for each of the tiles that read the operand, 16 or 32 times each element.

#include "tilewright/Configure/TransposedOperands.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Configure/PredictTime.h"
#include "tilewright/Configure/TileFusion.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/Windows.h"

#include "Bound.h"
#include "CostModel.h"
#include "core/tensor_map_limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilewright;

/// A copy takes at most so much memory: what a program of large products can miss of 80 GiB.
static constexpr int64_t kMostBytes = int64_t(1) << 30;
/// What is gained must be more than the model is off by, and worth that memory.
static constexpr double kGain = 1.1;
/// Dynamic extents are tried by these, until the product is no longer faster.
static constexpr int64_t kExtents[] = {1024, 512, 256, 128};

bool tilewright::isAddedCopy(linalg::LinalgOp op) {
  return op->hasAttr(kCopiesAttr) ||
         llvm::any_of(*op.getBlock(), [](Operation &inner) { return isa<IdentityOp>(inner); });
}

/// The dim of K, or of M or N, which the other operand does not have.
static unsigned dimOf(OpOperand &operand, bool ofSum) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  AffineMap other =
      op.getMatchingIndexingMap(op.getDpsInputOperand(1 - operand.getOperandNumber()));
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    if (ofSum ? types[map.getDimPosition(dim)] == utils::IteratorType::reduction
              : !other.isFunctionOfDim(map.getDimPosition(dim)))
      return dim;
  llvm_unreachable("operands of products have both");
}

SmallVector<int64_t> tilewright::transposedOrder(OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  unsigned rank = op.getMatchingIndexingMap(&operand).getNumResults();
  unsigned last = dimOf(operand, /*ofSum=*/!runsAlongSum(operand));
  SmallVector<int64_t> order;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != last)
      order.push_back(dim);
  order.push_back(last);
  return order;
}

linalg::GenericOp tilewright::createTransposedCopy(OpBuilder &b, Location loc, Value source,
                                                   ArrayRef<int64_t> order) {
  // What computes the elements is merged with the copy, and loses its attributes.
  bool isComputed = isa_and_nonnull<linalg::LinalgOp>(source.getDefiningOp());
  // Nor is it asked for its sizes, as one more reader.
  Value sized = source;
  while (auto producer = sized.getDefiningOp<linalg::LinalgOp>())
    sized = producer.getTiedOpOperand(cast<OpResult>(sized))->get();
  auto empty = sized.getDefiningOp<tensor::EmptyOp>();
  SmallVector<OpFoldResult> sizes =
      empty ? empty.getMixedSizes() : tensor::getMixedSizes(b, loc, sized);
  SmallVector<OpFoldResult> moved;
  for (int64_t dim : order)
    moved.push_back(sizes[dim]);
  Value memory = tensor::EmptyOp::create(b, loc, moved, getElementTypeOrSelf(source));
  AffineMap result = b.getMultiDimIdentityMap(order.size());
  AffineMap read = inversePermutation(AffineMap::getPermutationMap(order, b.getContext()));
  SmallVector<utils::IteratorType> loops(order.size(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, memory.getType(), source, memory,
                                   ArrayRef<AffineMap>{read, result}, loops,
                                   [&](OpBuilder &inner, Location at, ValueRange arguments) {
                                     Value element = arguments[0];
                                     if (isComputed)
                                       element = IdentityOp::create(inner, at, element);
                                     linalg::YieldOp::create(inner, at, element);
                                   });
}

namespace {
/// A product whose operands are predicted in several orders.
class OperandOrders {
public:
  OperandOrders(linalg::GenericOp op, Contraction product, TargetAttr target,
                PredictProduct predictProduct)
      : op(op), product(std::move(product)), target(target), predictProduct(predictProduct) {}

  OrRefusal<TransposedOperands> choose();

private:
  OrRefusal<SmallVector<SmallVector<unsigned>>> listSets();
  bool isAcross(unsigned number) {
    OpOperand *operand = op.getDpsInputOperand(number);
    return bytesPerElement(operand->get().getType()) != 2 && !runsAlongSum(*operand);
  }
  bool isUnaligned(unsigned number);
  bool isUnread(unsigned number) { return isAcross(number) || isUnaligned(number); }
  bool isComputed(unsigned number);
  bool hasInstruction();
  Refusal whyNotCopied(unsigned number);
  /// What a pinned config has in shared memory.
  OrRefusal<TransposedOperands> choosePinned(LoweringConfigAttr config);
  /// The extents, dynamic ones taken for `nominal`.
  SmallVector<int64_t> extentsOf(int64_t nominal);
  /// Microseconds of the kernels that transpose `numbers`, and of the product behind them, with
  /// the product's config.
  std::optional<PredictedKernel> predict(ArrayRef<unsigned> numbers, int64_t nominal);
  double predictCopy(OpBuilder &b, OpOperand &operand, ArrayRef<int64_t> extents);
  void addGuard(TransposedOperands &result, int64_t fewest);

  linalg::GenericOp op;
  Contraction product;
  TargetAttr target;
  PredictProduct predictProduct;
};
} // namespace

/// Whether no copy engine reads rows of the operand, of 16 bits, and one reads its columns as rows.
bool OperandOrders::isUnaligned(unsigned number) {
  OpOperand *operand = op.getDpsInputOperand(number);
  auto type = cast<RankedTensorType>(operand->get().getType());
  // A window's rows are as far apart as those of the whole.
  if (bytesPerElement(type) != 2 || !type.hasStaticShape() ||
      operand->get().getDefiningOp<tensor::ExtractSliceOp>())
    return false;
  auto isWhole = [&](unsigned dim) {
    return tensor_map::isAligned(uint64_t(2 * type.getDimSize(dim)));
  };
  return !isWhole(type.getRank() - 1) && isWhole(transposedOrder(*operand).back());
}

bool OperandOrders::hasInstruction() {
  auto names = target.getFacts().getAs<ArrayAttr>("warpgroup_mma");
  return names && llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
           return bool(matchInstruction(cast<linalg::LinalgOp>(op.getOperation()), name, &product));
         });
}

/// Whether the product's kernel computes the operand, in registers.
bool OperandOrders::isComputed(unsigned number) {
  Value value = op.getDpsInputOperand(number)->get();
  auto producer = value.getDefiningOp<linalg::LinalgOp>();
  if (!producer || isa<linalg::FillOp>(producer.getOperation()))
    return isa_and_nonnull<UnpackOp>(value.getDefiningOp());
  return producer.getNumReductionLoops() == 0 && value.hasOneUse() &&
         mayFuseProducers(producer, cast<linalg::LinalgOp>(op.getOperation()), number,
                          /*products=*/1, target);
}

bool tilewright::isKnownAtLoad(Value value) {
  Operation *last = value.getDefiningOp(), *op = last;
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::ConstantOp, LoadedOp>(op))
    return false;
  auto func = dyn_cast<func::FuncOp>(last->getParentOp());
  return func && func.getNumArguments();
}

/// Why no kernel in front of the product may copy the operand.
Refusal OperandOrders::whyNotCopied(unsigned number) {
  Value value = op.getDpsInputOperand(number)->get();
  if (isComputed(number))
    return refuse(Refused::Neighbours, "it is computed in the product's kernel");
  if (isa_and_nonnull<Im2colOp, tensor::PadOp, PickOp>(value.getDefiningOp()))
    return refuse(Refused::Layout, "it is a view of a smaller or larger tensor");
  auto type = cast<RankedTensorType>(value.getType());
  double bytes = double(bytesPerElement(type));
  for (int64_t extent : type.getShape())
    bytes *= double(ShapedType::isDynamic(extent) ? 1 : extent);
  if (bytes > double(kMostBytes))
    return refuse(Refused::Extents, llvm::formatv("a copy of it would take {0:f0} MiB of memory, "
                                                  "and may take {1}",
                                                  bytes / 1048576, kMostBytes >> 20)
                                        .str())
        .of(int64_t(bytes), kMostBytes);
  return {};
}

OrRefusal<TransposedOperands> OperandOrders::choosePinned(LoweringConfigAttr config) {
  TransposedOperands result;
  if (config.isForWarpgroups())
    for (unsigned number : {0u, 1u})
      if (isUnread(number) && llvm::is_contained(config.getPromote(), int64_t(number)))
        result.numbers.push_back(number);
  for (unsigned number : result.numbers)
    if (Refusal why = whyNotCopied(number))
      return why;
  if (result.numbers.empty())
    return refuse(Refused::Unrelated, "");
  result.why = "as the pinned config has it in shared memory";
  addGuard(result, 0);
  return result;
}

SmallVector<int64_t> OperandOrders::extentsOf(int64_t nominal) {
  SmallVector<int64_t> extents = cast<linalg::LinalgOp>(op.getOperation()).getStaticLoopRanges();
  for (int64_t &extent : extents)
    if (ShapedType::isDynamic(extent))
      extent = nominal;
  return extents;
}

/// A tensor of nothing in particular, of `map`'s dims.
static Value createTensor(OpBuilder &b, Location loc, ArrayRef<int64_t> extents, AffineMap map,
                          Type element) {
  SmallVector<int64_t> shape;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    shape.push_back(extents[map.getDimPosition(dim)]);
  return tensor::EmptyOp::create(b, loc, shape, element);
}

double OperandOrders::predictCopy(OpBuilder &b, OpOperand &operand,
                                  ArrayRef<int64_t> extents) {
  Value source = createTensor(b, op.getLoc(), extents, op.getMatchingIndexingMap(&operand),
                              getElementTypeOrSelf(operand.get()));
  auto copy = createTransposedCopy(b, op.getLoc(), source, transposedOrder(operand));
  std::optional<double> time = predictTime(cast<linalg::LinalgOp>(copy.getOperation()), target);
  Operation *empty = copy.getOutputs()[0].getDefiningOp();
  for (Operation *dead : {copy.getOperation(), empty, source.getDefiningOp()})
    dead->erase();
  return time ? *time + chipOf(target).kernelMicroseconds
              : std::numeric_limits<double>::infinity();
}

std::optional<PredictedKernel> OperandOrders::predict(ArrayRef<unsigned> numbers,
                                                      int64_t nominal) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> extents = extentsOf(nominal);
  SmallVector<Operation *> created;
  SmallVector<linalg::LinalgOp> ops;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  double time = 0;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    unsigned number = operand->getOperandNumber();
    if (llvm::is_contained(numbers, number)) {
      SmallVector<AffineExpr> moved;
      for (int64_t dim : transposedOrder(*operand))
        moved.push_back(maps[number].getResult(dim));
      maps[number] = AffineMap::get(maps[number].getNumDims(), 0, moved, b.getContext());
      time += isKnownAtLoad(operand->get()) ? 0 : predictCopy(b, *operand, extents);
    }
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    if (producer && isComputed(number) &&
        !ShapedType::isDynamicShape(producer.getStaticLoopRanges())) {
      ops.push_back(cast<linalg::LinalgOp>(b.clone(*producer)));
      created.push_back(ops.back());
      inputs.push_back(ops.back()->getResult(0));
      continue;
    }
    Type element = getElementTypeOrSelf(operand->get());
    inputs.push_back(createTensor(b, loc, extents, maps[number], element));
    created.push_back(inputs.back().getDefiningOp());
  }
  Type element = getElementTypeOrSelf(op.getResult(0));
  Value empty = createTensor(b, loc, extents, maps.back(), element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  auto fill = linalg::FillOp::create(b, loc, zero, empty);
  auto sketch = linalg::GenericOp::create(b, loc, empty.getType(), inputs, fill.getResult(0), maps,
                                          op.getIteratorTypesArray());
  IRMapping none;
  op.getRegion().cloneInto(&sketch.getRegion(), none);
  created.append({empty.getDefiningOp(), zero.getDefiningOp(), fill, sketch});
  ops.push_back(cast<linalg::LinalgOp>(sketch.getOperation()));
  // Only the host can cut sums that end anywhere.
  bool isDynamic = ShapedType::isDynamicShape(
      cast<linalg::LinalgOp>(op.getOperation()).getStaticLoopRanges());
  std::optional<PredictedKernel> found =
      isDynamic ? predictKernel(ops, target) : predictProduct(ops);
  for (Operation *dead : llvm::reverse(created))
    dead->erase();
  if (found)
    found->time += time;
  return found;
}

/// What dynamic extents must be: so many along each loop, and whole 16 bytes along rows.
void OperandOrders::addGuard(TransposedOperands &result, int64_t fewest) {
  SmallVector<int64_t> extents = cast<linalg::LinalgOp>(op.getOperation()).getStaticLoopRanges();
  result.atLeast.assign(extents.size(), 0);
  result.multipleOf.assign(extents.size(), 1);
  if (!fewest)
    return;
  for (unsigned loop : llvm::concat<const unsigned>(product.m, product.n, product.k))
    if (ShapedType::isDynamic(extents[loop]))
      result.atLeast[loop] = fewest;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    unsigned inner = map.getDimPosition(
        llvm::is_contained(result.numbers, operand->getOperandNumber())
            ? unsigned(transposedOrder(*operand).back())
            : map.getNumResults() - 1);
    if (ShapedType::isDynamic(extents[inner]))
      result.multipleOf[inner] = std::max(result.multipleOf[inner],
                                          16 / bytesPerElement(operand->get().getType()));
  }
}

/// The operands that may be transposed, one or both.
OrRefusal<SmallVector<SmallVector<unsigned>>> OperandOrders::listSets() {
  // Registers have one of those with K across.
  if (!isUnaligned(0) && !isUnaligned(1))
    for (unsigned number : {0u, 1u})
      if (!isAcross(number) && !isComputed(number))
        return refuse(Refused::Unrelated, "");
  SmallVector<SmallVector<unsigned>> sets;
  Refusal refused;
  for (unsigned number : {0u, 1u}) {
    if (!isUnread(number))
      continue;
    if (Refusal why = whyNotCopied(number))
      refused = why.after("operand " + Twine(number) + ": ");
    else
      sets.push_back({number});
  }
  if (sets.empty())
    return refused ? refused : refuse(Refused::Unrelated, "");
  if (sets.size() == 2)
    sets.push_back({0, 1});
  return sets;
}

OrRefusal<TransposedOperands> OperandOrders::choose() {
  if (!hasInstruction())
    return refuse(Refused::Unrelated, "");
  if (auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr))
    return choosePinned(config);
  // A sketch reads two tensors where the product reads one.
  if (op.getDpsInputOperand(0)->get() == op.getDpsInputOperand(1)->get())
    return refuse(Refused::Unrelated, "");
  OrRefusal<SmallVector<SmallVector<unsigned>>> listed = listSets();
  if (!listed)
    return listed.why();
  SmallVector<SmallVector<unsigned>> sets = *listed;
  bool isDynamic = ShapedType::isDynamicShape(
      cast<linalg::LinalgOp>(op.getOperation()).getStaticLoopRanges());
  TransposedOperands result;
  int64_t fewest = 0;
  for (int64_t nominal : kExtents) {
    std::optional<PredictedKernel> asIs = predict({}, nominal);
    if (!asIs && fewest)
      break;
    if (!asIs)
      return refuse(Refused::Unrelated, "");
    PredictedKernel least{std::numeric_limits<double>::infinity(), {}};
    SmallVector<unsigned> best;
    for (ArrayRef<unsigned> numbers : sets)
      if (auto found = predict(numbers, nominal); found && found->time < least.time) {
        least = *found;
        best.assign(numbers.begin(), numbers.end());
      }
    std::string times = llvm::formatv("{0:f1} us with {1}, as predicted, {2:f1} us without{3}",
                                      least.time,
                                      best.size() == 2 ? "kernels that transpose both"
                                                       : "a kernel that transposes it",
                                      asIs->time,
                                      isDynamic ? " (of dynamic extents of " +
                                                      std::to_string(nominal) + ")"
                                                : std::string())
                            .str();
    if (least.time * kGain >= asIs->time) {
      if (!fewest)
        return refuse(Refused::NotProfitable, times);
      break;
    }
    if (!fewest)
      result.numbers = best, result.why = times,
      result.forWarpgroups = least.config.isForWarpgroups();
    fewest = nominal;
    sets = {result.numbers};
    if (!isDynamic)
      break;
  }
  result.forAlignment =
      llvm::any_of(result.numbers, [&](unsigned number) { return isUnaligned(number); });
  addGuard(result, isDynamic ? fewest : 0);
  return result;
}

OrRefusal<TransposedOperands> tilewright::chooseTransposed(linalg::LinalgOp product,
                                                           TargetAttr target,
                                                           PredictProduct predict) {
  auto op = dyn_cast<linalg::GenericOp>(product.getOperation());
  std::optional<Contraction> contraction = matchContraction(product);
  if (!op || !contraction || !target || !target.has("warpgroup_mma") ||
      op.getNumDpsInputs() != 2 || op.getNumResults() != 1 || op.hasIndexSemantics() ||
      contraction->perElement != 1 || contraction->m.size() != 1 || contraction->n.size() != 1 ||
      contraction->k.size() != 1)
    return refuse(Refused::Unrelated, "");
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return refuse(Refused::Unrelated, "");
  OperandOrders orders(op, *contraction, target, predict);
  return orders.choose();
}
