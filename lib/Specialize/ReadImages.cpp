// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions as products of as many rows as the result has pixels, where copy engines
// gather those of all windows by themselves (TMA's im2col maps): padding, images of a
// batch and steps between windows are in the map, and a tile may run over the end of a
// row, or of an image.
//
//   func.func private @k_aligned(%v: tensor<2x16x3x16x3x64xf16>, %w: …, %o: tensor<2x16x16x128xf32>)
//       attributes {tilewright.padding = [{…}, unit, unit], tilewright.views = [strided<…>, unit, unit]}
//     linalg.generic … (n, oh, ow, f, kh, kw, c) …
// becomes
//   func.func private @k_im2col(%v: tensor<512x3x3x64xf16>, %w: …, %o: tensor<512x128xf32>)
//       attributes {tilewright.images = [#tilewright.image<dims = [2, 16, 16, 64], …>, unit, unit],
//                   tilewright.merged = array<i64: 1, 1, 3>}
//     linalg.generic … (pixel, f, kh, kw, c) …
//
// What the host gives stays what it was: images and merged dims say how they go together.
// Of any number of images, or of images of any size, there are any number of pixels,
// tensor<?x3x3x64xf16>; the number of filters may be open as well.
// Where this cannot be, the aligned variant stays, and says why.

#include "Images.h"
#include "Kernels.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Configure/Pins.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Specialize/Specialize.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// One kernel, before it is rewritten.
class ImageReader {
public:
  ImageReader(func::FuncOp kernel, const KernelInfo &info, const Contraction &product)
      : kernel(kernel), info(info), product(product) {}

  /// Whether a factor of the product is windows of images; of kind Unrelated is what need not
  /// be said.
  Refusal find();
  void rewrite();
  /// Whether more than the number of images is open.
  bool isOpen() const { return pixelView.image.isOpen(); }

private:
  Refusal checkOps();
  Refusal checkSizes();
  /// Whether dim `dim` of an argument, or of what an op makes, is one of those of pixels.
  bool isPixelDim(Value value, int64_t dim) const;
  bool isPixelLoop(linalg::LinalgOp op, unsigned loop) const {
    return pixelClasses.contains(info.getClasses(op)[loop]);
  }
  /// The loops that `map` of `op` has among those of pixels, in order.
  SmallVector<unsigned> pixelLoops(linalg::LinalgOp op, AffineMap map) const {
    SmallVector<unsigned> found;
    for (AffineExpr expr : map.getResults())
      if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); isPixelLoop(op, loop))
        found.push_back(loop);
    return found;
  }
  void rewrite(linalg::GenericOp op);
  void rewriteSizes(const llvm::SmallDenseSet<Value> &merged);
  void setAttributes();
  RankedTensorType merge(RankedTensorType type) const;

  func::FuncOp kernel;
  const KernelInfo &info;
  const Contraction &product;
  OpOperand *operand = nullptr;
  /// Loops of the root that run over pixels, outermost first, and their classes.
  SmallVector<unsigned> loops;
  llvm::SmallDenseSet<unsigned> pixelClasses;
  /// Of all images; kDynamic where their number, or their size, is open.
  int64_t pixels = 1;
  PixelView pixelView;
  llvm::SmallDenseSet<int64_t> mergedOperands;
};

} // namespace

/// What all dispatches of a kernel pass as operand `position`: windows, or null.
static Im2colOp windowsOf(func::FuncOp kernel, int64_t position) {
  auto original = kernel->getAttrOfType<StringAttr>(kVariantOfAttr);
  StringRef name = original ? original.getValue() : kernel.getName();
  Im2colOp found;
  bool same = true;
  kernel->getParentOfType<ModuleOp>().walk([&](DispatchOp dispatch) {
    if (dispatch.getCallee() != name)
      return;
    int64_t tensor = 0;
    for (Value value : dispatch->getOperands()) {
      if (!isa<ShapedType>(value.getType()) || tensor++ != position)
        continue;
      auto windows = value.getDefiningOp<Im2colOp>();
      same &= windows && (!found || found == windows);
      found = windows;
    }
  });
  return same ? found : Im2colOp();
}

