// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Picks.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/PickOps.cpp.inc"

LogicalResult PickOp::verify() {
  auto table = cast<RankedTensorType>(getTable().getType());
  RankedTensorType from = getSourceType(), to = getType();
  if (table.getRank() != 1 || !table.getElementType().isSignlessInteger())
    return emitOpError("takes a table of one dim, of integers");
  if (from.getRank() < 2 || from.getRank() != to.getRank() ||
      from.getElementType() != to.getElementType() ||
      from.getShape().drop_front() != to.getShape().drop_front())
    return emitOpError("changes the number of matrices only");
  if (from.isDynamicDim(0) || from.getDimSize(0) == 0)
    return emitOpError("takes a known number of matrices, at least one");
  if (to.getDimSize(0) != table.getDimSize(0))
    return emitOpError("gives a matrix for each entry of the table");
  return success();
}

Attribute tilewright::makePick(MLIRContext *context, int64_t argument, int64_t table,
                               int64_t count) {
  Builder b(context);
  return b.getDictionaryAttr({b.getNamedAttr("argument", b.getI64IntegerAttr(argument)),
                              b.getNamedAttr("table", b.getI64IntegerAttr(table)),
                              b.getNamedAttr("count", b.getI64IntegerAttr(count))});
}

std::optional<Pick> tilewright::getPick(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto kernel = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
                         : FunctionOpInterface();
  auto entries = kernel ? kernel->getAttrOfType<ArrayAttr>(kPicksAttr) : ArrayAttr();
  if (!entries)
    return std::nullopt;
  for (auto entry : entries.getAsRange<DictionaryAttr>()) {
    auto number = [&](StringRef name) {
      auto attribute = entry.getAs<IntegerAttr>(name);
      return attribute ? attribute.getInt() : -1;
    };
    int64_t table = number("table");
    if (number("argument") == argument.getArgNumber() && table >= 0 &&
        table < argument.getOwner()->getNumArguments())
      return Pick{argument.getOwner()->getArgument(table), number("count")};
  }
  return std::nullopt;
}
