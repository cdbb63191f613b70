// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One layout for the images of a program: channels innermost. Most front ends write
// them in front of rows and columns, where a window's elements of one pixel lie far
// apart: neither copy engines nor vectors take them at once, and rows of 7 or 14 pixels
// fill no vector.
//
//   %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1]
//   %r = linalg.generic <(n,f,y,x,c,i,j)->(n,c,y+i,x+j), (f,c,i,j), (n,f,y,x)>
//          ins(%p, %filter) outs(%zeros)
//   %s = linalg.generic <relu> ins(%r)                     … more convolutions
// becomes
//   %t = linalg.transpose %x permutation = [0, 2, 3, 1]
//   %p = tensor.pad %t low[0, 1, 1, 0] high[0, 1, 1, 0]
//   %r = linalg.generic <(n,f,y,x,c,i,j)->(n,y+i,x+j,c), (i,j,c,f), (n,y,x,f)> …
//   %s = linalg.generic <relu> ins(%r)                     …
//   %u = linalg.transpose %s permutation = [0, 3, 1, 2]    for what is no image op
//
// Convolutions begin it, and what reads their results goes on with it as long as it
// keeps the channels: ops of elements, pooling, padding, slices. Maps take the new order
// of dims, loops stay as they are. Constant filters are stored in the new order, or brought
// to it when the program is loaded; images that come in or go out otherwise are transposed,
// which has to be little beside the products of all convolutions.

#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CHANNELSLASTPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// Products of convolutions for each element that is transposed in each call: at an edge,
/// or of a filter that is an argument.
static constexpr double kProductsPerMove = 512;

/// Of one convolution alone nothing is known about what is around it.
static constexpr unsigned kConvolutions = 2;

/// An image: batch, channels, then rows and columns (or one, or three dims) of which there
/// is more than one pixel.
static bool isImage(Type value) {
  auto type = dyn_cast<RankedTensorType>(value);
  if (!type || !type.hasStaticShape() || type.getRank() < 3 || type.getRank() > 5)
    return false;
  return llvm::any_of(type.getShape().drop_front(2), [](int64_t size) { return size > 1; });
}

/// The dims of an image, channels last.
static SmallVector<int64_t> channelsLast(int64_t rank) {
  SmallVector<int64_t> order{0};
  llvm::append_range(order, llvm::seq<int64_t>(2, rank));
  order.push_back(1);
  return order;
}

static RankedTensorType permute(Type value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value);
  return type.clone(applyPermutation(type.getShape(), order));
}

static AffineMap permute(AffineMap map, ArrayRef<int64_t> order) {
  return AffineMap::get(map.getNumDims(), 0,
                        applyPermutation(map.getResults(), order), map.getContext());
}

/// The elements of `from`, whose dims have `shape`, in the order of `order`.
static DenseElementsAttr permute(DenseElementsAttr from, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(from.getType());
  RankedTensorType to = permute(type, order);
  if (from.isSplat())
    return from.resizeSplat(to);
  size_t bytes = type.getElementTypeBitWidth() / 8;
  SmallVector<int64_t> strides = applyPermutation(computeStrides(type.getShape()), order);
  ArrayRef<int64_t> sizes = to.getShape();
  std::vector<char> data(size_t(type.getNumElements()) * bytes);
  SmallVector<int64_t> index(sizes.size(), 0);
  int64_t source = 0;
  for (char *at = data.data(), *end = at + data.size(); at != end; at += bytes) {
    std::memcpy(at, from.getRawData().data() + size_t(source) * bytes, bytes);
    for (int64_t dim = int64_t(sizes.size()) - 1; dim >= 0; --dim) {
      source += strides[dim];
      if (++index[dim] < sizes[dim])
        break;
      source -= strides[dim] * sizes[dim];
      index[dim] = 0;
    }
  }
  return DenseElementsAttr::getFromRawBuffer(to, data);
}

/// The constant that `value` is, if its elements are whole bytes.
static DenseElementsAttr getConstant(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  Type element = elements ? elements.getElementType() : Type();
  if (!elements || !element.isIntOrFloat() ||
      (!elements.isSplat() && element.getIntOrFloatBitWidth() % 8))
    return {};
  return elements;
}

static bool isWindow(AffineExpr expr) { return !isa<AffineDimExpr, AffineConstantExpr>(expr); }

