// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warpgroup computes its operand from. Of it, one tensor has a tile of the operand's
// rows and sums: that is in the ring, as it lies in memory. What each step has anew beside
// it (scales and zero points of groups along the sum) is in the ring, too; what is the same
// in all steps the consumers read for themselves:
//
//   %w = vector.transfer_read %weights[%g, %k, %j]        -> main
//   %s = vector.transfer_read %scales[%g, %j]             -> beside
//   %a = arith.mulf (arith.sitofp %w), %s
//   tilewright.mma %a, %x, %acc

#include "ComputedOperand.h"

#include "core/tensor_map_limits.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

/// What `operand` read of memory, read of `tile` of a stage.
Value tilewright::readTile(OpBuilder &b, const RingOperand &operand, Value tile) {
  vector::TransferReadOp read = operand.read;
  Location loc = read.getLoc();
  VectorType type = read.getVectorType();
  SmallVector<int64_t> shape;
  for (auto [number, expr] : llvm::enumerate(operand.load.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    shape.push_back(dim ? operand.tile.getDimSize(dim.getPosition())
                        : type.getDimSize(number));
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> zeros(operand.tile.getRank(), zero);
  SmallVector<bool> inBounds(shape.size(), true);
  Value lies = vector::TransferReadOp::create(
      b, loc, VectorType::get(shape, type.getElementType()), tile, zeros,
      read.getPadding(), operand.load, ArrayRef<bool>(inBounds));
  // Boxes are one dim.
  return lies.getType() == type
             ? lies
             : vector::ShapeCastOp::create(b, loc, type, lies).getResult();
}

/// Where A's rows are neighbours in memory, a thread takes as many of them side by side
/// as it has, if it reads them at once then.
static int64_t findRowsTogether(MmaOp product, vector::TransferReadOp read,
                                LoweringConfigAttr config) {
  constexpr int64_t kInstructionRows = 64, kMostBytes = 16;
  AffineMap a = cast<AffineMapAttr>(product.getMaps()[0]).getValue(),
            acc = cast<AffineMapAttr>(product.getMaps()[2]).getValue();
  unsigned rows = acc.isFunctionOfDim(a.getDimPosition(0)) ? 0 : 1;
  auto memory = cast<MemRefType>(read.getBase().getType());
  if (int64_t(read.getPermutationMap().getDimPosition(rows)) != memory.getRank() - 1)
    return 1;
  int64_t all = cast<VectorType>(product.getA().getType()).getDimSize(rows);
  int64_t groups = llvm::product_of(config.getWarps()) / 4;
  int64_t own = 2 * all / (kInstructionRows * groups);
  int64_t bytes = read.getVectorType().getDimSize(rows) *
                  read.getVectorType().getElementTypeBitWidth() / 8;
  bool wide = llvm::isPowerOf2_64(own) && own * bytes / all <= kMostBytes;
  return wide ? own : 2;
}

/// What the steps have each for itself goes through the ring, too, where a tensor map
/// names it: whole rows of 128 bytes out of dense tensors. Else a thread waits for memory
/// in each step.
static SmallVector<RingOperand> findBeside(func::FuncOp kernel, scf::ForOp loop,
                                          ArrayRef<vector::TransferReadOp> reads) {
  constexpr int64_t kTileBytes = 128;
  SmallVector<RingOperand> operands;
  for (vector::TransferReadOp read : reads) {
    auto argument = dyn_cast<BlockArgument>(read.getBase());
    bool isOfStep = loop && llvm::any_of(read.getIndices(), [&](Value index) {
      return index == loop.getInductionVar() ||
             (index.getDefiningOp() && index.getDefiningOp()->getParentOp() == loop);
    });
    if (!argument || !isOfStep || read.getMask() || getPadding(argument) ||
        getIndexBits(kernel) > 32)
      continue;
    auto memory = cast<MemRefType>(argument.getType());
    int64_t rank = memory.getRank(), bytes = memory.getElementTypeBitWidth() / 8;
    int64_t row = rank ? memory.getShape().back() : 0;
    if (ShapedType::isDynamic(row))
      row = promisedDivisor(kernel, operandNumber(argument), rank - 1);
    if (rank < 2 || rank > int64_t(tensor_map::kMaxDims) || !memory.getLayout().isIdentity() ||
        !bytes || !tensor_map::isAligned(row * bytes))
      continue;
    // The dims that the vector has, in memory's order.
    AffineMap dims = read.getPermutationMap();
    SmallVector<int64_t> shape, found;
    SmallVector<AffineExpr> copy(rank, getAffineConstantExpr(0, kernel.getContext())),
        load(dims.getResults());
    for (int64_t dim = 0; dim < rank; ++dim)
      if (auto at = dims.getResultPosition(getAffineDimExpr(dim, kernel.getContext()))) {
        AffineExpr own = getAffineDimExpr(found.size(), kernel.getContext());
        shape.push_back(read.getVectorType().getDimSize(*at));
        found.push_back(dim);
        copy[dim] = load[*at] = own;
      }
    if (found.empty() || found.back() != rank - 1 ||
        llvm::product_of(shape) * bytes % kTileBytes ||
        llvm::any_of(shape, [](int64_t size) { return !tensor_map::isBoxExtent(size); }))
      continue;
    MLIRContext *context = kernel.getContext();
    RingOperand operand;
    operand.read = read;
    operand.tile = MemRefType::get(shape, memory.getElementType(),
                                  MemRefLayoutAttrInterface(), SharedAttr::get(context, {}));
    operand.copy = AffineMap::get(shape.size(), 0, copy, context);
    operand.load = AffineMap::get(shape.size(), 0, load, context);
    operands.push_back(operand);
  }
  return operands;
}

static void explain(func::FuncOp kernel, const ComputedOperand &operand,
                    ArrayRef<vector::TransferReadOp> others) {
  std::string text = operand.ops.size() == 1
                         ? "operand A of the product is read into registers, from a tile "
                           "of the ring"
                         : "operand A of the product is computed in registers, from a tile "
                           "of the ring";
  if (operand.rowsTogether > 1)
    text += "; its rows are neighbours in memory, " + std::to_string(operand.rowsTogether) +
            " of which a thread reads at once";
  addExplanation(kernel, text);
  if (others.empty())
    return;
  size_t beside = operand.beside.size();
  addExplanation(
      kernel, Twine(beside) + " of " + Twine(others.size()) +
                  " tensors beside it go through the ring, too" +
                  (beside == others.size()
                       ? ""
                       : ": those of which each step has rows of its own, of whole 128 "
                         "bytes; the others are read by the threads that multiply"));
}

FailureOr<ComputedOperand>
tilewright::findComputedOperand(func::FuncOp kernel, MmaOp product, scf::ForOp loop,
                                LoweringConfigAttr config) {
  ComputedOperand result;
  SetVector<Operation *> found;
  Block *block = product->getBlock();
  SmallVector<Value> work{product.getA()};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    bool isVector = op && llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
    if (op && op->getBlock() == block && (loop || isVector) && found.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  vector::TransferReadOp main;
  SmallVector<vector::TransferReadOp> others;
  for (Operation &op : *block) {
    if (!found.contains(&op))
      continue;
    result.ops.insert(&op);
    auto read = dyn_cast<vector::TransferReadOp>(op);
    if (read && (read.hasBroadcastDim() || read.getVectorType().getRank() != 2))
      others.push_back(read);
    if (!read || read.hasBroadcastDim() || read.getVectorType().getRank() != 2)
      continue;
    if (main)
      return product.emitOpError()
             << "has an operand in registers that two tensors of its shape make; the ring "
                "has a tile of one";
    main = read;
  }
  if (!main)
    return product.emitOpError() << "has an operand in registers that no tile makes";
  FailureOr<RingOperand> operand = ringOperandOf(product, 0, main);
  if (failed(operand))
    return failure();
  result.main = *operand;
  result.rowsTogether = findRowsTogether(product, main, config);
  result.beside = findBeside(kernel, loop, others);
  explain(kernel, result, others);
  return result;
}
