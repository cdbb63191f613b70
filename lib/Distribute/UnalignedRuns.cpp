// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of narrow elements that begin anywhere, on their way to shared memory. A
// thread that is inside altogether reads the aligned 32-bit words around each of
// its runs and shifts them into place when they are needed; one at an edge reads
// element by element, of each run the first so many. Words that hang over the
// buffer's end are an edge, too. Two of the eight runs of a tile of halves:
//
//   %v = vector.transfer_read %A[%i, %k], %zero : memref<?x?xf16>, vector<128x32xf16>
// becomes
//   %w:10 = scf.if %inside {               // no run is cut, nor the last word
//     %x = vector.load %A[%even] {alignment = 4} : memref<?xf16>, vector<2xf16>  …
//   } else {
//     %m = vector.create_mask %valid : vector<8xi1>
//     %y = vector.maskedload %A[%from], %m, %zeros …
//   }
//   %h = (%w#1 : %w#0) >> %shift …         // 0 or 16 bits
//
// The shift stands behind the branch, where nobody waits for what was loaded
// before the products that hide it are done. Writes are masked alike.

#include "MemoryAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

static bool isShared(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  return isa_and_nonnull<SharedAttr>(type.getMemorySpace());
}

std::optional<ThreadCode::UnalignedRuns>
ThreadCode::findUnaligned(const Access &access) {
  const MemView &view = access.view;
  TargetAttr target = getTarget(source);
  if (!target || !target.has("masked_runs") || view.shared || view.padding ||
      access.runDim < 0 || access.wideRuns || !view.element.isIntOrFloat())
    return std::nullopt;
  unsigned bits = view.element.getIntOrFloatBitWidth();
  auto isFloat8 = isa<FloatType>(view.element) && bits == 8;
  if ((bits != 8 && bits != 16 && bits != 32) || isFloat8)
    return std::nullopt;
  UnalignedRuns result;
  result.perWord = 32 / bits;
  result.runs = access.layout->registerRuns(access.runDim, accessBytes * 8 / bits);
  int64_t length = result.runs.length;
  if (length <= access.runs.length || length % result.perWord)
    return std::nullopt;
  result.shifted = access.aligned % result.perWord != 0;
  return result;
}

std::optional<ThreadCode::UnalignedRuns>
ThreadCode::findUnalignedRead(vector::TransferReadOp op, const Access &access) {
  // What lies in front of element 0 of a window is not ours.
  auto type = cast<MemRefType>(op.getBase().getType());
  if (op.getMask() || access.view.updated || !type.getLayout().isIdentity() ||
      !isa<BlockArgument>(op.getBase()) ||
      (!matchPattern(op.getPadding(), m_Zero()) &&
       !matchPattern(op.getPadding(), m_AnyZeroFloat())) ||
      !llvm::all_of(op->getUsers(), [](Operation *user) {
        auto write = dyn_cast<vector::TransferWriteOp>(user);
        return write && isShared(write.getBase());
      }))
    return std::nullopt;
  return findUnaligned(access);
}

std::optional<ThreadCode::UnalignedRuns>
ThreadCode::findUnalignedWrite(vector::TransferWriteOp op, const Access &access) {
  if (op.getMask() ||
      access.layout->replication(layout::Level::Register) > 1)
    return std::nullopt;
  return findUnaligned(access);
}

Value ThreadCode::wordsInside(Location loc, Access &access,
                              const UnalignedRuns &unaligned) {
  Value all = allInside(loc, access);
  if (!unaligned.shifted)
    return all;
  // One word more than the run is long is read, wherever the run begins.
  const MemView &view = access.view;
  Index end = add(loc, access.base, Index(1 + unaligned.perWord));
  SmallVector<int64_t> lasts(access.layout->rank(), 0);
  for (int64_t reg = 0; reg < access.layout->numRegisters(); ++reg)
    for (auto [last, at] :
         llvm::zip_equal(lasts, access.layout->registerOffset(reg)))
      last = std::max(last, at);
  for (auto [dim, last] : llvm::enumerate(lasts))
    if (int64_t m = memoryDim(access.map, dim); m >= 0 && last)
      end = add(loc, end, multiply(loc, Index(last), view.strides[m]));
  Index size = multiply(loc, view.sizes.front(), view.strides.front());
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                            materialize(loc, end), materialize(loc, size));
  return all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
}

