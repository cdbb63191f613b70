// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step 1 of tilewright-unroll-vectors: what a block does as a whole.
// tilewright.mma becomes one fused multiply-add per row of the accumulator and
// step of the sum, of a row with a broadcast scalar; tile_id the block number cut
// into digits; shared memory the stack.

#include "Instructions.h"
#include "Unroll.h"

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/Utils/VectorUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// A vector out of shared memory, if it is there.
static Value readOperand(OpBuilder &builder, Location loc, Value operand) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type)
    return operand;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> indices(type.getRank(), zero);
  Value padding = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferReadOp::create(
      builder, loc, VectorType::get(type.getShape(), type.getElementType()),
      operand, indices, padding, std::optional<ArrayRef<bool>>(inBounds));
}

/// `value` with elements of type `element`, which is not narrower.
static Value extend(OpBuilder &builder, Location loc, Value value, Type element,
                    bool isSigned) {
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  auto wide = VectorType::get(type.getShape(), element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(builder, loc, wide, value);
  if (isSigned)
    return arith::ExtSIOp::create(builder, loc, wide, value);
  return arith::ExtUIOp::create(builder, loc, wide, value);
}

/// An operand of the product, transposed so that loop `row` (if it has it) is
/// its last dim, and the loops of its dims.
namespace {
struct Operand {
  Value vector;
  SmallVector<int64_t> loops;
  bool hasRow = false;

  /// The row, or the scalar as a row, at these loop coordinates.
  Value at(OpBuilder &builder, Location loc, ArrayRef<int64_t> coordinates,
           VectorType rowType) const {
    SmallVector<int64_t> position;
    for (int64_t loop : ArrayRef(loops).drop_back(hasRow))
      position.push_back(coordinates[loop]);
    Value part =
        position.empty()
            ? vector
            : vector::ExtractOp::create(builder, loc, vector, position);
    if (hasRow)
      return part;
    return vector::BroadcastOp::create(builder, loc, rowType, part);
  }
};
} // namespace

static Operand makeOperand(OpBuilder &builder, Location loc, Value vector,
                           AffineMap map, int64_t row) {
  Operand operand;
  SmallVector<int64_t> permutation;
  int64_t rowDim = -1;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    int64_t loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop == row) {
      rowDim = dim;
      continue;
    }
    permutation.push_back(dim);
    operand.loops.push_back(loop);
  }
  if (rowDim >= 0) {
    permutation.push_back(rowDim);
    operand.loops.push_back(row);
    operand.hasRow = true;
  }
  operand.vector = vector;
  if (!llvm::is_sorted(permutation))
    operand.vector =
        vector::TransposeOp::create(builder, loc, vector, permutation);
  return operand;
}

/// The next coordinates, last loop fastest; false after the last ones.
static bool advance(MutableArrayRef<int64_t> coordinates,
                    ArrayRef<int64_t> extents) {
  for (int64_t i = coordinates.size() - 1; i >= 0; --i) {
    if (++coordinates[i] < extents[i])
      return true;
    coordinates[i] = 0;
  }
  return false;
}

