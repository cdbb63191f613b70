// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/SharedPlaces.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

#define GET_TYPEDEF_CLASSES
#include "tilewright/Dialect/TilewrightTypes.cpp.inc"

void TilewrightDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilewright/Dialect/TilewrightTypes.cpp.inc"
      >();
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t stages, ArrayRef<MemRefType> tiles) {
  if (stages < 1)
    return emitError() << "a ring has at least one stage, not " << stages;
  for (MemRefType tile : tiles)
    if (!tile.hasStaticShape() || !tile.getElementType().isIntOrFloat() ||
        tile.getElementTypeBitWidth() % 8 ||
        !isa_and_nonnull<SharedAttr>(tile.getMemorySpace()))
      return emitError()
             << "tiles of a ring have a static shape, whole bytes and "
                "#tilewright.shared, unlike "
             << tile;
  return success();
}

int64_t RingType::getStageBytes() {
  int64_t bytes = 0;
  for (MemRefType tile : getTiles())
    bytes += tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
  return bytes;
}

std::optional<int64_t> tilewright::sharedBytesOf(MemRefType type) {
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !element.isIntOrIndexOrFloat())
    return std::nullopt;
  // Coordinates that change threads, of gathers; 32 or 64 bits each.
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8) * type.getNumElements();
}
