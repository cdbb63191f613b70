// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warpgroup's operand in registers, in the order and the words of the instruction. Of
// operands whose rows are neighbours in memory a thread has some rows side by side; those
// of bytes are transposed, four places along the sum by as many rows:
//
//   a0 b0 c0 d0            a0 a1 a2 a3
//   a1 b1 c1 d1     ->     b0 b1 b2 b3
//   a2 b2 c2 d2            c0 c1 c2 c3
//   a3 b3 c3 d3            d0 d1 d2 d3

#include "OperandWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

/// The words of bytes that `rows` (2 or 4) neighbours of four places along the sum are, the
/// places' one behind the other: four of each row.
static Registers transposeBytes(OpBuilder &b, Location loc, ArrayRef<Value> held, int64_t rows) {
  Type element = held.front().getType();
  auto bytes = VectorType::get(4, element);
  auto shuffle = [&](Value left, Value right, ArrayRef<int64_t> places) -> Value {
    return vector::ShuffleOp::create(b, loc, left, right, places);
  };
  SmallVector<Value> transposed;
  if (rows == 2) {
    // Two places a word.
    Value words[2];
    for (int64_t half : {0, 1}) {
      Value halves[2];
      for (int64_t place : {0, 1}) {
        Value pair = vector::FromElementsOp::create(
            b, loc, VectorType::get(2, element),
            ValueRange(held.slice(4 * half + 2 * place, 2)));
        pair = vector::BitCastOp::create(b, loc, VectorType::get(1, b.getI16Type()), pair);
        halves[place] = vector::ExtractOp::create(b, loc, pair, 0);
      }
      words[half] = vector::FromElementsOp::create(
          b, loc, VectorType::get(2, b.getI16Type()), ValueRange(halves));
      words[half] = vector::BitCastOp::create(b, loc, bytes, words[half]);
    }
    transposed = {shuffle(words[0], words[1], {0, 2, 4, 6}),
              shuffle(words[0], words[1], {1, 3, 5, 7})};
  } else {
    Value places[4];
    for (int64_t place = 0; place < 4; ++place)
      places[place] = vector::FromElementsOp::create(b, loc, bytes,
                                                     ValueRange(held.slice(4 * place, 4)));
    Value low[2], high[2];
    for (int64_t half : {0, 1}) {
      low[half] = shuffle(places[2 * half], places[2 * half + 1], {0, 4, 1, 5});
      high[half] = shuffle(places[2 * half], places[2 * half + 1], {2, 6, 3, 7});
    }
    for (Value *half : {low, high}) {
      transposed.push_back(shuffle(half[0], half[1], {0, 1, 4, 5}));
      transposed.push_back(shuffle(half[0], half[1], {2, 3, 6, 7}));
    }
  }
  return transposed;
}

/// 32 bits out of neighbours along the sum.
static Registers packWords(ThreadCode &code, Location loc, ArrayRef<Value> values) {
  OpBuilder &b = code.b;
  Type element = values.front().getType();
  int64_t bits = element.getIntOrFloatBitWidth();
  Registers words;
  if (bits == 16) {
    for (size_t at = 0; at < values.size(); at += 2)
      words.push_back(computePair(b, loc, values[at], values[at + 1]));
    return words;
  }
  for (size_t at = 0; at < values.size(); at += 32 / bits) {
    if (bits == 32)
      words.push_back(values[at]);
    else
      words.push_back(vector::FromElementsOp::create(
          b, loc, VectorType::get(4, element), ValueRange(values.slice(at, 4))));
  }
  return words;
}

Registers tilewright::operandWords(ThreadCode &code, Location loc, ArrayRef<Value> held,
                                   int64_t together, int64_t repeatM) {
  Type element = held.front().getType();
  int64_t perWord = 32 / element.getIntOrFloatBitWidth();
  Registers words;
  if (together == 1) {
    words = packWords(code, loc, held);
  } else {
    // Words of the rows side by side, where the rows of a group come first, too.
    Registers grouped;
    for (size_t at = 0; at < held.size(); at += together * perWord) {
      ArrayRef<Value> group = held.slice(at, together * perWord);
      if (perWord == 4 && (together == 2 || together == 4)) {
        llvm::append_range(grouped, transposeBytes(code.b, loc, group, together));
        continue;
      }
      SmallVector<Value> ordered;
      for (int64_t row = 0; row < together; ++row)
        for (int64_t place = 0; place < perWord; ++place)
          ordered.push_back(group[row + together * place]);
      llvm::append_range(grouped, packWords(code, loc, ordered));
    }
    int64_t inside = together / 2, outside = repeatM / inside;
    int64_t steps = grouped.size() / (4 * repeatM);
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t repeat = 0; repeat < repeatM; ++repeat)
        for (int64_t half = 0; half < 2; ++half)
          for (int64_t row = 0; row < 2; ++row)
            words.push_back(
                grouped[row + 2 * (repeat % inside) +
                        together * (half + 2 * (repeat / inside + outside * step))]);
  }
  if (perWord == 2)
    return words;
  OpBuilder &b = code.b;
  for (Value &word : words) {
    if (perWord == 1) {
      word = arith::BitcastOp::create(b, loc, b.getI32Type(), word);
      continue;
    }
    word = vector::BitCastOp::create(b, loc, VectorType::get(1, b.getI32Type()), word);
    word = vector::ExtractOp::create(b, loc, word, 0);
  }
  return words;
}
