// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Padding.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

TypedAttr tilewright::getConstantFill(tensor::PadOp pad) {
  TypedAttr fill;
  Value value = pad.getConstantPaddingValue();
  if (!value || !matchPattern(value, m_Constant(&fill)))
    return {};
  return fill;
}

tensor::PadOp tilewright::getPad(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return getConstantFill(pad) ? pad : tensor::PadOp();
    if (!isa<tensor::CastOp, Im2colOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

namespace {
/// The constraints of one set, and the values that it refers to.
struct SetWriter {
  OpBuilder &b;
  SmallVector<AffineExpr> constraints;
  SmallVector<Value> symbols;

  AffineExpr expression(OpFoldResult value) {
    if (std::optional<int64_t> known = getConstantIntValue(value))
      return b.getAffineConstantExpr(*known);
    Value symbol = cast<Value>(value);
    auto *found = llvm::find(symbols, symbol);
    unsigned position = found - symbols.begin();
    if (found == symbols.end())
      symbols.push_back(symbol);
    return b.getAffineSymbolExpr(position);
  }
};
} // namespace

PaddedView tilewright::describePadding(OpBuilder &b, Value value) {
  tensor::PadOp pad = getPad(value);
  int64_t rank = pad.getType().getRank();
  // Dims of the padded tensor by those of the view.
  AffineMap map = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> windows;
  for (Value view = value; view != pad.getResult();
       view = view.getDefiningOp()->getOperand(0))
    if (auto im2col = view.getDefiningOp<Im2colOp>())
      windows.push_back(im2col.getMap());
  for (AffineMap window : llvm::reverse(windows))
    map = map.compose(window);

  SetWriter writer{b, {}, {}};
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(),
                            high = pad.getMixedHighPad();
  auto mayPad = [](OpFoldResult by) {
    std::optional<int64_t> known = getConstantIntValue(by);
    return !known || *known > 0;
  };
  for (int64_t dim = 0; dim < rank; ++dim) {
    AffineExpr at = map.getResult(dim) - writer.expression(low[dim]);
    if (mayPad(low[dim]))
      writer.constraints.push_back(at);
    if (mayPad(high[dim])) {
      OpFoldResult size = tensor::getMixedSize(b, pad.getLoc(),
                                               pad.getSource(), dim);
      writer.constraints.push_back(writer.expression(size) - at - 1);
    }
  }
  // A set has constraints; of nothing, nothing is inside.
  if (llvm::is_contained(pad.getSourceType().getShape(), 0))
    writer.constraints = {b.getAffineConstantExpr(-1)};
  if (writer.constraints.empty())
    writer.constraints.push_back(b.getAffineConstantExpr(0));
  for (AffineExpr &constraint : writer.constraints)
    constraint = simplifyAffineExpr(constraint, map.getNumDims(),
                                    writer.symbols.size());
  SmallVector<bool> equalities(writer.constraints.size(), false);
  return {IntegerSet::get(map.getNumDims(), writer.symbols.size(),
                          writer.constraints, equalities),
          writer.symbols, getConstantFill(pad)};
}

//===----------------------------------------------------------------------===//
// In kernels
//===----------------------------------------------------------------------===//

bool Padding::constrains(unsigned dim) const {
  return llvm::any_of(inside.getConstraints(), [&](AffineExpr expr) {
    return expr.isFunctionOfDim(dim);
  });
}

Attribute tilewright::makePadding(IntegerSet inside, ArrayRef<int64_t> symbols,
                                  TypedAttr fill) {
  Builder b(fill.getContext());
  return b.getDictionaryAttr(
      {b.getNamedAttr("inside", IntegerSetAttr::get(inside)),
       b.getNamedAttr("symbols", b.getDenseI64ArrayAttr(symbols)),
       b.getNamedAttr("fill", fill)});
}

std::optional<Padding> tilewright::getPadding(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto kernel =
      argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
               : FunctionOpInterface();
  auto entries = kernel ? kernel->getAttrOfType<ArrayAttr>(kPaddingAttr)
                        : ArrayAttr();
  if (!entries || !isa<ShapedType>(argument.getType()))
    return std::nullopt;
  unsigned operand = 0;
  for (unsigned i = 0; i < argument.getArgNumber(); ++i)
    operand += isa<ShapedType>(argument.getOwner()->getArgument(i).getType());
  auto entry = operand < entries.size()
                   ? dyn_cast<DictionaryAttr>(entries[operand])
                   : DictionaryAttr();
  if (!entry)
    return std::nullopt;
  auto inside = entry.getAs<IntegerSetAttr>("inside");
  auto symbols = entry.getAs<DenseI64ArrayAttr>("symbols");
  auto fill = entry.getAs<TypedAttr>("fill");
  auto type = cast<ShapedType>(argument.getType());
  if (!inside || !symbols || !fill ||
      inside.getValue().getNumDims() != type.getRank() ||
      inside.getValue().getNumSymbols() != symbols.size())
    return std::nullopt;
  Padding padding{inside.getValue(), {}, fill};
  for (int64_t number : symbols.asArrayRef()) {
    if (number < 0 || number >= argument.getOwner()->getNumArguments())
      return std::nullopt;
    padding.symbols.push_back(argument.getOwner()->getArgument(number));
  }
  return padding;
}

bool tilewright::isZeroFill(TypedAttr fill) {
  if (auto value = dyn_cast<FloatAttr>(fill))
    return value.getValue().isZero();
  auto value = dyn_cast<IntegerAttr>(fill);
  return value && value.getValue().isZero();
}
