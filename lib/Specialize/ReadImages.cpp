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
// Of any number of images there are any number of pixels, tensor<?x3x3x64xf16>.
// Where this cannot be, the aligned variant stays, and says why.

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

  /// Whether a factor of the product is windows of images; `why` not, if that can be said.
  bool find(std::string &why);
  void rewrite();

private:
  bool describe(Im2colOp windows, std::string &why);
  bool checkOps(std::string &why);
  bool checkSizes(std::string &why);
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
  RankedTensorType merge(RankedTensorType type) const;

  func::FuncOp kernel;
  const KernelInfo &info;
  const Contraction &product;
  OpOperand *operand = nullptr;
  /// Loops of the root that run over pixels, outermost first, and their classes.
  SmallVector<unsigned> loops;
  llvm::SmallDenseSet<unsigned> pixelClasses;
  /// Of all images; kDynamic where their number is open.
  int64_t pixels = 1;
  ImageAttr image;
  /// What the kernel reads: dims of the view, the pixels' as one.
  SmallVector<unsigned> otherDims;
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

bool ImageReader::describe(Im2colOp windows, std::string &why) {
  auto fail = [&](const Twine &text) {
    why = text.str();
    return false;
  };
  Value source = windows.getSource();
  tensor::PadOp pad = getPad(source);
  if (pad && pad.getResult() != source)
    return fail("the image is padded, and seen under other dims");
  if (!pad && source.getDefiningOp<tensor::PadOp>())
    return fail("the image is padded by what is no constant");
  auto images = cast<RankedTensorType>(pad ? pad.getSource().getType() : source.getType());
  auto view = cast<RankedTensorType>(windows.getType());
  if (ShapedType::isDynamicShape(images.getShape().drop_front()) ||
      ShapedType::isDynamicShape(view.getShape().drop_front()))
    return fail("sizes of images are not static");
  if (pad && !isZeroFill(getConstantFill(pad)))
    return fail("the image is padded by what is not zero");
  SmallVector<int64_t> low(images.getRank(), 0);
  if (pad) {
    if (ShapedType::isDynamicShape(pad.getStaticLow()) ||
        ShapedType::isDynamicShape(pad.getStaticHigh()))
      return fail("how far the image is padded is not static");
    low.assign(pad.getStaticLow().begin(), pad.getStaticLow().end());
  }
  StridedLayoutAttr layout = getView(kernel, operandNumber(cast<BlockArgument>(operand->get())));
  AffineMap read = info.getRoot().getMatchingIndexingMap(operand);
  int64_t rank = images.getRank();
  auto hasPixels = [&](int64_t dim) {
    return llvm::any_of(llvm::enumerate(windows.getSteps(dim)), [&](auto step) {
      return step.value() && llvm::is_contained(loops, read.getDimPosition(step.index()));
    });
  };
  for (int64_t dim = 0; dim < rank && hasPixels(rank - 1); ++dim)
    if (!hasPixels(dim) && !llvm::all_of(windows.getSteps(dim), [](int64_t step) { return !step; }))
      return fail("channels of the image are dim " + Twine(dim) + " of " + Twine(rank) +
                  ", not innermost");
  SmallVector<int64_t> dims, strides, places, lower, upper, steps, taps, dilations;
  SmallVector<unsigned> order;
  for (int64_t dim = 0; dim < rank; ++dim) {
    std::optional<unsigned> place, tap;
    SmallVector<int64_t> moves = windows.getSteps(dim);
    for (auto [position, step] : llvm::enumerate(moves)) {
      if (!step)
        continue;
      unsigned loop = read.getDimPosition(position);
      std::optional<unsigned> &own =
          llvm::is_contained(loops, loop) ? place : tap;
      if (own)
        return fail("a dim of the image has two loops of windows, or of taps");
      own = position;
    }
    bool isPadded = pad && (pad.getStaticLow()[dim] || pad.getStaticHigh()[dim]);
    if (dim == rank - 1) {
      if (place || !tap || moves[*tap] != 1)
        return fail("the last dim of the image is not channels alone");
      if (isPadded)
        return fail("channels are padded");
      dims.push_back(images.getDimSize(dim));
      otherDims.push_back(*tap);
      continue;
    }
    if (!place)
      return fail("a dim of the image in front of its channels has no loop of the result's pixels");
    order.push_back(read.getDimPosition(*place));
    int64_t extent = images.getDimSize(dim), step = moves[*place],
            stride = layout.getStrides()[*place];
    if (ShapedType::isDynamic(stride) || stride % step)
      return fail("strides of the image are not static");
    if (dim == 0 && !tap && step == 1 && !isPadded &&
        (ShapedType::isStatic(extent) || *place == 0)) {
      dims.push_back(extent);
      strides.push_back(stride);
      continue;
    }
    if (ShapedType::isDynamic(extent))
      return fail("sizes of images are not static");
    // One image.
    if (dim == 0) {
      dims.push_back(1);
      strides.push_back(stride / step * extent);
    }
    int64_t count = view.getDimSize(*place), dilation = tap ? moves[*tap] : 1,
            reach = tap ? (view.getDimSize(*tap) - 1) * dilation : 0,
            high = pad ? pad.getStaticHigh()[dim] : 0;
    dims.push_back(extent);
    strides.push_back(stride / step);
    places.push_back(count);
    lower.push_back(-low[dim]);
    // Behind the last window that fits; where the result has fewer, behind its last one.
    int64_t end = high - reach;
    if (int64_t(llvm::divideCeil(std::max<int64_t>(0, extent + end + low[dim]), step)) != count)
      end = (count - 1) * step + 1 - low[dim] - extent;
    upper.push_back(end);
    steps.push_back(step);
    taps.push_back(tap ? int64_t(otherDims.size()) + 1 : 0);
    dilations.push_back(dilation);
    if (tap)
      otherDims.push_back(*tap);
  }
  if (order != loops)
    return fail("pixels of the result are not in the order of those of the image");
  if (places.empty() || places.size() > 3)
    return fail("the image has " + Twine(places.size()) +
                " dims of space; im2col maps have 1 to 3");
  image = ImageAttr::get(kernel.getContext(), dims, strides, places, lower, upper, steps,
                         taps, dilations);
  return true;
}

