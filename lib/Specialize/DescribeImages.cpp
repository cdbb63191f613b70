// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows as pixels of the images that they are windows of:
//
//   %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] … : tensor<2x16x16x64xf16> to …
//   %v = tilewright.im2col %p[] {map = (n, y, i, x, j, c) -> (n, y + i, x + j, c)} : …
// are
//   #tilewright.image<dims = [2, 16, 16, 64], …, places = [16, 16], lower = [-1, -1], …>
//
// An image whose size is open ends with its last window, where nothing is padded behind it;
// else its size is a scalar that the kernel has for the padding's sake.

#include "Images.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {

class ImageDescriber {
public:
  ImageDescriber(Im2colOp windows, BlockArgument argument, AffineMap read, ArrayRef<unsigned> loops)
      : windows(windows), argument(argument), read(read), loops(loops),
        pad(getPad(windows.getSource())),
        kernel(cast<func::FuncOp>(argument.getOwner()->getParentOp())),
        layout(getView(kernel, operandNumber(argument))),
        view(cast<RankedTensorType>(windows.getType())) {}

  bool describe();
  PixelView get();
  /// Of what cannot be described.
  Refusal refusal{Refused::Unrelated, ""};

private:
  /// Which dims of the windows move along a dim of the image, and how far.
  struct Moves {
    std::optional<unsigned> place, tap;
    int64_t step = 1, dilation = 1, reach = 0;
  };

  bool fail(const Twine &text) {
    refusal = refuse(Refused::Layout, text);
    return false;
  }
  bool isPixel(unsigned dim) const {
    return llvm::is_contained(loops, read.getDimPosition(dim));
  }
  int64_t low(int64_t dim) { return pad ? pad.getStaticLow()[dim] : 0; }
  int64_t high(int64_t dim) { return pad ? pad.getStaticHigh()[dim] : 0; }
  bool isPadded(int64_t dim) { return low(dim) || high(dim); }
  bool checkSource();
  bool checkChannels();
  std::optional<Moves> movesAlong(int64_t dim);
  bool addImages(const Moves &moves);
  bool addSpace(int64_t dim, const Moves &moves);
  std::optional<int64_t> findExtent(int64_t dim);

  Im2colOp windows;
  BlockArgument argument;
  AffineMap read;
  ArrayRef<unsigned> loops;
  tensor::PadOp pad;
  func::FuncOp kernel;
  StridedLayoutAttr layout;
  RankedTensorType view, images;
  SmallVector<int64_t> dims, strides, places, lower, upper, steps, taps, dilations;
  SmallVector<int64_t> windowDims, along, extents;
  SmallVector<unsigned> order, otherDims;
};

} // namespace

bool ImageDescriber::checkSource() {
  Value source = windows.getSource();
  if (pad && pad.getResult() != source)
    return fail("the image is padded, and seen under other dims");
  if (!pad && source.getDefiningOp<tensor::PadOp>())
    return fail("the image is padded by what is no constant");
  if (pad && !isZeroFill(getConstantFill(pad)))
    return fail("the image is padded by what is not zero");
  if (pad && (ShapedType::isDynamicShape(pad.getStaticLow()) ||
              ShapedType::isDynamicShape(pad.getStaticHigh())))
    return fail("how far the image is padded is not static");
  images = cast<RankedTensorType>(pad ? pad.getSource().getType() : source.getType());
  return true;
}

/// Whether pixels of the result move along the dims in front of the last one, and none
/// along that.
bool ImageDescriber::checkChannels() {
  int64_t rank = images.getRank();
  auto hasPixels = [&](int64_t dim) {
    return llvm::any_of(llvm::enumerate(windows.getSteps(dim)), [&](auto step) {
      return step.value() && isPixel(step.index());
    });
  };
  for (int64_t dim = 0; dim < rank && hasPixels(rank - 1); ++dim)
    if (!hasPixels(dim) &&
        !llvm::all_of(windows.getSteps(dim), [](int64_t step) { return !step; }))
      return fail("channels of the image are dim " + Twine(dim) + " of " + Twine(rank) +
                  ", not innermost");
  return true;
}

std::optional<ImageDescriber::Moves> ImageDescriber::movesAlong(int64_t dim) {
  Moves moves;
  SmallVector<int64_t> all = windows.getSteps(dim);
  for (auto [position, step] : llvm::enumerate(all)) {
    if (!step)
      continue;
    std::optional<unsigned> &own = isPixel(position) ? moves.place : moves.tap;
    if (own) {
      fail("a dim of the image has two loops of windows, or of taps");
      return std::nullopt;
    }
    own = position;
  }
  if (moves.place)
    moves.step = all[*moves.place];
  if (moves.tap) {
    moves.dilation = all[*moves.tap];
    moves.reach = (view.getDimSize(*moves.tap) - 1) * moves.dilation;
  }
  return moves;
}

/// The first dim where it is the number of images.
bool ImageDescriber::addImages(const Moves &moves) {
  int64_t extent = images.getDimSize(0), stride = layout.getStrides()[*moves.place];
  bool isOpen = ShapedType::isDynamic(extent) || ShapedType::isDynamic(stride);
  if (isOpen && *moves.place != 0)
    return fail("the number of images is open, and not the first dim of their windows");
  dims.push_back(extent);
  strides.push_back(stride);
  return true;
}

