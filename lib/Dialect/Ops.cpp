// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification of the dialect's ops.

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/TilewrightOps.cpp.inc"

//===----------------------------------------------------------------------===//
// DispatchOp
//===----------------------------------------------------------------------===//

LogicalResult DispatchOp::verify() {
  if (getOuts().getTypes() != getResultTypes())
    return emitOpError("results must have the types of outs");
  return success();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!kernel)
    return emitOpError() << "kernel " << getCalleeAttr() << " does not exist";
  if (!isKernel(kernel))
    return emitOpError() << getCalleeAttr() << " lacks '" << kKernelAttr << "'";
  // In thread form the kernel's arguments are flattened.
  size_t operands = getInputs().size() + getOuts().size();
  if (kernel->hasAttr(kScalarsAttr) ||
      kernel.getNumArguments() == operands)
    return success();
  return emitOpError() << "passes " << operands << " operands but "
                       << getCalleeAttr() << " takes "
                       << kernel.getNumArguments();
}

//===----------------------------------------------------------------------===//
// LoadedOp
//===----------------------------------------------------------------------===//

LogicalResult LoadedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function =
      symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getFunctionAttr());
  if (!function)
    return emitOpError() << "function " << getFunctionAttr() << " does not exist";
  if (!function->hasAttr(kAtLoadAttr))
    return emitOpError() << getFunctionAttr() << " lacks '" << kAtLoadAttr << "'";
  ArrayRef<Type> results = function.getResultTypes();
  if (getNumber() < 0 || uint64_t(getNumber()) >= results.size())
    return emitOpError() << "is result " << getNumber() << " of " << results.size()
                         << " of " << getFunctionAttr();
  if (results[getNumber()] != getType())
    return emitOpError() << "is a " << getType() << ", but result " << getNumber() << " of "
                         << getFunctionAttr() << " a " << results[getNumber()];
  return success();
}

//===----------------------------------------------------------------------===//
// TileIdOp
//===----------------------------------------------------------------------===//

LogicalResult TileIdOp::verify() {
  if (getCounts().size() != getIds().size())
    return emitOpError() << "has " << getCounts().size() << " counts but "
                         << getIds().size() << " results";
  if (auto order = getOrder()) {
    SmallVector<int64_t> sorted(*order);
    llvm::sort(sorted);
    for (auto [position, loop] : llvm::enumerate(sorted))
      if (loop != int64_t(position) || sorted.size() != getCounts().size())
        return emitOpError("order must be a permutation of the loops");
  }
  if (auto raster = getRaster(); raster && *raster < 1)
    return emitOpError() << "has bands of " << *raster << " tiles";
  return success();
}

//===----------------------------------------------------------------------===//
// MmaOp
//===----------------------------------------------------------------------===//

/// Each dim once, or once as `dim floordiv width` and once as `dim mod width`:
/// a tile in shared memory whose columns are cut into boxes.
static bool isSplitProjection(AffineMap map) {
  SmallVector<std::pair<unsigned, int64_t>> quotients, remainders;
  llvm::SmallDenseSet<unsigned> whole;
  for (AffineExpr result : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      if (!whole.insert(dim.getPosition()).second)
        return false;
      continue;
    }
    auto split = dyn_cast<AffineBinaryOpExpr>(result);
    if (!split || (split.getKind() != AffineExprKind::FloorDiv &&
                   split.getKind() != AffineExprKind::Mod))
      return false;
    auto dim = dyn_cast<AffineDimExpr>(split.getLHS());
    auto width = dyn_cast<AffineConstantExpr>(split.getRHS());
    if (!dim || !width || width.getValue() < 1)
      return false;
    (split.getKind() == AffineExprKind::Mod ? remainders : quotients)
        .push_back({dim.getPosition(), width.getValue()});
  }
  llvm::sort(quotients);
  llvm::sort(remainders);
  return quotients == remainders && llvm::none_of(quotients, [&](auto &split) {
           return whole.contains(split.first);
         });
}

