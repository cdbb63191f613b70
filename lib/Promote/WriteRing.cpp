// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %sum = scf.for %k = 0 to %K step 64 iter_args(%acc = %init) {
//     %va = vector.transfer_read %A[%i, %k] …
//     %vb = vector.transfer_read %B[%k, %j] …
//     %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.…"}
//     scf.yield %n
//   }
//   … epilogue …
// becomes
//   %ring = tilewright.ring : !tilewright.ring<4, tile of A, tile of B>
//   tilewright.warps [8, 4] {                   // a producer warpgroup
//     tilewright.set_registers 40
//     tilewright.warps [8, 1] {
//       scf.for %p … { acquire; tile_copy of A, of B; fill }
//     }
//   }
//   tilewright.warps [0, 8] {                   // consumer warpgroups
//     tilewright.set_registers 232
//     %sum = scf.for %p … { wait; mma on the stage; mma_wait 1; release %p - 1
//     } %done = tilewright.mma_wait 0 (%sum) … epilogue …
//   }
//
// A step's products are under way while the next step's are waited for, so a
// stage is released one step late.

#include "WriteRing.h"

#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Layout/Atoms.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// One factor: where its tiles come from, and how they lie in a stage.
struct Factor {
  vector::TransferReadOp read;
  MemRefType tile;
  /// From the dims of the tile to those of the memory it is copied from.
  AffineMap copy;
  /// From the product's loops to the dims of the tile.
  AffineMap map;
};

class RingWriter {
public:
  RingWriter(func::FuncOp kernel, MmaOp product, LoweringConfigAttr config)
      : kernel(kernel), product(product), config(config),
        loc(product.getLoc()) {}
  LogicalResult write();

private:
  FailureOr<Factor> factorOf(unsigned operand);
  /// The ops outside of the roles: what the producer's addresses come from.
  LogicalResult findShared(llvm::SetVector<Operation *> &shared);
  WarpsOp addRole(OpBuilder &b, int64_t first, int64_t count, unsigned role);
  void writeProducer(OpBuilder &b, Value ring, Value steps);
  void writeConsumers(OpBuilder &b, Value ring, Value steps);
  void release(OpBuilder &b, Value ring, Value position);
  Value constant(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  func::FuncOp kernel;
  MmaOp product;
  LoweringConfigAttr config;
  Location loc;
  scf::ForOp loop; // null where one step is all
  SmallVector<Factor> factors;
  /// Index arithmetic in the loop.
  SetVector<Operation *> inside;
};

} // namespace

/// Memory of rows of `bytes` bytes that is swizzled as copy engines do.
static SharedAttr swizzledBy(MLIRContext *context, int64_t bytes,
                             int64_t elementBytes) {
  layout::Swizzle swizzle = bytes == 128  ? layout::swizzle128B
                            : bytes == 64 ? layout::swizzle64B
                                          : layout::swizzle32B;
  swizzle.base -= llvm::Log2_64(elementBytes);
  return SharedAttr::getSwizzled(context, swizzle);
}

FailureOr<Factor> RingWriter::factorOf(unsigned operand) {
  MLIRContext *context = product.getContext();
  Factor factor;
  factor.read =
      product->getOperand(operand).getDefiningOp<vector::TransferReadOp>();
  if (!factor.read || !isa<BlockArgument>(factor.read.getBase()) ||
      factor.read.getMask() || factor.read.hasBroadcastDim())
    return product.emitOpError() << "by a warpgroup takes tiles of the "
                                    "kernel's arguments, as they are; "
                                    "operand "
                                 << operand << " is none";
  auto type = factor.read.getVectorType();
  auto memory = cast<MemRefType>(factor.read.getBase().getType());
  AffineMap loops = cast<AffineMapAttr>(product.getMaps()[operand]).getValue();
  AffineMap acc = cast<AffineMapAttr>(product.getMaps()[2]).getValue();
  AffineMap dims = factor.read.getPermutationMap();
  // The vector's dims: rows (m or n), and the sum.
  unsigned rows = acc.isFunctionOfDim(loops.getDimPosition(0)) ? 0 : 1,
           k = 1 - rows;
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  int64_t numRows = type.getDimSize(rows), numSums = type.getDimSize(k);
  AffineExpr rowLoop = loops.getResult(rows), sumLoop = loops.getResult(k);
  SmallVector<AffineExpr> copy(memory.getRank(),
                               getAffineConstantExpr(0, context));
  auto d = [&](unsigned dim) { return getAffineDimExpr(dim, context); };
  AffineExpr &alongRows = copy[dims.getDimPosition(rows)],
             &alongSum = copy[dims.getDimPosition(k)];
  bool sumsAlongMemory =
      int64_t(dims.getDimPosition(k)) == memory.getRank() - 1;
  unsigned numLoops = loops.getNumDims();
  if (sumsAlongMemory) {
    alongRows = d(0), alongSum = d(1);
    factor.tile = MemRefType::get({numRows, numSums}, type.getElementType(),
                                  MemRefLayoutAttrInterface(),
                                  swizzledBy(context, numSums * bytes, bytes));
    factor.map = AffineMap::get(numLoops, 0, {rowLoop, sumLoop}, context);
  } else {
    // Boxes as wide as the swizzle, one behind the other.
    int64_t width = numRows * bytes % 128 == 0  ? 128 / bytes
                    : numRows * bytes % 64 == 0 ? 64 / bytes
                                                : 32 / bytes;
    SharedAttr space = swizzledBy(context, width * bytes, bytes);
    if (numRows == width) {
      alongSum = d(0), alongRows = d(1);
      factor.tile = MemRefType::get({numSums, width}, type.getElementType(),
                                    MemRefLayoutAttrInterface(), space);
      factor.map = AffineMap::get(numLoops, 0, {sumLoop, rowLoop}, context);
    } else {
      alongSum = d(0), alongRows = d(1) * width + d(2);
      factor.tile = MemRefType::get(
          {numSums, numRows / width, width}, type.getElementType(),
          StridedLayoutAttr::get(context, 0, {width, numSums * width, 1}),
          space);
      factor.map = AffineMap::get(
          numLoops, 0, {sumLoop, rowLoop.floorDiv(width), rowLoop % width},
          context);
    }
  }
  factor.copy = AffineMap::get(factor.tile.getRank(), 0, copy, context);
  return factor;
}