/// Whether every tensor has the dims of pixels in front, in order, or none of them.
Refusal ImageReader::checkOps() {
  for (linalg::LinalgOp op : info.ops) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) || op.hasIndexSemantics())
      return refuse(Refused::Neighbours,
                    op->getName().getStringRef() + " in the kernel asks for coordinates of pixels");
    for (OpOperand &each : op->getOpOperands()) {
      if (&each == operand || !isa<RankedTensorType>(each.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&each);
      if (!map.isProjectedPermutation())
        return refuse(Refused::Layout, "an operand is no plain tensor");
      SmallVector<unsigned> found = pixelLoops(op, map);
      if (found.empty())
        continue;
      std::string what =
          "operand " + std::to_string(each.getOperandNumber()) + " of a " +
          op->getName().getStringRef().str();
      if (found.size() != loops.size())
        return refuse(Refused::Layout, what + " has some of the dims of pixels and not all");
      for (auto [position, loop] : llvm::enumerate(loops)) {
        unsigned own = map.getDimPosition(position);
        if (info.getClasses(op)[own] != info.getClasses(info.getRoot())[loop])
          return refuse(Refused::Layout,
                        what + " has its pixels in another order, or not in front");
        if (op.getIteratorTypesArray()[own] != utils::IteratorType::parallel)
          return refuse(Refused::Neighbours, "pixels are reduced in the kernel");
      }
      auto argument = dyn_cast<BlockArgument>(each.get());
      if (argument && getView(kernel, operandNumber(argument)))
        return refuse(Refused::Layout, what + " is a window of a larger tensor");
      if (argument && getPadding(argument))
        return refuse(Refused::Layout, what + " is padded");
      if (argument)
        mergedOperands.insert(operandNumber(argument));
    }
  }
  return {};
}

bool ImageReader::isPixelDim(Value value, int64_t dim) const {
  if (value == operand->get())
    return !llvm::is_contained(pixelView.otherDims, unsigned(dim));
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && mergedOperands.contains(operandNumber(argument)) &&
         dim < int64_t(loops.size());
}

/// Whether nothing is open but pixels and filters, and sizes are asked for no more than to
/// make tensors of them.
Refusal ImageReader::checkSizes() {
  SmallVector<int64_t> extents = info.getRoot().getStaticLoopRanges();
  if (llvm::any_of(product.k, [&](unsigned loop) { return ShapedType::isDynamic(extents[loop]); }))
    return refuse(Refused::DynamicExtents, "the number of channels, or of taps, is open");
  // Once the first dim counts pixels, sizes do as well.
  for (Operation &op : kernel.getBody().front()) {
    auto dim = dyn_cast<tensor::DimOp>(op);
    if (dim && (!isa<BlockArgument>(dim.getSource()) || !dim.getConstantIndex() ||
                (isPixelDim(dim.getSource(), *dim.getConstantIndex()) &&
                 !llvm::all_of(dim->getUsers(), llvm::IsaPred<tensor::EmptyOp>))))
      return refuse(Refused::Neighbours, "the kernel computes with sizes");
    if (auto empty = dyn_cast<tensor::EmptyOp>(op);
        empty && !llvm::all_of(empty.getDynamicSizes(), [](Value size) {
          return size.getDefiningOp<tensor::DimOp>();
        }))
      return refuse(Refused::Neighbours, "the kernel has tensors of a size of their own");
  }
  return {};
}

