// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-lower-tiles: products of packed panels in tile registers (AMX).
//
//   %r = scf.for %t … iter_args(%c = %init) -> vector<32x32xf32> {
//     %a = memref.subview %ap[%t] …, %b = memref.subview %bp[%j, %t] …
//     %n = tilewright.mma %a, %b, %c {instruction = "amx.m16n16k32.bf16.f32"}
//     scf.yield %n }
// becomes a loop that carries the accumulator's four tiles of 16 rows by 16 columns:
//   %r:4 = scf.for %t … iter_args(%c0 = %init0, …) -> x86_amx, … {
//     %a0, %a1, %b0, %b1 = tileloadd64 …
//     %n0 = tdpbf16ps %c0, %a0, %b0 … }
//
// Tiles begin as zeros, or are loaded where the accumulator was read: of `sums` between
// chunks. They end in memory where the accumulator was written, or, for other users and
// where it hangs over the edge, in memory of the kernel's own, from which it is read as a
// vector.

#include "Instructions.h"

#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {
#define GEN_PASS_DEF_LOWERTILESPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {
/// Rows, and 32-bit columns, of a tile register.
constexpr int64_t kSide = 16, kColumnBytes = 4;

class TileLoop {
public:
  TileLoop(MmaOp op, const MatrixInstruction &instruction)
      : op(op), b(op), loc(op.getLoc()), instruction(instruction),
        type(cast<VectorType>(op.getAcc().getType())),
        tileType(LLVM::LLVMX86AMXType::get(op.getContext())) {
    std::tie(rows, columns) = getPanels(op);
  }
  LogicalResult run();

private:
  struct Tile {
    int64_t row, column, height;
  };
  SmallVector<Tile> getTiles() const;
  Value i16(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(value));
  }
  Value i64(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value intrinsic(StringRef name, TypeRange results, ValueRange operands) {
    auto call = LLVM::CallIntrinsicOp::create(
        b, loc, results.empty() ? Type() : results.front(), b.getStringAttr(name),
        operands);
    return results.empty() ? Value() : call.getResult(0);
  }
  std::pair<Value, Value> getPlace(Value memory, ValueRange indices, int64_t row,
                                   int64_t column);
  Value load(int64_t height, int64_t bytes, std::pair<Value, Value> place) {
    return intrinsic("llvm.x86.tileloadd64.internal", tileType,
                     {i16(height), i16(bytes), place.first, place.second});
  }
  SmallVector<Value> loadAll(Value memory, ValueRange indices);
  void storeAll(ValueRange tiles, Value memory, ValueRange indices);
  SmallVector<Value> begin(Value init);
  Value getScratch();
  SmallVector<Value> getStart();
  void end(Value result, ValueRange tiles);
  Value multiply(Value acc, Value row, Value column, const Tile &tile);

  MmaOp op;
  OpBuilder b;
  Location loc;
  const MatrixInstruction &instruction;
  VectorType type;
  Type tileType;
  PanelOperand rows, columns;
  Value scratch;
};
} // namespace

SmallVector<TileLoop::Tile> TileLoop::getTiles() const {
  SmallVector<Tile> tiles;
  for (int64_t row = 0; row < type.getDimSize(0); row += kSide)
    for (int64_t column = 0; column < type.getDimSize(1); column += kSide)
      tiles.push_back({row, column, std::min(kSide, type.getDimSize(0) - row)});
  return tiles;
}

/// The address `row` and `column` after `indices`, in the memory's two last dims, and the
/// bytes between rows.
std::pair<Value, Value> TileLoop::getPlace(Value memory, ValueRange indices,
                                           int64_t row, int64_t column) {
  auto memoryType = cast<MemRefType>(memory.getType());
  int64_t rank = memoryType.getRank();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto product = [&](Value a, Value c) -> Value {
    return arith::MulIOp::create(b, loc, a, c);
  };
  auto sum = [&](Value a, Value c) -> Value {
    return arith::AddIOp::create(b, loc, a, c);
  };
  Value offset = metadata.getOffset();
  auto strides = metadata.getStrides();
  for (auto [dim, place] : llvm::enumerate(indices))
    offset = sum(offset, product(place, strides[dim]));
  offset = sum(offset, product(index(row), strides[rank - 2]));
  offset = sum(offset, product(index(column), strides[rank - 1]));
  Value bytes = index(memoryType.getElementTypeBitWidth() / 8);
  Value address = sum(base, product(offset, bytes));
  address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
  Value stride = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                            product(strides[rank - 2], bytes));
  return {pointer, stride};
}

SmallVector<Value> TileLoop::loadAll(Value memory, ValueRange indices) {
  SmallVector<Value> tiles;
  for (const Tile &tile : getTiles())
    tiles.push_back(load(tile.height, kSide * kColumnBytes,
                         getPlace(memory, indices, tile.row, tile.column)));
  return tiles;
}