/// Whether every tensor has the dims of pixels in front, in order, or none of them.
bool ImageReader::checkOps(std::string &why) {
  auto fail = [&](const Twine &text) {
    why = text.str();
    return false;
  };
  for (linalg::LinalgOp op : info.ops) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) || op.hasIndexSemantics())
      return fail(op->getName().getStringRef() + " in the kernel asks for coordinates of pixels");
    for (OpOperand &each : op->getOpOperands()) {
      if (&each == operand || !isa<RankedTensorType>(each.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&each);
      if (!map.isProjectedPermutation())
        return fail("an operand is no plain tensor");
      SmallVector<unsigned> found = pixelLoops(op, map);
      if (found.empty())
        continue;
      std::string what =
          "operand " + std::to_string(each.getOperandNumber()) + " of a " +
          op->getName().getStringRef().str();
      if (found.size() != loops.size())
        return fail(what + " has some of the dims of pixels and not all");
      for (auto [position, loop] : llvm::enumerate(loops)) {
        unsigned own = map.getDimPosition(position);
        if (info.getClasses(op)[own] != info.getClasses(info.getRoot())[loop])
          return fail(what + " has its pixels in another order, or not in front");
        if (op.getIteratorTypesArray()[own] != utils::IteratorType::parallel)
          return fail("pixels are reduced in the kernel");
      }
      auto argument = dyn_cast<BlockArgument>(each.get());
      if (argument && getView(kernel, operandNumber(argument)))
        return fail(what + " is a window of a larger tensor");
      if (argument && getPadding(argument))
        return fail(what + " is padded");
      if (argument)
        mergedOperands.insert(operandNumber(argument));
    }
  }
  return true;
}