Refusal ImageReader::find() {
  linalg::LinalgOp root = info.getRoot();
  Im2colOp windows;
  for (auto [number, rows] : {std::pair(product.a, ArrayRef<unsigned>(product.m)),
                              std::pair(product.b, ArrayRef<unsigned>(product.n))}) {
    OpOperand &each = root->getOpOperand(number);
    auto argument = dyn_cast<BlockArgument>(each.get());
    if (!argument || operand)
      continue;
    windows = windowsOf(kernel, operandNumber(argument));
    if (!windows)
      continue;
    operand = &each;
    loops.assign(rows.begin(), rows.end());
  }
  if (!operand || loops.empty())
    return refuse(Refused::Unrelated, "");
  // Kernels of open sizes ask for them, too.
  auto reads = [](Operation *user) { return !isa<tensor::DimOp>(user); };
  if (llvm::count_if(operand->get().getUsers(), reads) != 1)
    return refuse(Refused::Neighbours, "the image is read by several ops of the kernel");
  if (info.split || !product.batch.empty() || product.perElement != 1)
    return refuse(Refused::NotContraction, info.split
                                               ? "the sum is computed in parts"
                                               : "the product has loops of batches, or groups");
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  // In the order in which the result has them.
  AffineMap result = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  llvm::sort(loops, [&](unsigned a, unsigned b) {
    auto position = [&](unsigned loop) {
      return *result.getResultPosition(getAffineDimExpr(loop, kernel.getContext()));
    };
    return position(a) < position(b);
  });
  bool isOpen = false;
  for (unsigned loop : loops) {
    pixelClasses.insert(info.getClasses(root)[loop]);
    if (ShapedType::isDynamic(extents[loop]))
      isOpen = true;
    else if (llvm::MulOverflow(pixels, extents[loop], pixels) || pixels >= INT32_MAX)
      return refuse(Refused::Extents, "the result has 2^31 pixels or more");
  }
  if (pixelClasses.size() != loops.size())
    return refuse(Refused::Layout, "two loops of pixels are one and the same");
  OrRefusal<PixelView> found = describeImages(windows, cast<BlockArgument>(operand->get()),
                                              root.getMatchingIndexingMap(operand), loops);
  if (!found)
    return found.why();
  pixelView = *found;
  if (Refusal why = checkOps())
    return why;
  if (Refusal why = checkSizes())
    return why;
  if (isOpen)
    pixels = ShapedType::kDynamic;
  return {};
}

RankedTensorType ImageReader::merge(RankedTensorType type) const {
  SmallVector<int64_t> shape{pixels};
  llvm::append_range(shape, type.getShape().drop_front(loops.size()));
  return type.clone(shape);
}

void ImageReader::rewrite(linalg::GenericOp op) {
  linalg::LinalgOp linalgOp = op;
  MLIRContext *context = op.getContext();
  // The first loop of pixels becomes that of all.
  SmallVector<AffineExpr> to(op.getNumLoops());
  SmallVector<utils::IteratorType> types;
  std::optional<AffineExpr> all;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isPixel = isPixelLoop(linalgOp, loop);
    if (isPixel && all) {
      to[loop] = *all;
      continue;
    }
    to[loop] = getAffineDimExpr(types.size(), context);
    types.push_back(type);
    if (isPixel)
      all = to[loop];
  }
  if (!all)
    return;
  SmallVector<AffineMap> maps;
  for (OpOperand &each : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&each);
    SmallVector<AffineExpr> reads;
    if (&each == operand) {
      reads.push_back(*all);
      for (unsigned dim : pixelView.otherDims)
        reads.push_back(to[map.getDimPosition(dim)]);
    } else {
      for (AffineExpr expr : map.getResults()) {
        unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        if (!isPixelLoop(linalgOp, loop) || reads.empty())
          reads.push_back(to[loop]);
      }
    }
    maps.push_back(AffineMap::get(types.size(), 0, reads, context));
  }
  Builder b(context);
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(b.getArrayAttr(llvm::map_to_vector(types, [&](auto type) {
    return Attribute(linalg::IteratorTypeAttr::get(context, type));
  })));
}