void TileLoop::storeAll(ValueRange tiles, Value memory, ValueRange indices) {
  for (auto [tile, value] : llvm::zip_equal(getTiles(), tiles)) {
    auto [address, stride] = getPlace(memory, indices, tile.row, tile.column);
    intrinsic("llvm.x86.tilestored64.internal", {},
              {i16(tile.height), i16(kSide * kColumnBytes), address, stride, value});
  }
}

/// Memory for one accumulator.
Value TileLoop::getScratch() {
  if (scratch)
    return scratch;
  OpBuilder top = OpBuilder::atBlockBegin(
      &op->getParentOfType<func::FuncOp>().getBody().front());
  scratch = memref::AllocaOp::create(
      top, loc, MemRefType::get(type.getShape(), type.getElementType()),
      top.getI64IntegerAttr(64));
  return scratch;
}

SmallVector<Value> TileLoop::getStart() {
  return SmallVector<Value>(2, arith::ConstantIndexOp::create(b, loc, 0));
}

/// Whether a transfer moves rows that are contiguous in memory.
template <typename Op> static bool movesRows(Op transfer) {
  auto memory = dyn_cast<MemRefType>(transfer.getBase().getType());
  return memory && !transfer.getMask() && transfer.getPermutationMap().isMinorIdentity() &&
         memory.isLastDimUnitStride();
}

/// Whether it moves all of the vector.
template <typename Op> static bool isWhole(Op transfer) {
  return movesRows(transfer) &&
         llvm::all_of(transfer.getInBoundsValues(), [](bool in) { return in; });
}

/// Whether all that is written lies inside of the memory.
static Value isInside(OpBuilder &b, Location loc, vector::TransferWriteOp write) {
  Value inside;
  unsigned first = write.getIndices().size() - write.getVectorType().getRank();
  for (auto [dim, size] : llvm::enumerate(write.getVectorType().getShape())) {
    if (write.isDimInBounds(dim))
      continue;
    Value last = arith::AddIOp::create(b, loc, write.getIndices()[first + dim],
                                       arith::ConstantIndexOp::create(b, loc, size));
    Value fits = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::sle, last,
        memref::DimOp::create(b, loc, write.getBase(), first + dim));
    inside = inside ? arith::AndIOp::create(b, loc, inside, fits).getResult() : fits;
  }
  return inside;
}

/// The tiles of `init`.
SmallVector<Value> TileLoop::begin(Value init) {
  OpBuilder::InsertionGuard guard(b);
  if (matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat())) {
    SmallVector<Value> tiles;
    for (const Tile &tile : getTiles())
      tiles.push_back(intrinsic("llvm.x86.tilezero.internal", tileType,
                                {i16(tile.height), i16(kSide * kColumnBytes)}));
    return tiles;
  }
  if (auto read = init.getDefiningOp<vector::TransferReadOp>(); read && isWhole(read)) {
    b.setInsertionPoint(read);
    return loadAll(read.getBase(), read.getIndices());
  }
  if (auto branch = init.getDefiningOp<scf::IfOp>();
      branch && branch.getNumResults() == 1) {
    b.setInsertionPoint(branch);
    SmallVector<Type> types(getTiles().size(), tileType);
    auto carrying = scf::IfOp::create(b, loc, types, branch.getCondition(),
                                      /*withElseRegion=*/true);
    for (auto [from, to] :
         {std::pair(branch.thenBlock(), carrying.thenBlock()),
          std::pair(branch.elseBlock(), carrying.elseBlock())}) {
      to->getOperations().splice(to->end(), from->getOperations());
      auto yield = cast<scf::YieldOp>(to->getTerminator());
      b.setInsertionPoint(yield);
      SmallVector<Value> tiles = begin(yield.getOperand(0));
      b.setInsertionPoint(yield);
      scf::YieldOp::create(b, loc, tiles);
      yield.erase();
    }
    // The vector that the branch yielded had no other user.
    branch->dropAllReferences();
    init.dropAllUses();
    branch.erase();
    return carrying.getResults();
  }
  SmallVector<Value> start = getStart();
  vector::TransferWriteOp::create(b, loc, init, getScratch(), start,
                                  ArrayRef<bool>(SmallVector<bool>(2, true)));
  return loadAll(getScratch(), start);
}