Value ThreadCode::validOfRun(Location loc, Access &access, int64_t reg,
                             int64_t length) {
  std::vector<int64_t> coordinates = access.layout->registerOffset(reg);
  Value valid = constant(loc, length);
  if (access.checked[access.runDim]) {
    int64_t dim = access.runDim, m = memoryDim(access.map, dim);
    Value first = materialize(
        loc, add(loc, access.start[dim], Index(coordinates[dim])));
    valid = arith::SubIOp::create(b, loc, materialize(loc, access.view.sizes[m]),
                                  first);
    // Of wide indices too, the count has 32 bits.
    valid = arith::MaxSIOp::create(b, loc, constant(loc, 0), valid);
    valid = arith::MinSIOp::create(b, loc, constant(loc, length), valid);
  }
  // The rows that are outside have none.
  bool alongRun = access.checked[access.runDim];
  access.checked[access.runDim] = false;
  Value rows = groupPredicate(loc, access, reg);
  access.checked[access.runDim] = alongRun;
  return rows ? arith::SelectOp::create(b, loc, rows, valid, constant(loc, 0))
                    .getResult()
              : valid;
}

static Value prefixMask(OpBuilder &b, Location loc, Value valid, int64_t length) {
  auto type = VectorType::get({length}, b.getI1Type());
  return vector::CreateMaskOp::create(b, loc, type, valid);
}

/// The 32-bit words of a vector.
static SmallVector<Value> wordsOf(OpBuilder &b, Location loc, Value vector, int64_t count) {
  Value all = vector::BitCastOp::create(b, loc, VectorType::get({count}, b.getI32Type()), vector);
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(vector::ExtractOp::create(b, loc, all, i));
  return result;
}

/// The aligned words around each run, and behind those of all runs, where they are shifted,
/// by how many elements.
SmallVector<Value> ThreadCode::readWords(Location loc, Access &access,
                                         const UnalignedRuns &unaligned) {
  const MemView &view = access.view;
  int64_t perWord = unaligned.perWord, extra = unaligned.shifted ? 1 : 0;
  int64_t words = unaligned.runs.length / perWord + extra;
  auto word = VectorType::get({perWord}, view.element);
  SmallVector<Value> result, phases;
  for (const std::vector<int64_t> &group : unaligned.runs.groups) {
    Value start = materialize(loc, groupOffset(loc, access, group[0]));
    if (extra) {
      phases.push_back(arith::AndIOp::create(b, loc, start, constant(loc, perWord - 1)));
      start = arith::SubIOp::create(b, loc, start, phases.back(),
                                    arith::IntegerOverflowFlags::nsw);
    }
    for (int64_t i = 0; i < words; ++i) {
      Value place = start;
      if (i)
        place = arith::AddIOp::create(b, loc, start, constant(loc, i * perWord),
                                      arith::IntegerOverflowFlags::nsw);
      Value loaded = vector::LoadOp::create(b, loc, word, view.base, place,
                                            /*nontemporal=*/false, llvm::MaybeAlign(4));
      llvm::append_range(result, wordsOf(b, loc, loaded, 1));
    }
  }
  llvm::append_range(result, phases);
  return result;
}

