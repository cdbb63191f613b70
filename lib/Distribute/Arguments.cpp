// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signature of the thread form, and what the arguments of the block form are
// in it: views of rank-1 memory with explicit dims, strides and offsets.

#include "ThreadCode.h"
#include "tilewright/Dialect/Divisibility.h"

using namespace mlir;
using namespace tilewright;

/// Arguments of the thread form: buffers, then dims (and for each window its
/// strides and its offset, of images what of their pixels' numbers is open), then host
/// scalars.
SmallVector<Attribute> tilewright::scalarArguments(func::FuncOp source,
                                                   SmallVectorImpl<Type> &types) {
  MLIRContext *context = source.getContext();
  SmallVector<Attribute> scalars;
  int64_t operand = 0, hostScalar = 0;
  SmallVector<Type> hostTypes;
  SmallVector<Attribute> hostScalars;
  for (Type type : source.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      hostScalars.push_back(HostScalarAttr::get(context, hostScalar++));
      hostTypes.push_back(type);
      continue;
    }
    types.push_back(MemRefType::get({ShapedType::kDynamic},
                                    memoryElement(memref.getElementType())));
    for (auto [dim, size] : llvm::enumerate(memref.getShape()))
      if (ShapedType::isDynamic(size))
        scalars.push_back(DimAttr::get(context, operand, dim));
    if (ImageAttr image = getImage(source, operand))
      for (auto [dim, places] : llvm::enumerate(image.getPlaces()))
        if (ShapedType::isDynamic(places))
          scalars.push_back(PlacesAttr::get(context, operand, dim));
    SmallVector<int64_t> strides;
    if (getWindowStrides(memref, strides)) {
      for (auto [dim, stride] : llvm::enumerate(strides))
        if (ShapedType::isDynamic(stride))
          scalars.push_back(StrideAttr::get(context, operand, dim));
      scalars.push_back(OffsetAttr::get(context, operand));
    }
    ++operand;
  }
  types.append(scalars.size(), IndexType::get(context));
  llvm::append_range(types, hostTypes);
  llvm::append_range(scalars, hostScalars);
  return scalars;
}

/// True if the kernel both reads and writes buffer `operand`.
static bool isUpdated(func::FuncOp source, int64_t operand) {
  auto access = source->getAttrOfType<ArrayAttr>(kAccessAttr);
  if (!access || operand >= int64_t(access.size()))
    return false;
  auto text = dyn_cast<StringAttr>(access[operand]);
  return text && text.getValue() == "readwrite";
}

LogicalResult ThreadCode::mapArguments() {
  ValueRange arguments = target.getArguments();
  Location loc = source.getLoc();
  int64_t buffers = llvm::count_if(source.getArgumentTypes(),
                                   [](Type type) { return isa<MemRefType>(type); });
  size_t nextBuffer = 0, nextScalar = buffers;
  SmallVector<std::pair<BlockArgument, MemRefType>> memrefs;
  for (BlockArgument argument : source.getArguments())
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      memrefs.push_back({argument, type});
  for (auto [argument, type] : memrefs) {
    SmallVector<int64_t> strides;
    bool isView = getWindowStrides(type, strides);
    if ((!isView && !type.getLayout().isIdentity()) || type.getMemorySpace())
      return source.emitError() << "argument " << argument.getArgNumber() << " of "
                                << type << " must be strided global memory";
    MemView mem;
    int64_t operand = nextBuffer;
    mem.base = arguments[nextBuffer++];
    BufferDivisors divisors = argumentDivisors(source, argument, accessBytes);
    mem.offsetDivisor = divisors.offset;
    mem.sizeDivisors = divisors.sizes;
    mem.strideDivisors = divisors.strides;
    mem.element = type.getElementType();
    mem.updated = isUpdated(source, operand);
    int64_t rank = type.getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      bool dynamic = type.isDynamicDim(dim);
      mem.sizes.push_back(dynamic ? Index(arguments[nextScalar++])
                                   : Index(type.getDimSize(dim)));
    }
    if (ImageAttr image = getImage(source, operand))
      for (int64_t count : image.getPlaces())
        places[operand].push_back(ShapedType::isDynamic(count)
                                      ? Index(arguments[nextScalar++])
                                      : Index(count));
    if (isView) {
      for (int64_t stride : strides) {
        bool dynamic = ShapedType::isDynamic(stride);
        mem.strides.push_back(dynamic ? Index(arguments[nextScalar++])
                                       : Index(stride));
      }
      mem.offset = Index(arguments[nextScalar++]);
      defineView(argument, mem);
      continue;
    }
    mem.strides.assign(rank, Index(1));
    for (int64_t dim = rank - 2; dim >= 0; --dim)
      mem.strides[dim] =
          multiply(loc, mem.strides[dim + 1], mem.sizes[dim + 1]);
    defineView(argument, mem);
  }
  for (BlockArgument argument : source.getArguments())
    if (!isa<MemRefType>(argument.getType()))
      scalars.map(argument, arguments[nextScalar++]);
  if (auto maps = source->getAttrOfType<ArrayAttr>(kTensorMapsAttr))
    for (Attribute map : maps)
      tensorMaps[map] = arguments[nextScalar++];
  for (auto [argument, type] : memrefs)
    if (std::optional<Padding> padding = getPadding(argument)) {
      MemView mem = *view(argument);
      mem.padding = {padding->inside, {}, padding->fill,
                      !padding->symbols.empty() || !type.hasStaticShape()};
      for (BlockArgument symbol : padding->symbols)
        mem.padding->symbols.push_back(mapped(OpFoldResult(symbol)));
      defineView(argument, mem);
    }
  return success();
}