LogicalResult RingWriter::findShared(llvm::SetVector<Operation *> &shared) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == &kernel.front();
  };
  SmallVector<Value> values;
  if (loop)
    values = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  // What addresses come from: outside, or in the loop, whose values lead
  // outside.
  for (Factor &factor : factors)
    for (Value index : factor.read.getIndices()) {
      SmallVector<Value> work{index};
      while (!work.empty()) {
        Value value = work.pop_back_val();
        Operation *op = value.getDefiningOp();
        if (!op || op->getBlock() == &kernel.front())
          values.push_back(value);
        else if (inside.insert(op))
          llvm::append_range(work, op->getOperands());
      }
    }
  for (Value value : values)
    if (value.getDefiningOp() &&
        failed(getBackwardSlice(value, &shared, options)))
      return product.emitOpError() << "has addresses that lead through regions";
  SetVector<Operation *> arithmetic(shared);
  arithmetic.insert(inside.begin(), inside.end());
  for (Operation *op : arithmetic)
    if (op->getNumRegions() ||
        llvm::any_of(op->getResultTypes(),
                     [](Type type) { return isa<VectorType>(type); }))
      return op->emitOpError()
             << "decides where a warpgroup's tiles begin; only "
                "index arithmetic may";
  return success();
}

WarpsOp RingWriter::addRole(OpBuilder &b, int64_t first, int64_t count,
                            unsigned role) {
  auto warps = WarpsOp::create(b, loc, first, count);
  warps.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockBegin(&warps.getBody().front());
  if (!config.getRegisters().empty())
    SetRegistersOp::create(inside, loc, config.getRegisters()[role]);
  return warps;
}

void RingWriter::writeProducer(OpBuilder &b, Value ring, Value steps) {
  auto copies =
      scf::ForOp::create(b, loc, constant(b, 0), steps, constant(b, 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(copies.getBody());
  Value position = copies.getInductionVar();
  IRMapping mapping;
  if (loop) {
    AffineExpr d0 = b.getAffineDimExpr(0), s0 = b.getAffineSymbolExpr(0),
               s1 = b.getAffineSymbolExpr(1);
    SmallVector<OpFoldResult> operands{position, loop.getLowerBound(),
                                       loop.getStep()};
    for (OpFoldResult &operand : operands)
      if (std::optional<int64_t> known = getConstantIntValue(operand))
        operand = b.getIndexAttr(*known);
    OpFoldResult k = affine::makeComposedFoldedAffineApply(
        b, loc, AffineMap::get(1, 2, s0 + d0 * s1), operands);
    mapping.map(loop.getInductionVar(),
                getValueOrCreateConstantIndexOp(b, loc, k));
  }
  auto stage = AcquireOp::create(b, loc, ring, position);
  if (loop)
    for (Operation &op : *loop.getBody())
      if (inside.contains(&op))
        b.clone(op, mapping);
  for (auto [factor, tile] : llvm::zip_equal(factors, stage.getTiles())) {
    SmallVector<Value> indices;
    for (Value index : factor.read.getIndices())
      indices.push_back(mapping.lookupOrDefault(index));
    TileCopyOp::create(b, loc, factor.read.getBase(), indices, tile,
                       factor.copy);
  }
  FillOp::create(b, loc, ring, position);
}

/// Of the stage before `position`, where there is one.
void RingWriter::release(OpBuilder &b, Value ring, Value position) {
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        position, constant(b, 0));
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/true);
  OpBuilder inside = branch.getElseBodyBuilder();
  ReleaseOp::create(
      inside, loc, ring,
      arith::SubIOp::create(inside, loc, position, constant(inside, 1)));
}