/// One fused multiply-add per row of the accumulator and step of the sum. The
/// last dim of the accumulator is the row.
static LogicalResult lowerMma(MmaOp op) {
  if (StringAttr name = op.getInstructionAttr())
    if (auto instruction = MatrixInstruction::parse(op.getContext(), name);
        instruction && instruction->panels)
      return lowerDotProducts(op, *instruction);
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getAcc().getType());
  Type element = type.getElementType();
  if (type.getRank() == 0)
    return op.emitOpError("of rank 0 cannot be computed on the CPU");
  auto maps = llvm::to_vector(op.getMaps().getAsValueRange<AffineMapAttr>());
  int64_t row = cast<AffineDimExpr>(maps[2].getResults().back()).getPosition();
  auto rowType = VectorType::get({type.getShape().back()}, element);

  SmallVector<int64_t> extents(maps[0].getNumDims(), 1);
  Operand operands[2];
  Value values[] = {op.getA(), op.getB()};
  for (auto [number, value] : llvm::enumerate(values)) {
    Value vector = readOperand(builder, loc, value);
    Type from = cast<VectorType>(vector.getType()).getElementType();
    if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth() ||
        isa<FloatType>(from) != isa<FloatType>(element))
      return op.emitOpError() << "cannot multiply " << from << " into "
                              << element << " on the CPU";
    bool isSigned = true;
    if (auto signedness = op.getSignednessAttr())
      if (number < signedness.size())
        isSigned = cast<StringAttr>(signedness[number]).getValue() != "unsigned";
    vector = extend(builder, loc, vector, element, isSigned);
    for (auto [size, expr] :
         llvm::zip_equal(cast<VectorType>(vector.getType()).getShape(),
                         maps[number].getResults()))
      extents[cast<AffineDimExpr>(expr).getPosition()] = size;
    operands[number] = makeOperand(builder, loc, vector, maps[number], row);
  }
  for (auto [size, expr] :
       llvm::zip_equal(type.getShape(), maps[2].getResults()))
    extents[cast<AffineDimExpr>(expr).getPosition()] = size;

  // Rows of the accumulator by their number in row-major order.
  SmallVector<Value> rows = getRows(builder, loc, op.getAcc());
  extents[row] = 1;
  SmallVector<int64_t> coordinates(extents.size(), 0);
  do {
    int64_t number = 0;
    for (AffineExpr expr : maps[2].getResults().drop_back()) {
      int64_t loop = cast<AffineDimExpr>(expr).getPosition();
      number = number * extents[loop] + coordinates[loop];
    }
    Value a = operands[0].at(builder, loc, coordinates, rowType);
    Value b = operands[1].at(builder, loc, coordinates, rowType);
    Value &sum = rows[number];
    if (isa<FloatType>(element))
      sum = math::FmaOp::create(builder, loc, a, b, sum);
    else
      sum = arith::AddIOp::create(builder, loc, sum,
                                  arith::MulIOp::create(builder, loc, a, b));
  } while (advance(coordinates, extents));
  op.replaceAllUsesWith(fromRows(builder, loc, type, rows));
  op.erase();
  return success();
}

static void lowerTileId(TileIdOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value linear = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  SmallVector<int64_t> order;
  if (op.getOrder())
    llvm::append_range(order, *op.getOrder());
  else
    for (int64_t i = op.getCounts().size() - 1; i >= 0; --i)
      order.push_back(i);
  for (auto [position, loop] : llvm::enumerate(order)) {
    Value id = linear;
    if (position + 1 < order.size()) {
      Value count = op.getCounts()[loop];
      id = arith::RemUIOp::create(builder, loc, linear, count);
      linear = arith::DivUIOp::create(builder, loc, linear, count);
    }
    op.getIds()[loop].replaceAllUsesWith(id);
  }
  op.erase();
}

/// Shared memory of one block is memory of one call.
static LogicalResult lowerAlloc(memref::AllocOp op) {
  // A thread's stack has a few MiB, of which kernels may count on this much.
  constexpr int64_t kMostBytes = 1024 * 1024;
  MemRefType type = op.getType();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat() ||
      type.getNumElements() * type.getElementTypeBitWidth() / 8 > kMostBytes)
    return op.emitOpError() << "of " << type
                            << " does not fit on a CPU thread's stack ("
                            << kMostBytes << " bytes)";
  OpBuilder builder = OpBuilder::atBlockBegin(
      &op->getParentOfType<func::FuncOp>().getBody().front());
  auto local = MemRefType::get(type.getShape(), type.getElementType(),
                               type.getLayout());
  Value memory = memref::AllocaOp::create(builder, op.getLoc(), local,
                                          builder.getI64IntegerAttr(64));
  op.replaceAllUsesWith(memory);
  op.erase();
  return success();
}

LogicalResult cpu::lowerBlockOps(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) {
    LogicalResult lowered =
        TypeSwitch<Operation *, LogicalResult>(op)
            .Case([](MmaOp mma) { return lowerMma(mma); })
            .Case([](memref::AllocOp alloc) { return lowerAlloc(alloc); })
            .Case([](TileIdOp tileId) {
              lowerTileId(tileId);
              return success();
            })
            .Case([](gpu::BarrierOp barrier) {
              barrier.erase();
              return success();
            })
            .Default([](Operation *) { return success(); });
    return failed(lowered) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
