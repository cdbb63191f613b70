// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that only rearrange the elements of vectors. Values are kept as their
// elements, so these ops choose among parts and make no code; vector.bitcast
// goes through 32-bit words.

#include "KernelEmitter.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

/// The one static position of an extract or insert on vectors of rank 1.
static std::optional<int64_t> staticPosition(ArrayRef<int64_t> position,
                                             int64_t size) {
  if (position.size() != 1 || position[0] < 0 || position[0] >= size)
    return std::nullopt;
  return position[0];
}

Parts KernelEmitter::bitcastParts(ArrayRef<Value> source, Type to) {
  Type from = source.front().getType();
  unsigned fromBits = from.getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  Parts result;
  if (fromBits == toBits) {
    for (Value value : source)
      result.push_back(bitcast(value, to));
  } else if (source.size() * fromBits % 32 == 0) {
    result = fromWords(toWords(source), to);
  } else if (toBits > fromBits) { // 2 x i8 -> i16
    result.push_back(bitcast(construct(VectorType::get(2, from), source), to));
  } else { // i16 -> 2 x i8
    Value pair = bitcast(source.front(), VectorType::get(2, to));
    result.append({extract(pair, 0), extract(pair, 1)});
  }
  return result;
}

Outcome KernelEmitter::emitVector(Operation *op) {
  if (!isa_and_present<vector::VectorDialect>(op->getDialect()))
    return Outcome::Unknown;
  for (Type type :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    SmallVector<Type> types;
    if (failed(appendPartTypes(op, type, types)))
      return Outcome::Failed;
  }
  auto refuse = [&](StringRef why) {
    op->emitOpError("is not thread form: ") << why;
    return Outcome::Failed;
  };

  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    Parts source = parts(extract.getSource());
    std::optional<int64_t> at =
        staticPosition(extract.getStaticPosition(), source.size());
    if (!at)
      return refuse("the position must be constant");
    setParts(extract.getResult(), source[*at]);
    return Outcome::Done;
  }
  if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    Parts result = parts(insert.getDest());
    std::optional<int64_t> at =
        staticPosition(insert.getStaticPosition(), result.size());
    if (!at || isa<VectorType>(insert.getValueToStore().getType()))
      return refuse("the position must be constant");
    result[*at] = part(insert.getValueToStore());
    setParts(insert.getResult(), result);
    return Outcome::Done;
  }
  if (auto from = dyn_cast<vector::FromElementsOp>(op)) {
    setParts(from.getResult(), parts(from.getElements()));
    return Outcome::Done;
  }
  if (auto to = dyn_cast<vector::ToElementsOp>(op)) {
    setParts(to.getResults(), parts(to.getSource()));
    return Outcome::Done;
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Parts source = parts(broadcast.getSource());
    if (source.size() == 1)
      source.assign(numElements(broadcast.getType()), Value(source.front()));
    setParts(broadcast.getResult(), source);
    return Outcome::Done;
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    Parts source = parts(slice.getSource());
    int64_t offset = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    setParts(slice.getResult(),
             ArrayRef(source).slice(offset, numElements(slice.getType())));
    return Outcome::Done;
  }
  if (auto slice = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    Parts result = parts(slice.getDest());
    int64_t offset = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    llvm::copy(parts(slice.getValueToStore()), result.begin() + offset);
    setParts(slice.getResult(), result);
    return Outcome::Done;
  }
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
    Parts both = parts(shuffle.getV1()), result;
    both.append(parts(shuffle.getV2()));
    for (int64_t index : shuffle.getMask())
      result.push_back(both[index < 0 ? 0 : index]);
    setParts(shuffle.getResult(), result);
    return Outcome::Done;
  }
  if (auto cast = dyn_cast<vector::BitCastOp>(op)) {
    Parts source = parts(cast.getSource());
    Type to = registerType(cast.getType().getElementType());
    if (source.front().getType().isInteger(1) || to.isInteger(1))
      return refuse("i1 has no bits in registers");
    setParts(cast.getResult(), bitcastParts(source, to));
    return Outcome::Done;
  }
  return Outcome::Unknown;
}