/// The host scalar that is the size of the image along `dim`: the padding's set says so,
/// size - 1 >= window + tap - low.
std::optional<int64_t> ImageDescriber::findExtent(int64_t dim) {
  std::optional<Padding> padding = getPadding(argument);
  if (!padding)
    return std::nullopt;
  AffineExpr at = windows.getMap().getResult(dim) - low(dim);
  unsigned numDims = padding->inside.getNumDims(), numSymbols = padding->inside.getNumSymbols();
  for (auto [number, symbol] : llvm::enumerate(padding->symbols)) {
    AffineExpr inside = getAffineSymbolExpr(number, kernel.getContext()) - at - 1;
    if (llvm::is_contained(padding->inside.getConstraints(),
                           simplifyAffineExpr(inside, numDims, numSymbols)))
      return symbol.getArgNumber() - operandNumber(symbol);
  }
  return std::nullopt;
}

bool ImageDescriber::addSpace(int64_t dim, const Moves &moves) {
  int64_t extent = images.getDimSize(dim), stride = layout.getStrides()[*moves.place],
          count = view.getDimSize(*moves.place), step = moves.step;
  bool isOpen = ShapedType::isDynamic(extent) || ShapedType::isDynamic(count) ||
                ShapedType::isDynamic(stride);
  if (ShapedType::isStatic(stride) && stride % step)
    return fail("strides of the image are no multiples of the steps between windows");
  // One image.
  if (dim == 0) {
    dims.push_back(1);
    strides.push_back(isOpen ? images.getShape().back() : stride / step * extent);
  }
  int64_t end = high(dim) - moves.reach, scalar = -1;
  if (isOpen && high(dim) <= 0) {
    extent = ShapedType::isDynamic(count) ? ShapedType::kDynamic
                                          : (count - 1) * step + 1 - low(dim) - end;
  } else if (ShapedType::isDynamic(extent)) {
    std::optional<int64_t> known = findExtent(dim);
    if (!known)
      return fail("the kernel is not told the size of the image along dim " + Twine(dim));
    scalar = *known;
  } else if (!isOpen && int64_t(llvm::divideCeil(std::max<int64_t>(0, extent + end + low(dim)),
                                                 step)) != count) {
    // Behind the last window that fits; where the result has fewer, behind its last one.
    end = (count - 1) * step + 1 - low(dim) - extent;
  }
  // A dim of one element has no stride.
  bool hasTaps = moves.tap && moves.reach;
  dims.push_back(extent);
  strides.push_back(ShapedType::isDynamic(stride) ? stride : stride / step);
  places.push_back(count);
  lower.push_back(-low(dim));
  upper.push_back(end);
  steps.push_back(step);
  taps.push_back(moves.tap ? int64_t(otherDims.size()) + 1 : 0);
  dilations.push_back(moves.dilation);
  windowDims.push_back(*moves.place);
  along.push_back(hasTaps ? *moves.tap : *moves.place);
  extents.push_back(scalar);
  if (moves.tap)
    otherDims.push_back(*moves.tap);
  return true;
}

bool ImageDescriber::describe() {
  if (!checkSource() || !checkChannels())
    return false;
  int64_t rank = images.getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    std::optional<Moves> moves = movesAlong(dim);
    if (!moves)
      return false;
    if (dim < rank - 1 && moves->tap && view.isDynamicDim(*moves->tap))
      return fail("the number of taps is open");
    if (dim == rank - 1) {
      if (moves->place || !moves->tap || moves->dilation != 1)
        return fail("the last dim of the image is not channels alone");
      if (isPadded(dim))
        return fail("channels are padded");
      if (images.isDynamicDim(dim) || view.isDynamicDim(*moves->tap))
        return fail("the number of channels is open");
      dims.push_back(images.getDimSize(dim));
      otherDims.push_back(*moves->tap);
      continue;
    }
    if (!moves->place)
      return fail("a dim of the image in front of its channels has no loop of the result's "
                  "pixels");
    order.push_back(read.getDimPosition(*moves->place));
    bool isNumber = dim == 0 && !moves->tap && moves->step == 1 && !isPadded(dim);
    if (isNumber ? !addImages(*moves) : !addSpace(dim, *moves))
      return false;
  }
  if (order != loops)
    return fail("pixels of the result are not in the order of those of the image");
  if (places.empty() || places.size() > 3)
    return fail("the image has " + Twine(places.size()) +
                " dims of space; im2col maps have 1 to 3");
  return true;
}

PixelView ImageDescriber::get() {
  bool isOpen = false;
  for (ArrayRef<int64_t> each : {ArrayRef(dims).drop_front(), ArrayRef(strides), ArrayRef(places)})
    isOpen |= ShapedType::isDynamicShape(each);
  using Sizes = ArrayRef<int64_t>;
  return {ImageAttr::get(kernel.getContext(), dims, strides, places, lower, upper, steps, taps,
                         dilations, isOpen ? Sizes(windowDims) : Sizes(),
                         isOpen ? Sizes(along) : Sizes(), isOpen ? Sizes(extents) : Sizes()),
          otherDims};
}

OrRefusal<PixelView> tilewright::describeImages(Im2colOp windows, BlockArgument argument,
                                                AffineMap read, ArrayRef<unsigned> loops) {
  ImageDescriber describer(windows, argument, read, loops);
  if (!describer.describe())
    return describer.refusal;
  return describer.get();
}