/// The same where some elements are outside, which are zeros: no run has to be shifted.
SmallVector<Value> ThreadCode::readMasked(Location loc, Access &access,
                                          const UnalignedRuns &unaligned, Value zeros,
                                          Value none) {
  int64_t length = unaligned.runs.length;
  auto run = cast<VectorType>(zeros.getType());
  SmallVector<Value> result, phases;
  for (const std::vector<int64_t> &group : unaligned.runs.groups) {
    Value from = materialize(loc, groupOffset(loc, access, group[0]));
    Value valid = validOfRun(loc, access, group[0], length);
    Value loaded = vector::MaskedLoadOp::create(
        b, loc, run, access.view.base, from, prefixMask(b, loc, valid, length), zeros);
    llvm::append_range(result, wordsOf(b, loc, loaded, length / unaligned.perWord));
    if (unaligned.shifted) {
      result.push_back(none);
      phases.push_back(constant(loc, 0));
    }
  }
  llvm::append_range(result, phases);
  return result;
}

Registers ThreadCode::readUnaligned(Location loc, Access &access,
                                    const UnalignedRuns &unaligned) {
  const layout::RegisterRuns &runs = unaligned.runs;
  int64_t length = runs.length, perWord = unaligned.perWord;
  int64_t words = length / perWord, extra = unaligned.shifted ? 1 : 0;
  Type i32 = b.getI32Type();
  auto run = VectorType::get({length}, access.view.element);
  Value zeros = arith::ConstantOp::create(b, loc, run, b.getZeroAttr(run));
  Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));

  SmallVector<Type> types(runs.groups.size() * (words + extra), i32);
  if (extra)
    types.append(runs.groups.size(), b.getIndexType());
  auto branch = scf::IfOp::create(b, loc, types, wordsInside(loc, access, unaligned),
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    access.compared.clear();
    scf::YieldOp::create(b, loc,
                         block == branch.thenBlock()
                             ? readWords(loc, access, unaligned)
                             : readMasked(loc, access, unaligned, zeros, none));
  }
  access.compared.clear();

  Registers result(access.layout->numRegisters());
  ValueRange read = branch.getResults();
  for (auto [number, group] : llvm::enumerate(runs.groups)) {
    SmallVector<Value> held(read.slice(number * (words + extra), words + extra));
    if (extra) {
      Value phase = read[runs.groups.size() * (words + extra) + number];
      held = shiftWords(loc, held, phase, 32 / perWord);
    }
    Value packed = vector::FromElementsOp::create(
        b, loc, VectorType::get({words}, i32), held);
    Value elements = vector::BitCastOp::create(b, loc, run, packed);
    for (auto [i, reg] : llvm::enumerate(group))
      result[reg] = vector::ExtractOp::create(b, loc, elements, i);
  }
  return result;
}

SmallVector<Value> ThreadCode::shiftWords(Location loc, ArrayRef<Value> words,
                                          Value phase, int64_t bits) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value by = arith::MulIOp::create(b, loc, phase, constant(loc, bits));
  by = arith::IndexCastUIOp::create(b, loc, i64, by);
  Value half = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  SmallVector<Value> result;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    Value low = arith::ExtUIOp::create(b, loc, i64, words[i]),
          high = arith::ExtUIOp::create(b, loc, i64, words[i + 1]);
    high = arith::ShLIOp::create(b, loc, high, half);
    Value both = arith::OrIOp::create(b, loc, high, low);
    both = arith::ShRUIOp::create(b, loc, both, by);
    result.push_back(arith::TruncIOp::create(b, loc, i32, both));
  }
  return result;
}

void ThreadCode::writeUnaligned(Location loc, Access &access,
                                const UnalignedRuns &unaligned, Value owner,
                                ArrayRef<Value> values) {
  int64_t length = unaligned.runs.length;
  auto run = VectorType::get({length}, access.view.element);
  for (const std::vector<int64_t> &group : unaligned.runs.groups) {
    Value valid = validOfRun(loc, access, group[0], length);
    if (owner)
      valid = arith::SelectOp::create(b, loc, owner, valid, constant(loc, 0));
    SmallVector<Value> stored;
    for (int64_t reg : group)
      stored.push_back(values[reg]);
    Value vector = vector::FromElementsOp::create(b, loc, run, stored);
    Value to = materialize(loc, groupOffset(loc, access, group[0]));
    vector::MaskedStoreOp::create(b, loc, access.view.base, to,
                                  prefixMask(b, loc, valid, length), vector);
  }
}