/// The input whose windows the op reads, or null.
static OpOperand *getWindows(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (llvm::any_of(op.getMatchingIndexingMap(input).getResults(), isWindow))
      return input;
  return nullptr;
}

/// The order of the dims of a convolution's filter: places of the window, channels that are
/// summed, filters. Nothing if `input` is no filter of the windows.
static std::optional<SmallVector<int64_t>> filterOrder(OpOperand *input, OpOperand *windows) {
  auto op = cast<linalg::GenericOp>(input->getOwner());
  AffineMap map = op.getMatchingIndexingMap(input),
            reads = op.getMatchingIndexingMap(windows);
  if (input == windows || !op.isDpsInput(input) || !map.isProjectedPermutation() ||
      map.getNumResults() < 2)
    return std::nullopt;
  SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
  SmallVector<std::pair<int, int64_t>> places;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    bool isSummed = loops[loop] == utils::IteratorType::reduction;
    int place = !isSummed                              ? 2
                : llvm::is_contained(reads.getResults(), expr) ? 1
                                                               : 0;
    places.push_back({place, int64_t(dim)});
  }
  llvm::stable_sort(places, llvm::less_first());
  SmallVector<int64_t> order;
  for (auto [place, dim] : places)
    order.push_back(dim);
  return order;
}

/// An op that makes an image of what is none, as of a bias for each channel: as cheap in
/// either layout. Null if `value` is none.
static linalg::GenericOp getBroadcast(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      op->hasAttr(kConfigAttr) || op.getNumReductionLoops() ||
      llvm::any_of(op.getDpsInputs(), [](Value input) { return isImage(input.getType()); }))
    return {};
  return op;
}

namespace {
class ChannelsLast {
public:
  explicit ChannelsLast(func::FuncOp func) : func(func), b(func.getContext()) {}
  void run();

private:
  bool isConvolution(linalg::GenericOp op);
  bool follows(linalg::GenericOp op);
  bool isMember(Operation *op);
  /// Whether it is worth it, which --explain says of the function.
  bool pays();
  double elementsToMove(Value value);
  Value getImage(Value value);
  Value getFilter(Value value, ArrayRef<int64_t> order);
  Operation *rewrite(linalg::GenericOp op);
  Operation *rewrite(Operation *op);

  func::FuncOp func;
  OpBuilder b;
  /// In the order of the program.
  llvm::SetVector<Operation *> members;
  llvm::DenseSet<Value> seen;
  /// Of images: with channels last.
  llvm::DenseMap<Value, Value> images;
};
} // namespace

/// A result whose second dim is a loop over filters, of windows over rows and columns.
bool ChannelsLast::isConvolution(linalg::GenericOp op) {
  OpOperand *windows = getWindows(op);
  if (!windows || op.getNumResults() != 1 || !isImage(op.getResult(0).getType()) ||
      !isImage(windows->get().getType()))
    return false;
  AffineMap reads = op.getMatchingIndexingMap(windows),
            result = op.getIndexingMapMatchingResult(op->getResult(0));
  if (reads.getNumResults() != result.getNumResults() ||
      !result.isProjectedPermutation() || isWindow(reads.getResult(0)) ||
      isWindow(reads.getResult(1)) ||
      !llvm::all_of(reads.getResults().drop_front(2), isWindow))
    return false;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return filterOrder(input, windows) &&
           llvm::is_contained(map.getResults(), result.getResult(1));
  });
}

/// An op of elements, or pooling: all images have the channels of one that is a member's.
bool ChannelsLast::follows(linalg::GenericOp op) {
  AffineExpr channels;
  unsigned rank = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (seen.contains(input->get())) {
      AffineMap map = op.getMatchingIndexingMap(input);
      channels = map.getResult(1);
      rank = map.getNumResults();
    }
  if (!channels || !isa<AffineDimExpr>(channels))
    return false;
  return llvm::all_of(op->getResults(), [&](OpResult result) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    return map.getNumResults() == rank && map.getResult(1) == channels;
  });
}