void RingWriter::writeConsumers(OpBuilder &b, Value ring, Value steps) {
  Value init = loop ? loop.getInitArgs().front() : product.getAcc();
  Builder builder(kernel.getContext());
  ArrayAttr maps = builder.getAffineMapArrayAttr(
      {factors[0].map, factors[1].map,
       cast<AffineMapAttr>(product.getMaps()[2]).getValue()});
  auto sums =
      scf::ForOp::create(b, loc, constant(b, 0), steps, constant(b, 1), init);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(sums.getBody());
    Value position = sums.getInductionVar();
    auto stage = WaitOp::create(b, loc, ring, position);
    IRMapping mapping;
    auto next = cast<MmaOp>(b.clone(*product, mapping));
    next->setOperand(0, stage.getTiles()[0]);
    next->setOperand(1, stage.getTiles()[1]);
    next->setOperand(2, sums.getRegionIterArgs().front());
    next.setMapsAttr(maps);
    MmaWaitOp::create(b, loc, TypeRange(), 1, ValueRange());
    release(b, ring, position);
    scf::YieldOp::create(b, loc, next.getResult());
  }
  auto done =
      MmaWaitOp::create(b, loc, sums.getResultTypes(), 0, sums.getResults());
  (loop ? loop.getResult(0) : product.getResult())
      .replaceAllUsesWith(done.getResult(0));
}

LogicalResult RingWriter::write() {
  loop = dyn_cast<scf::ForOp>(product->getParentOp());
  Operation *whole = loop ? loop.getOperation() : product.getOperation();
  if (whole->getParentOp() != kernel.getOperation() ||
      (loop && (loop.getNumResults() != 1 ||
                loop.getYieldedValues().front() != product.getResult() ||
                product.getAcc() != loop.getRegionIterArgs().front())))
    return product.emitOpError()
           << "by a warpgroup stands in one loop, whose sums it alone carries";
  for (unsigned operand : {0, 1}) {
    FailureOr<Factor> factor = factorOf(operand);
    if (failed(factor))
      return failure();
    factors.push_back(*factor);
  }
  if (loop)
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op != product && !isMemoryEffectFree(&op) &&
          llvm::none_of(factors,
                        [&](Factor &factor) { return factor.read == &op; }))
        return op.emitOpError()
               << "stands in the loop of a warpgroup's product, which does no "
                  "more than multiply";
  SetVector<Operation *> shared;
  if (failed(findShared(shared)))
    return failure();

  Block &entry = kernel.front();
  SmallVector<Operation *> rest;
  for (Operation &op : entry.without_terminator())
    if (!shared.contains(&op))
      rest.push_back(&op);
  OpBuilder b(entry.getTerminator());
  SmallVector<MemRefType> tiles{factors[0].tile, factors[1].tile};
  auto type = RingType::get(kernel.getContext(), config.getStages(), tiles);
  Value ring = RingOp::create(b, loc, type);
  Value steps = constant(b, 1);
  if (loop) {
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1),
               s2 = b.getAffineSymbolExpr(2);
    steps = getValueOrCreateConstantIndexOp(
        b, loc,
        affine::makeComposedFoldedAffineApply(
            b, loc, AffineMap::get(0, 3, (s1 - s0).ceilDiv(s2)),
            getAsOpFoldResult(ValueRange{
                loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})));
  }
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  int64_t all = launch.getThreads() / launch.getSubgroup(), consumers = all - 4;
  addExplanation(kernel, "ring of " + Twine(config.getStages()) + " stages of " +
                             Twine(type.getStageBytes()) +
                             " bytes, filled by a warp through tensor maps, multiplied by " +
                             Twine(consumers / 4) +
                             (consumers == 4 ? " warpgroup" : " warpgroups"));
  WarpsOp producer = addRole(b, consumers, 4, 0);
  OpBuilder inside = OpBuilder::atBlockEnd(&producer.getBody().front());
  auto one = WarpsOp::create(inside, loc, consumers, 1);
  inside.createBlock(&one.getBody());
  writeProducer(inside, ring, steps);
  WarpsOp multiply = addRole(b, 0, consumers, 1);
  Block *body = &multiply.getBody().front();
  for (Operation *op : rest)
    op->moveBefore(body, body->end());
  OpBuilder at(whole);
  writeConsumers(at, ring, steps);
  whole->erase();
  if (!loop)
    for (Factor &factor : factors)
      factor.read->erase();
  return success();
}

LogicalResult tilewright::writeRing(func::FuncOp kernel, MmaOp product,
                                    LoweringConfigAttr config) {
  return RingWriter(kernel, product, config).write();
}
