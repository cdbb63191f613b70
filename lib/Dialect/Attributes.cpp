// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect's attributes: what they answer and when they are valid. Those whose text is a list
// of keys have files of their own, LoweringConfig.cpp and LaunchAttribute.cpp.

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

/// Sizes as types have them: `?` is one that is open.
static ParseResult parseSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      sizes.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(sizes.emplace_back());
  });
}

static void printSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  llvm::interleaveComma(sizes, printer, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      printer << "?";
    else
      printer << size;
  });
}

#define GET_ATTRDEF_CLASSES
#include "tilewright/Dialect/TilewrightAttrs.cpp.inc"

void TilewrightDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilewright/Dialect/TilewrightAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

int64_t TargetAttr::getFact(StringRef key, int64_t otherwise) const {
  auto value = getFacts().getAs<IntegerAttr>(key);
  return value ? value.getInt() : otherwise;
}

StringRef TargetAttr::getText(StringRef key) const {
  auto value = getFacts().getAs<StringAttr>(key);
  return value ? value.getValue() : StringRef();
}

bool TargetAttr::has(StringRef key) const { return getFacts().contains(key); }

//===----------------------------------------------------------------------===//
// SharesAttr
//===----------------------------------------------------------------------===//

int64_t SharesAttr::countParts(int64_t tiles, int64_t steps, int64_t blocks) {
  int64_t work = tiles * steps, most = 1;
  // Block b has step s where b * work / blocks <= s, the last such one.
  auto ownerOf = [&](int64_t step) { return ((step + 1) * blocks - 1) / work; };
  for (int64_t tile = 0; tile < tiles; ++tile)
    most = std::max(most, ownerOf((tile + 1) * steps - 1) - ownerOf(tile * steps) + 1);
  return most;
}

std::string SharesAttr::whyNot(int64_t tiles, int64_t steps, int64_t blocks,
                               int64_t parts) {
  if (tiles < 1 || steps < 1 || blocks < 1 || parts < 1)
    return "there are no steps to share";
  // Kernels count in 32 bits.
  constexpr int64_t kMost = INT32_MAX;
  if (steps > kMost / tiles || parts > kMost / tiles ||
      blocks + parts > kMost / (tiles * steps + 1))
    return std::to_string(tiles) + " tiles of " + std::to_string(steps) +
           " steps are too many to share among " + std::to_string(blocks) +
           " blocks in numbers of 32 bits";
  if (blocks > tiles * steps)
    return std::to_string(blocks) + " blocks share " + std::to_string(tiles * steps) +
           " steps of all tiles, which leaves some with nothing to do";
  if (int64_t most = countParts(tiles, steps, blocks); most > parts)
    return std::to_string(most) + " of " + std::to_string(blocks) +
           " blocks share the sum of one tile, and there is room for " +
           std::to_string(parts) + " parts; make 'splits' " + std::to_string(most);
  return "";
}

LogicalResult SharesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t tiles, int64_t steps, int64_t blocks,
                                 int64_t parts) {
  if (std::string why = whyNot(tiles, steps, blocks, parts); !why.empty())
    return emitError() << why;
  return success();
}

//===----------------------------------------------------------------------===//
// SharedAttr, ImageAttr
//===----------------------------------------------------------------------===//

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> swizzle) {
  if (swizzle.empty())
    return success();
  if (swizzle.size() != 3 && swizzle.size() != 4)
    return emitError() << "a swizzle is [bits, base, shift] or [bits, base, "
                          "shift, fold]";
  if (llvm::any_of(swizzle, [](int64_t v) { return v < 0 || v > 20; }))
    return emitError() << "swizzle values must be 0 to 20";
  if (swizzle[2] < swizzle[0])
    return emitError() << "swizzle shift must be at least its number of bits";
  if (swizzle.size() == 4 && swizzle[3] <= swizzle[2])
    return emitError() << "swizzle fold must be above its shift";
  return success();
}

layout::Swizzle SharedAttr::getElementSwizzle() const {
  ArrayRef<int64_t> fields = getSwizzle();
  if (fields.empty())
    return {};
  return {int(fields[0]), int(fields[1]), int(fields[2]),
          fields.size() > 3 ? int(fields[3]) : 0};
}

SharedAttr SharedAttr::getSwizzled(MLIRContext *context,
                                   const layout::Swizzle &s) {
  SmallVector<int64_t> fields;
  if (!s.isNone())
    fields = {s.bits, s.base, s.shift};
  if (!s.isNone() && s.fold)
    fields.push_back(s.fold);
  return get(context, fields);
}

LogicalResult ImageAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> dims, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> places, ArrayRef<int64_t> lower,
                                ArrayRef<int64_t> upper, ArrayRef<int64_t> steps,
                                ArrayRef<int64_t> taps, ArrayRef<int64_t> dilations,
                                ArrayRef<int64_t> windows, ArrayRef<int64_t> along,
                                ArrayRef<int64_t> extents) {
  if (dims.size() < 3 || dims.size() > 5)
    return emitError() << "images have 3 to 5 dims, their number and channels among "
                          "them, not "
                       << dims.size();
  bool isOpen = !windows.empty();
  for (ArrayRef<int64_t> each : {dims.drop_front(), strides, places})
    if (!isOpen && ShapedType::isDynamicShape(each))
      return emitError() << "only the number of images may be open without 'windows'";
  if (ShapedType::isDynamic(dims.back()))
    return emitError() << "has an open number of channels";
  if (strides.size() != dims.size() - 1)
    return emitError() << "has " << strides.size() << " strides for " << dims.size()
                       << " dims; channels lie side by side";
  SmallVector<ArrayRef<int64_t>> ofSpace{places, lower, upper, steps, taps, dilations};
  if (isOpen)
    ofSpace.append({windows, along, extents});
  for (ArrayRef<int64_t> each : ofSpace)
    if (each.size() != dims.size() - 2)
      return emitError() << "has " << each.size() << " entries for "
                         << dims.size() - 2 << " dims of space";
  return success();
}