bool ChannelsLast::isMember(Operation *op) {
  auto isStaticSlice = [](auto slice) {
    return slice.hasUnitStride() && !ShapedType::isDynamicShape(slice.getStaticOffsets());
  };
  // A pinned config speaks of the op as it is, also one that rides on the location.
  auto fused = dyn_cast<FusedLoc>(op->getLoc());
  if (op->hasAttr(kConfigAttr) || (fused && fused.getMetadata()))
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.hasPureTensorSemantics() && (isConvolution(generic) || follows(generic));
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return seen.contains(pad.getSource()) && getConstantFill(pad) &&
           pad.getLow().empty() && pad.getHigh().empty();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return seen.contains(slice.getSource()) && isStaticSlice(slice) &&
           isImage(slice.getType()) &&
           slice.getSourceType().getRank() == slice.getType().getRank();
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return seen.contains(slice.getSource()) && isStaticSlice(slice) &&
           slice.getSourceType().getRank() == slice.getType().getRank();
  return false;
}

/// How many elements are transposed for `value`, an image that a member reads.
double ChannelsLast::elementsToMove(Value value) {
  if (seen.contains(value) || value.getDefiningOp<tensor::EmptyOp>() ||
      value.getDefiningOp<linalg::FillOp>() || dependsOnConstants(value))
    return 0;
  if (linalg::GenericOp broadcast = getBroadcast(value))
    return elementsToMove(broadcast.getDpsInitOperand(0)->get());
  if (auto pad = value.getDefiningOp<tensor::PadOp>(); pad && getConstantFill(pad))
    return elementsToMove(pad.getSource());
  return double(cast<ShapedType>(value.getType()).getNumElements());
}

bool ChannelsLast::pays() {
  double products = 0, moves = 0, ofFilters = 0;
  unsigned convolutions = 0;
  llvm::DenseSet<Value> read;
  for (Operation *op : members) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    OpOperand *windows = generic ? getWindows(generic) : nullptr;
    for (OpOperand &operand : op->getOpOperands()) {
      bool isFilter = windows && !seen.contains(operand.get()) &&
                      filterOrder(&operand, windows);
      if ((isFilter || isImage(operand.get().getType())) &&
          read.insert(operand.get()).second) {
        double elements = elementsToMove(operand.get());
        moves += elements;
        ofFilters += isFilter ? elements : 0;
      }
    }
    if (generic && isConvolution(generic)) {
      ++convolutions;
      double count = 1;
      for (int64_t extent : generic.getStaticLoopRanges())
        count *= double(extent);
      products += count;
    }
    for (Value result : op->getResults())
      if (isImage(result.getType()) &&
          llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !members.contains(user); }))
        moves += double(cast<ShapedType>(result.getType()).getNumElements());
  }
  if (convolutions < kConvolutions)
    return false;
  bool worth = products >= kProductsPerMove * moves;
  std::string filters;
  if (ofFilters)
    filters = ", " + std::to_string(int64_t(ofFilters)) +
              " of them of filters that are no constants";
  addExplanation(func, Twine(worth ? "images take channels innermost: "
                                   : "images stay with channels outermost: ") +
                           std::to_string(convolutions) + " convolutions, " +
                           std::to_string(int64_t(products)) + " products, " +
                           std::to_string(int64_t(moves)) +
                           " elements to transpose in each call" + filters);
  return worth;
}

static Value transpose(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> order) {
  RankedTensorType type = permute(value.getType(), order);
  bool atLoad = dependsOnConstants(value);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto transpose = linalg::TransposeOp::create(b, loc, value, empty, order);
  if (atLoad)
    transpose->setAttr(kAtLoadAttr, b.getUnitAttr());
  return transpose->getResult(0);
}

static Value permuteConstant(OpBuilder &b, Location loc, DenseElementsAttr constant,
                             ArrayRef<int64_t> order) {
  return arith::ConstantOp::create(b, loc, permute(constant, order));
}

static Value permutePad(OpBuilder &b, tensor::PadOp pad, Value source,
                        ArrayRef<int64_t> order) {
  auto fill = arith::ConstantOp::create(b, pad.getLoc(), getConstantFill(pad));
  return tensor::PadOp::create(b, pad.getLoc(), permute(pad.getType(), order), source,
                               applyPermutation(pad.getMixedLowPad(), order),
                               applyPermutation(pad.getMixedHighPad(), order),
                               fill.getResult());
}