/// Whether nothing is open but the number of images, which dim 0 of operands tells.
bool ImageReader::checkSizes(std::string &why) {
  auto fail = [&](const Twine &text) {
    why = text.str();
    return false;
  };
  auto isOfPixels = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return value == operand->get() ||
           (argument && mergedOperands.contains(operandNumber(argument)));
  };
  for (BlockArgument argument : kernel.getArguments()) {
    auto type = dyn_cast<ShapedType>(argument.getType());
    if (type && !type.hasStaticShape() &&
        (ShapedType::isDynamicShape(type.getShape().drop_front()) || !isOfPixels(argument)))
      return fail("sizes are not static");
  }
  // Once the first dim counts pixels, these sizes do as well.
  for (Operation &op : kernel.getBody().front()) {
    auto dim = dyn_cast<tensor::DimOp>(op);
    if (dim && (!isOfPixels(dim.getSource()) || dim.getConstantIndex() != 0 ||
                !llvm::all_of(dim->getUsers(), llvm::IsaPred<tensor::EmptyOp>)))
      return fail("the kernel computes with sizes");
    if (auto empty = dyn_cast<tensor::EmptyOp>(op);
        empty && !llvm::all_of(empty.getDynamicSizes(), [](Value size) {
          return size.getDefiningOp<tensor::DimOp>();
        }))
      return fail("the kernel has tensors of a size of their own");
  }
  return true;
}

bool ImageReader::find(std::string &why) {
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
    return false;
  auto fail = [&](const Twine &text) {
    why = text.str();
    return false;
  };
  // Kernels of open sizes ask for them, too.
  auto reads = [](Operation *user) { return !isa<tensor::DimOp>(user); };
  if (llvm::count_if(operand->get().getUsers(), reads) != 1)
    return fail("the image is read by several ops of the kernel");
  if (info.split || !product.batch.empty() || product.perElement != 1)
    return fail(info.split ? "the sum is computed in parts"
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
      return fail("the result has 2^31 pixels or more");
  }
  if (pixelClasses.size() != loops.size())
    return fail("two loops of pixels are one and the same");
  if (!describe(windows, why) || !checkOps(why) || !checkSizes(why))
    return false;
  if (isOpen)
    pixels = ShapedType::kDynamic;
  return true;
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
      for (unsigned dim : otherDims)
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

void ImageReader::rewrite() {
  // Types are those of all values before any map changes.
  SmallVector<std::pair<Value, Type>> values;
  auto image = cast<BlockArgument>(operand->get());
  int64_t position = operandNumber(image);
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand &each : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(each.get().getType());
      if (!type || &each == operand ||
          pixelLoops(op, op.getMatchingIndexingMap(&each)).empty())
        continue;
      values.push_back({each.get(), merge(type)});
      if (op.isDpsInit(&each))
        values.push_back({op.getTiedOpResult(&each), merge(type)});
    }
  auto view = cast<RankedTensorType>(image.getType());
  SmallVector<int64_t> shape{pixels};
  for (unsigned dim : otherDims)
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
  SmallVector<Attribute> images;
  SmallVector<int64_t> merged;
  for (BlockArgument argument : kernel.getArguments()) {
    if (!isa<ShapedType>(argument.getType()))
      continue;
    int64_t number = images.size();
    images.push_back(number == position ? Attribute(this->image) : b.getUnitAttr());
    merged.push_back(mergedOperands.contains(number) ? int64_t(loops.size()) : 1);
  }
  kernel->setAttr(kImagesAttr, b.getArrayAttr(images));
  kernel->setAttr(kMergedAttr, b.getDenseI64ArrayAttr(merged));
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
    if (!why.isTriviallyEmpty())
      addExplanation(kernel, "not read through an im2col tensor map: " + why);
    symbols.erase(variant);
    return success();
  };
  info = KernelInfo::get(variant);
  if (failed(info))
    return failure();
  product = matchContraction(info->root);
  std::string why;
  ImageReader reader(variant, *info, *product);
  if (!reader.find(why))
    return why.empty() ? give("") : give(why);
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
  if (candidates.empty() || !candidates.front().refused.empty() ||
      !candidates.front().config.isForWarpgroups())
    return give(candidates.empty() ? "no candidates"
                : candidates.front().refused.empty()
                    ? "warpgroups have no config for it"
                    : StringRef(candidates.front().refused));
  addExplanation(variant, "reads pixels of images through an im2col tensor map");
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