/// Lets tensors that ops make, `merged` ones, and dims of arguments be those of the new types.
void ImageReader::rewriteSizes(const llvm::SmallDenseSet<Value> &merged) {
  for (auto empty : kernel.getBody().front().getOps<tensor::EmptyOp>()) {
    if (!merged.contains(empty.getResult()))
      continue;
    OpBuilder b(empty);
    SmallVector<Value> sizes;
    if (ShapedType::isDynamic(pixels))
      sizes.push_back(tensor::DimOp::create(b, empty.getLoc(), operand->get(), 0));
    for (int64_t dim = loops.size(); dim < empty.getType().getRank(); ++dim)
      if (empty.getType().isDynamicDim(dim))
        sizes.push_back(empty.getDynamicSize(dim));
    empty.getDynamicSizesMutable().assign(sizes);
  }
  for (auto dim : llvm::make_early_inc_range(kernel.getBody().front().getOps<tensor::DimOp>())) {
    int64_t number = *dim.getConstantIndex();
    if (dim->use_empty()) {
      dim.erase();
      continue;
    }
    auto argument = cast<BlockArgument>(dim.getSource());
    if (argument == operand->get() || !mergedOperands.contains(operandNumber(argument)))
      continue;
    OpBuilder b(dim);
    dim.getIndexMutable().assign(
        arith::ConstantIndexOp::create(b, dim.getLoc(), number - int64_t(loops.size()) + 1));
  }
}

void ImageReader::rewrite() {
  // Types are those of all values before any map changes.
  SmallVector<std::pair<Value, Type>> values;
  llvm::SmallDenseSet<Value> merged;
  auto image = cast<BlockArgument>(operand->get());
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand &each : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(each.get().getType());
      if (!type || &each == operand ||
          pixelLoops(op, op.getMatchingIndexingMap(&each)).empty())
        continue;
      values.push_back({each.get(), merge(type)});
      merged.insert(each.get());
      if (op.isDpsInit(&each))
        values.push_back({op.getTiedOpResult(&each), merge(type)});
    }
  rewriteSizes(merged);
  auto view = cast<RankedTensorType>(image.getType());
  SmallVector<int64_t> shape{pixels};
  for (unsigned dim : pixelView.otherDims)
    shape.push_back(view.getDimSize(dim));
  values.push_back({image, view.clone(shape)});
  for (linalg::LinalgOp op : info.ops)
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
      rewrite(generic);
  for (auto [value, type] : values)
    value.setType(type);
  Builder b(kernel.getContext());
  auto terminator = kernel.getBody().front().getTerminator();
  kernel.setFunctionType(b.getFunctionType(kernel.getBody().front().getArgumentTypes(),
                                           terminator->getOperandTypes()));
  setAttributes();
}

/// Says on the kernel what its operands are, and what is promised of their new dims.
void ImageReader::setAttributes() {
  Builder b(kernel.getContext());
  int64_t position = operandNumber(cast<BlockArgument>(operand->get()));
  SmallVector<Attribute> images;
  SmallVector<int64_t> merged;
  for (BlockArgument argument : kernel.getArguments()) {
    if (!isa<ShapedType>(argument.getType()))
      continue;
    int64_t number = images.size();
    images.push_back(number == position ? Attribute(pixelView.image) : b.getUnitAttr());
    merged.push_back(mergedOperands.contains(number) ? int64_t(loops.size()) : 1);
  }
  kernel->setAttr(kImagesAttr, b.getArrayAttr(images));
  kernel->setAttr(kMergedAttr, b.getDenseI64ArrayAttr(merged));
  // Rows are along the last dim, which is none of pixels.
  if (auto promises = kernel->getAttrOfType<DenseI64ArrayAttr>(kDivisibleAttr)) {
    SmallVector<int64_t> rest(promises.asArrayRef());
    for (size_t i = 0; i + 2 < rest.size(); i += 3)
      rest[i + 1] -= merged[rest[i]] - 1;
    kernel->setAttr(kDivisibleAttr, b.getDenseI64ArrayAttr(rest));
  }
  // The map knows both.
  for (StringRef name : {StringRef(kViewsAttr), StringRef(kPaddingAttr)}) {
    auto entries = kernel->getAttrOfType<ArrayAttr>(name);
    if (!entries)
      continue;
    SmallVector<Attribute> rest(entries.getValue());
    rest[position] = b.getUnitAttr();
    if (llvm::all_of(rest, llvm::IsaPred<UnitAttr>))
      kernel->removeAttr(name);
    else
      kernel->setAttr(name, b.getArrayAttr(rest));
  }
}