LogicalResult MmaOp::verify() {
  auto maps = getMaps().getAsValueRange<AffineMapAttr>();
  SmallVector<AffineMap> all(maps.begin(), maps.end());
  if (all.size() != 3)
    return emitOpError("needs three maps: for a, b and the accumulator");
  ShapedType types[] = {cast<ShapedType>(getA().getType()),
                        cast<ShapedType>(getB().getType()),
                        cast<ShapedType>(getAcc().getType())};
  SmallVector<int64_t> extents(all[0].getNumDims(), ShapedType::kDynamic);
  static constexpr StringLiteral names[] = {"a", "b", "acc"};
  for (auto [map, type, name] : llvm::zip_equal(all, types, names)) {
    if (map.getNumDims() != extents.size() ||
        map.getNumResults() != unsigned(type.getRank()) ||
        !(map.isProjectedPermutation() ||
          (isa<MemRefType>(type) && isSplitProjection(map))))
      return emitOpError() << "map of " << name
                           << " must be a projected permutation with one "
                              "result per dim of "
                           << type;
    if (!type.hasStaticShape())
      return emitOpError() << name << " must have a static shape";
    for (auto [result, size] :
         llvm::zip_equal(map.getResults(), type.getShape())) {
      int64_t whole = size;
      auto split = dyn_cast<AffineBinaryOpExpr>(result);
      if (split) {
        int64_t width = cast<AffineConstantExpr>(split.getRHS()).getValue();
        if (split.getKind() == AffineExprKind::Mod && width != size)
          return emitOpError() << name << " has boxes of " << size
                               << ", its map of " << width;
        if (split.getKind() == AffineExprKind::Mod)
          continue;
        whole = size * width;
      }
      AffineExpr loop = split ? split.getLHS() : result;
      int64_t &extent = extents[cast<AffineDimExpr>(loop).getPosition()];
      if (extent != ShapedType::kDynamic && extent != whole)
        return emitOpError() << "extents differ: " << extent << " and " << whole
                             << " for the same loop";
      extent = whole;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

LogicalResult AsyncCopyOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  AffineMap map = getMap();
  if (source.getMemorySpace() || !isa_and_nonnull<SharedAttr>(dest.getMemorySpace()))
    return emitOpError() << "copies from global to shared memory, not from "
                         << source << " to " << dest;
  if (!dest.hasStaticShape() ||
      source.getElementType() != dest.getElementType())
    return emitOpError() << "fills a tile of static shape and the element type "
                         << source.getElementType() << ", not " << dest;
  if (int64_t(getIndices().size()) != source.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices into "
                         << source;
  if (map.getNumDims() != unsigned(source.getRank()) || map.getNumSymbols() ||
      map.getNumResults() != unsigned(dest.getRank()) ||
      !map.isProjectedPermutation())
    return emitOpError() << "map must name one dim of " << source
                         << " for each dim of " << dest;
  if (int64_t(getInBounds().size()) != dest.getRank())
    return emitOpError() << "in_bounds must have one entry per dim of " << dest;
  return success();
}

LogicalResult AsyncCopyRunOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  if (source.getRank() != 1 || dest.getRank() != 1 || source.getMemorySpace() ||
      !isa_and_nonnull<SharedAttr>(dest.getMemorySpace()))
    return emitOpError() << "copies between global and shared memory of rank 1, "
                            "not from "
                         << source << " to " << dest;
  Type element = source.getElementType();
  if (element != dest.getElementType() || !element.isIntOrFloat())
    return emitOpError() << "copies numbers of one type, not " << element
                         << " to " << dest.getElementType();
  int64_t bits = element.getIntOrFloatBitWidth();
  if (getCount() < 1 || getCount() > 16 ||
      (getCount() * bits != 32 && getCount() * bits != 64 &&
       getCount() * bits != 128))
    return emitOpError() << "copies 4, 8 or 16 bytes, not " << getCount()
                         << " elements of " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// LoadFragmentOp, StoreFragmentOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyFragment(Operation *op, Type fragment, Type base,
                                    Value stride, bool transposed) {
  auto vector = cast<VectorType>(fragment);
  auto memory = cast<MemRefType>(base);
  if (memory.getRank() != 1)
    return op->emitOpError() << "accesses memory of rank 1, not " << memory;
  if (vector.getRank() != 2 ||
      vector.getElementType() != memory.getElementType())
    return op->emitOpError() << "moves vectors of rank 2 of the memory's type, "
                                "not "
                             << vector;
  APInt known;
  if (matchPattern(stride, m_ConstantInt(&known)) &&
      known.getSExtValue() < vector.getDimSize(transposed ? 0 : 1))
    return op->emitOpError()
           << "has rows that overlap: stride " << known.getSExtValue();
  return success();
}

LogicalResult LoadFragmentOp::verify() {
  if (!llvm::is_contained({"a", "b", "acc"}, getUse()))
    return emitOpError() << "has use '" << getUse() << "'; a, b, acc exist";
  return verifyFragment(*this, getResult().getType(), getBase().getType(),
                        getStride(), getTransposed());
}

LogicalResult StoreFragmentOp::verify() {
  return verifyFragment(*this, getValue().getType(), getBase().getType(),
                        getStride(), getTransposed());
}

LogicalResult MapFragmentsOp::verify() {
  Type type = getResult().getType(), element = getElementTypeOrSelf(type);
  Block &block = getBody().front();
  if (getFragments().empty() ||
      block.getNumArguments() != getFragments().size())
    return emitOpError() << "has " << getFragments().size()
                         << " fragments and a body of "
                         << block.getNumArguments() << " arguments";
  for (auto [fragment, argument] :
       llvm::zip_equal(getFragments(), block.getArguments()))
    if (fragment.getType() != type || argument.getType() != element)
      return emitOpError() << "maps fragments of " << type
                           << " to one of the same type, element by element, not "
                           << fragment.getType() << " as "
                           << argument.getType();
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValue().getType() != element)
    return emitOpError() << "body must yield one " << element;
  for (Operation &op : block.without_terminator())
    if (op.getNumRegions() || !isPure(&op))
      return emitOpError() << "body has " << op.getName().getStringRef()
                           << ", which is not arithmetic on scalars";
  return success();
}

//===----------------------------------------------------------------------===//
// LoadMatricesOp
//===----------------------------------------------------------------------===//

LogicalResult LoadMatricesOp::verify() {
  auto type = cast<MemRefType>(getBase().getType());
  if (type.getRank() != 1 || !isa_and_nonnull<SharedAttr>(type.getMemorySpace()))
    return emitOpError() << "reads shared memory of rank 1, not " << type;
  unsigned bits = type.getElementType().isIntOrFloat()
                      ? type.getElementTypeBitWidth()
                      : 0;
  if (bits != 16 && (bits != 8 || getTransposed()))
    return emitOpError() << "reads elements of 16 bits, or of 8 as they lie, not "
                         << type.getElementType();
  size_t each = 32 / bits, count = getNumResults();
  if (count != each && count != 2 * each && count != 4 * each)
    return emitOpError() << "has " << count << " results; " << each << ", "
                         << 2 * each << " or " << 4 * each << " are possible";
  for (Type result : getResultTypes())
    if (result != type.getElementType())
      return emitOpError() << "has a result of " << result << " out of memory of "
                           << type.getElementType();
  return success();
}
