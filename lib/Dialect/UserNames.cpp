// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names in locations; see UserNames.h.

#include "tilewright/Dialect/UserNames.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tilewright;

Location tilewright::nameLocation(Location loc, StringRef op, StringRef value) {
  MLIRContext *context = loc.getContext();
  if (!value.empty())
    loc = NameLoc::get(StringAttr::get(context, value), loc);
  if (!op.empty())
    loc = NameLoc::get(StringAttr::get(context, op), loc);
  return loc;
}

/// The first name in `loc` that is one of a value, or is none.
static StringRef findName(Location loc, bool isValue) {
  StringRef found;
  loc->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named || named.getName().getValue().starts_with("%") != isValue)
      return WalkResult::advance();
    found = named.getName();
    return WalkResult::interrupt();
  });
  return found;
}

StringRef tilewright::getWrittenOp(Location loc) {
  return findName(loc, /*isValue=*/false);
}

StringRef tilewright::nameOp(Operation *op) {
  StringRef written = getWrittenOp(op->getLoc());
  return written.empty() ? op->getName().getStringRef() : written;
}

std::string tilewright::addLine(StringRef name, Operation *op) {
  auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return loc ? (name + " (line " + Twine(loc.getLine()) + ")").str() : name.str();
}

std::string tilewright::nameOpAndLine(Operation *op) { return addLine(nameOp(op), op); }

StringRef tilewright::getWrittenName(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    // The user's own has a name of its own.
    if (getWrittenOp(op->getLoc()) == op->getName().getStringRef())
      break;
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      value = view.getViewSource();
    else if (isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                 tensor::ExpandShapeOp>(op))
      value = op->getOperand(0);
    else
      break;
  }
  return findName(value.getLoc(), /*isValue=*/true);
}

std::string tilewright::nameOperand(OpOperand &operand) {
  StringRef name = getWrittenName(operand.get());
  // What was made for the op itself has the op's location: of a place for its
  // result, the name is right.
  auto destinations = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  bool isOwn = name == findName(operand.getOwner()->getLoc(), /*isValue=*/true);
  if (!name.empty() && (!isOwn || (destinations && destinations.isDpsInit(&operand))))
    return name.str();
  return "operand " + std::to_string(operand.getOperandNumber());
}

std::string tilewright::numberOperand(OpOperand &operand) {
  std::string number = "operand " + std::to_string(operand.getOperandNumber());
  std::string name = nameOperand(operand);
  return name == number ? number : number + " (" + name + ")";
}