/// Gives the users of the accumulator `result` what the tiles hold.
void TileLoop::end(Value result, ValueRange tiles) {
  llvm::MapVector<Block *, Operation *> first;
  for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
    if (auto write = dyn_cast<vector::TransferWriteOp>(user);
        write && write.getVector() == result && isWhole(write)) {
      b.setInsertionPoint(write);
      storeAll(tiles, write.getBase(), write.getIndices());
      write.erase();
      continue;
    }
    if (auto write = dyn_cast<vector::TransferWriteOp>(user);
        write && write.getVector() == result && movesRows(write)) {
      b.setInsertionPoint(write);
      auto branch = scf::IfOp::create(b, loc, isInside(b, loc, write),
                                      /*withElseRegion=*/true);
      write->moveBefore(branch.elseBlock()->getTerminator());
      b.setInsertionPointToStart(branch.thenBlock());
      storeAll(tiles, write.getBase(), write.getIndices());
    }
    Operation *&place = first[user->getBlock()];
    if (!place || user->isBeforeInBlock(place))
      place = user;
  }
  for (auto [block, user] : first) {
    b.setInsertionPoint(user);
    SmallVector<Value> start = getStart();
    storeAll(tiles, getScratch(), start);
    Value padding = arith::ConstantOp::create(
        b, loc, b.getZeroAttr(type.getElementType()));
    SmallVector<bool> inBounds(2, true);
    Value read = vector::TransferReadOp::create(
        b, loc, type, getScratch(), start, padding,
        std::optional<ArrayRef<bool>>(inBounds));
    result.replaceUsesWithIf(read, [&, block = block](OpOperand &use) {
      return use.getOwner()->getBlock() == block;
    });
  }
}

Value TileLoop::multiply(Value acc, Value row, Value column, const Tile &tile) {
  std::string name = "llvm.x86.tdpb";
  if (isa<FloatType>(instruction.accumulator))
    name += "f16ps";
  else
    name += std::string(rows.isUnsigned ? "u" : "s") + (columns.isUnsigned ? "u" : "s") + "d";
  int64_t bytes = rows.sum * instruction.operandBits() / 8;
  return intrinsic(name + ".internal", tileType,
                   {i16(tile.height), i16(kSide * kColumnBytes), i16(bytes), acc, row,
                    column});
}

LogicalResult TileLoop::run() {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  int64_t words = rows.sum / instruction.perWord();
  if (!loop || loop.getNumResults() != 1 || op.getAcc() != loop.getRegionIterArg(0) ||
      loop.getBody()->getTerminator()->getOperand(0) != op.getResult() ||
      !op.getAcc().hasOneUse() || !op->hasOneUse())
    return op.emitOpError("is not all that its loop does with the accumulator, which "
                          "tile registers cannot leave");
  if (type.getRank() != 2 || type.getDimSize(1) % kSide || words > kSide ||
      rows.getType().getRank() != 2 || columns.getType().getRank() != 3)
    return op.emitOpError() << "is no product of tiles by '" << *op.getInstruction()
                            << "'";

  b.setInsertionPoint(loop);
  SmallVector<Value> inits = begin(loop.getInitArgs()[0]);
  b.setInsertionPoint(loop);
  auto tiled = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(),
                                  loop.getStep(), inits);
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), tiled.getInductionVar());
  b.setInsertionPointToStart(tiled.getBody());
  for (Operation &other : loop.getBody()->without_terminator())
    if (&other != op.getOperation())
      b.clone(other, mapping);
  rows.memory = mapping.lookupOrDefault(rows.memory);
  columns.memory = mapping.lookupOrDefault(columns.memory);

  // One word of each column lies in a row of four bytes.
  Value columnWords = columns.memory;
  auto flat = memref::CollapseShapeOp::create(
      b, loc, columnWords, SmallVector<ReassociationIndices>{{0}, {1, 2}});
  int64_t rowBytes = rows.sum * instruction.operandBits() / 8;
  SmallVector<Value> columnTiles;
  for (int64_t column = 0; column < type.getDimSize(1); column += kSide)
    columnTiles.push_back(load(words, kSide * kColumnBytes,
                               getPlace(flat, {}, 0, column * instruction.perWord())));
  SmallVector<Value> results;
  Value rowTile;
  for (auto [number, tile] : llvm::enumerate(getTiles())) {
    if (tile.column == 0)
      rowTile = load(tile.height, rowBytes, getPlace(rows.memory, {}, tile.row, 0));
    results.push_back(multiply(tiled.getRegionIterArg(number), rowTile,
                               columnTiles[tile.column / kSide], tile));
  }
  scf::YieldOp::create(b, loc, results);
  end(loop.getResult(0), tiled.getResults());
  loop.erase();
  return success();
}

namespace {
struct LowerTilesPass : tilewright::impl::LowerTilesPassBase<LowerTilesPass> {
  void runOnOperation() override {
    SmallVector<std::pair<MmaOp, MatrixInstruction>> products;
    getOperation().walk([&](MmaOp op) {
      if (StringAttr name = op.getInstructionAttr())
        if (auto instruction = MatrixInstruction::parse(op.getContext(), name);
            instruction && instruction->tiles)
          products.push_back({op, *instruction});
    });
    for (auto &[op, instruction] : products)
      if (failed(TileLoop(op, instruction).run()))
        return signalPassFailure();
  }
};
} // namespace