/// The config that a user gave for the kernel, or null.
static LoweringConfigAttr pinOf(func::FuncOp kernel, const KernelInfo &info) {
  if (auto given = info.root->getAttrOfType<LoweringConfigAttr>(kConfigAttr))
    return given;
  return getPin(kernel);
}

/// Puts a variant that reads images in place of `kernel`, or says on it why not.
static LogicalResult readImages(func::FuncOp kernel, TargetAttr target,
                                SymbolTable &symbols) {
  FailureOr<KernelInfo> info = KernelInfo::get(kernel);
  if (failed(info))
    return failure();
  std::optional<Contraction> product = matchContraction(info->root);
  if (!product)
    return success();
  auto variant = cast<func::FuncOp>(kernel->clone());
  StringRef family = kernel->getAttrOfType<StringAttr>(kVariantOfAttr).getValue();
  variant.setName((family + "_im2col").str());
  symbols.insert(variant, Block::iterator(kernel));
  auto give = [&](const Twine &why) {
    if (std::string said = why.str(); !said.empty())
      addExplanation(kernel, "not read through an im2col tensor map: " + said);
    symbols.erase(variant);
    return success();
  };
  info = KernelInfo::get(variant);
  if (failed(info))
    return failure();
  product = matchContraction(info->root);
  ImageReader reader(variant, *info, *product);
  if (Refusal why = reader.find())
    return give(why.str());
  LoweringConfigAttr pin = pinOf(variant, *info);
  if (!pin)
    pin = getPin(kernel);
  reader.rewrite();
  info = KernelInfo::get(variant);
  if (failed(info))
    return failure();
  if (pin) {
    if (pin.getBlock().size() != info->getNumConfigLoops())
      return give("the pinned config is for " + Twine(pin.getBlock().size()) + " loops");
    symbols.erase(kernel);
    return success();
  }
  std::vector<Candidate> candidates = listConfigs(*info, target);
  if (candidates.empty() || candidates.front().refused ||
      !candidates.front().config.isForWarpgroups())
    return give(candidates.empty()           ? "no candidates"
                : candidates.front().refused ? StringRef(candidates.front().refused.str())
                                             : "warpgroups have no config for it");
  addExplanation(variant, "reads pixels of images through an im2col tensor map");
  if (reader.isOpen())
    addExplanation(variant, "images that no map describes are for another variant: without "
                            "elements, with rows at no multiples of 16 bytes, or with more "
                            "windows between the ends of their padding than the result has");
  symbols.erase(kernel);
  return success();
}

LogicalResult tilewright::addImageVariants(ModuleOp program) {
  TargetAttr target = getTarget(program);
  if (!target || !target.has("warpgroup_mma") || !target.has("tensor_copy"))
    return success();
  SymbolTable symbols(program);
  SmallVector<func::FuncOp> kernels;
  for (auto func : program.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal() && !findAttention(func) &&
        func->hasAttr(kAlignedAttr) &&
        func->hasAttr(kVariantOfAttr) && isProgramForm(func))
      kernels.push_back(func);
  for (func::FuncOp kernel : kernels)
    if (failed(readImages(kernel, target, symbols)))
      return failure();
  return success();
}