/// `value` with channels last, at the insertion point, which stands behind it.
Value ChannelsLast::getImage(Value value) {
  if (Value known = images.lookup(value))
    return known;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> order = channelsLast(type.getRank());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  Value result;
  if (DenseElementsAttr constant = getConstant(value))
    result = permuteConstant(b, loc, constant, order);
  else if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    result = tensor::EmptyOp::create(b, loc, permute(type, order).getShape(),
                                     type.getElementType());
  else if (auto fill = value.getDefiningOp<linalg::FillOp>())
    result = linalg::FillOp::create(b, loc, fill.getInputs(),
                                    getImage(fill.getOutputs()[0]))
                 .getResult(0);
  else if (linalg::GenericOp broadcast = getBroadcast(value))
    result = rewrite(broadcast)->getResult(0);
  else if (auto pad = value.getDefiningOp<tensor::PadOp>();
           pad && getConstantFill(pad) && pad.getLow().empty() && pad.getHigh().empty())
    result = permutePad(b, pad, getImage(pad.getSource()), order);
  else
    result = transpose(b, loc, value, order);
  return images[value] = result;
}

Value ChannelsLast::getFilter(Value value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  if (DenseElementsAttr constant = getConstant(value))
    return permuteConstant(b, value.getLoc(), constant, order);
  return transpose(b, value.getLoc(), value, order);
}

Operation *ChannelsLast::rewrite(linalg::GenericOp op) {
  OpOperand *windows = getWindows(op);
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> results;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<SmallVector<int64_t>> order;
    if (windows && !seen.contains(value) && (order = filterOrder(&operand, windows))) {
      value = getFilter(value, *order);
    } else if (isImage(value.getType())) {
      order = channelsLast(map.getNumResults());
      value = getImage(value);
    }
    maps.push_back(order ? permute(map, *order) : map);
    (op.isDpsInput(&operand) ? inputs : inits).push_back(value);
    if (op.isDpsInit(&operand))
      results.push_back(value.getType());
  }
  auto result = linalg::GenericOp::create(b, op.getLoc(), results, inputs, inits, maps,
                                          op.getIteratorTypesArray());
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&result.getRegion(), mapping);
  return result;
}

Operation *ChannelsLast::rewrite(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return rewrite(generic);
  SmallVector<int64_t> order =
      channelsLast(cast<ShapedType>(op->getResult(0).getType()).getRank());
  Location loc = op->getLoc();
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return permutePad(b, pad, getImage(pad.getSource()), order).getDefiningOp();
  auto permuted = [&](ArrayRef<OpFoldResult> list) { return applyPermutation(list, order); };
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return tensor::ExtractSliceOp::create(
        b, loc, permute(slice.getType(), order), getImage(slice.getSource()),
        permuted(slice.getMixedOffsets()), permuted(slice.getMixedSizes()),
        permuted(slice.getMixedStrides()));
  auto slice = cast<tensor::InsertSliceOp>(op);
  return tensor::InsertSliceOp::create(
      b, loc, getImage(slice.getSource()), getImage(slice.getDest()),
      permuted(slice.getMixedOffsets()), permuted(slice.getMixedSizes()),
      permuted(slice.getMixedStrides()));
}

void ChannelsLast::run() {
  for (Operation &op : func.getBody().front())
    if (isMember(&op)) {
      members.insert(&op);
      for (Value result : op.getResults())
        if (isImage(result.getType()))
          seen.insert(result);
    }
  if (!pays())
    return;
  for (Operation *op : members) {
    b.setInsertionPoint(op);
    Operation *copy = rewrite(op);
    for (auto [old, made] : llvm::zip_equal(op->getResults(), copy->getResults())) {
      if (!isImage(old.getType())) {
        old.replaceAllUsesWith(made);
        continue;
      }
      images[old] = made;
      auto isOutside = [&](OpOperand &use) { return !members.contains(use.getOwner()); };
      if (llvm::none_of(old.getUses(), isOutside))
        continue;
      int64_t rank = cast<ShapedType>(old.getType()).getRank();
      old.replaceUsesWithIf(transpose(b, op->getLoc(), made,
                                      invertPermutationVector(channelsLast(rank))),
                            isOutside);
    }
  }
  for (Operation *op : llvm::reverse(members))
    op->erase();
}

namespace {
struct ChannelsLastPass : tilewright::impl::ChannelsLastPassBase<ChannelsLastPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal() && getOperation().getBody().hasOneBlock())
      ChannelsLast(getOperation()).run();
  }
};
} // namespace
