// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dot products of a CPU multiply unsigned by signed bytes. Of two signed operands the rows
// are packed with 128 more, of two unsigned ones with 128 less: their sign bits are
// flipped. 128 times the sum of each column is then too much, or too little; it is computed
// once for all rows of the block, and the sums of a chunk start without it. They wrap
// around, so the result is exact:
//
//   for %j: write (for %t: mma %signs, %bp[%j / 32, %t], 0), %surplus[%j / 32]
//   %c = %init - broadcast(read %surplus[%j / 32])
//   %r = for %t: mma %ap[%t], %bp[%j / 32, %t], %c {instruction = "dot.m1n16k4.u8.s8.s32"}

#include "Packer.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright;

Value Packer::signBits(VectorType type) {
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getI8IntegerAttr(-128)));
}

/// The instruction of operands one of which is signed and one unsigned.
void Packer::turnInstruction() {
  bool isSigned = instruction->signedness[rows.number] == "signed";
  SmallVector<StringRef> names(2, isSigned ? "signed" : "unsigned");
  names[rows.number] = isSigned ? "unsigned" : "signed";
  signedness = b.getStrArrayAttr(names);
  bool first = names[0] == "signed";
  name = b.getStringAttr("dot.m1n" + Twine(instruction->n) + "k" + Twine(instruction->k) +
                         (first ? ".s8.u8.s32" : ".u8.s8.s32"));
}

void Packer::allocateSurplus(int64_t columnTiles) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&kernel.getBody().front());
  auto alloc = [&](ArrayRef<int64_t> shape, Type element) {
    return memref::AllocOp::create(b, loc, MemRefType::get(shape, element),
                                   b.getI64IntegerAttr(64));
  };
  auto acc = cast<VectorType>(mma.getAcc().getType());
  surplus = alloc({columnTiles, acc.getDimSize(1)}, acc.getElementType());
  SmallVector<int64_t> shape = rows.getWordShape(mma, instruction->perWord());
  shape[1] = 1;
  signRow = alloc(shape, instruction->operands[0]);
  Value signs = signBits(VectorType::get(shape, instruction->operands[0]));
  SmallVector<Value> start(shape.size(), constant(0));
  SmallVector<bool> inBounds(shape.size(), true);
  vector::TransferWriteOp::create(b, loc, signs, signRow, start, ArrayRef<bool>(inBounds));
}

/// What each column's sums have too much, of `steps` packed steps.
void Packer::sumColumns(Value steps) {
  OpBuilder::InsertionGuard guard(b);
  auto acc = cast<VectorType>(mma.getAcc().getType());
  auto type = VectorType::get({1, acc.getDimSize(1)}, acc.getElementType());
  Value tiles = constant(cast<MemRefType>(surplus.getType()).getDimSize(0));
  Value tile = enter(constant(0), tiles, constant(1)).getInductionVar();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value sums = carry(steps, zero, [&](Value step, Value acc) {
    return multiplyWords(signRow, readStepWords(columns, tile, step), acc);
  });
  bool inBounds[] = {true, true};
  vector::TransferWriteOp::create(b, loc, sums, surplus, ValueRange{tile, constant(0)},
                                  ArrayRef<bool>(inBounds));
}

/// What a chunk's sums in tile `column` start from.
Value Packer::subtractSurplus(Value init, Value column) {
  auto type = cast<VectorType>(init.getType());
  Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  bool inBounds[] = {true};
  Value row = vector::TransferReadOp::create(
      b, loc, VectorType::get({type.getDimSize(1)}, type.getElementType()), surplus,
      ValueRange{column, constant(0)}, padding, std::optional<ArrayRef<bool>>(inBounds));
  return arith::SubIOp::create(b, loc, init, vector::BroadcastOp::create(b, loc, type, row));
}
