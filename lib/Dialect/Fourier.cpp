// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Fourier.h"

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/FourierOp.cpp.inc"

void FftOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (operand.get() == getOutput())
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult FftOp::verify() {
  auto input = cast<ShapedType>(getInput().getType()),
       output = cast<ShapedType>(getOutput().getType());
  bool isMemref = isa<BaseMemRefType>(output);
  for (ShapedType type : {input, output}) {
    if (!isa<RankedTensorType, MemRefType>(type))
      return emitOpError() << "has an operand of " << type
                           << "; operands are ranked tensors, or ranked memrefs";
    if (isa<MemRefType>(type) != isMemref)
      return emitOpError("mixes memrefs and tensors; use one of them");
  }
  if (isMemref ? !getResults().empty() : getResultTypes() != TypeRange(getOutput().getType()))
    return emitOpError() << "gives a result of its destination's type, " << output
                         << ", if that is a tensor, else none";
  Type element = input.getElementType();
  if (!element.isF32() && !element.isF64())
    return emitOpError() << "has elements of " << element
                         << "; they are f32 or f64, the parts of complex numbers";
  if (input.getRank() < 2 || input.getShape().back() != 2)
    return emitOpError() << "has an input of " << input
                         << "; its last dim is 2, a real and an imaginary part, and the one "
                            "before is transformed";
  bool fits = output.getElementType() == element && output.getRank() == input.getRank();
  for (int64_t dim = 0; fits && dim < input.getRank(); ++dim)
    fits = input.getDimSize(dim) == output.getDimSize(dim) || input.isDynamicDim(dim) ||
           output.isDynamicDim(dim);
  if (!fits)
    return emitOpError() << "has an output of " << output << " for an input of " << input
                         << "; both are alike";
  return success();
}
