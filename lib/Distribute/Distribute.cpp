// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over a kernel in block form that writes its thread form: a new
// function with rank-1 memrefs and explicit dims, in which every block vector is
// the scalars that one thread holds (ThreadCode.h).
//
//   func.func @k(%a: memref<?x64xf32>) {          func.func @k(%a: memref<?xf32>, %d: index) {
//     %x = vector.transfer_read %a… : vector<…>     %0 = vector.load %a… : vector<4xf32>
//     %y = arith.addf %x, %x : vector<…>     ->     %1 = vector.extract %0[0] …
//     …                                             %5 = arith.addf %1, %1 : f32 …

#include "Distributor.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/SharedPlaces.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;
using layout::Level;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Distributor::block(Block &source) {
  for (Operation &inner : source)
    if (!inner.hasTrait<OpTrait::IsTerminator>() && failed(op(&inner)))
      return failure();
  return success();
}

/// What all blocks of a cluster have is written by the first of them.
LogicalResult Distributor::ofOneBlock(Operation *op) {
  OpBuilder &b = code.b;
  Location loc = op->getLoc();
  Value rank = ClusterRankOp::create(b, loc, b.getIndexType());
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rank,
                                      code.constant(loc, 0));
  auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return code.scalarStore(store);
  return code.write(cast<vector::TransferWriteOp>(op));
}

LogicalResult Distributor::op(Operation *op) {
  if (op->hasAttr(kOneBlockAttr) && isa<memref::StoreOp, vector::TransferWriteOp>(op))
    return ofOneBlock(op);
  bool hasVectors = llvm::any_of(op->getResultTypes(), laidOutType) ||
                    llvm::any_of(op->getOperandTypes(), laidOutType);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return hasVectors ? this->constant(constant) : scalar(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](vector::TransferReadOp op) { return code.read(op); })
      .Case([&](vector::TransferWriteOp op) { return code.write(op); })
      .Case([&](vector::GatherOp op) { return code.gather(op); })
      .Case([&](memref::LoadOp op) { return code.scalarLoad(op); })
      .Case([&](memref::StoreOp op) { return code.scalarStore(op); })
      .Case([&](TakeNumberOp op) { return code.takeNumber(op); })
      .Case([&](PublishOp op) { return code.publish(op); })
      .Case([&](ObserveOp op) { return code.observe(op); })
      .Case([&](memref::AllocOp op) { return code.allocate(op); })
      .Case([&](memref::SubViewOp op) { return code.subview(op); })
      .Case([&](memref::DimOp op) { return dim(op); })
      .Case([&](memref::DeallocOp) { return success(); })
      .Case([&](vector::MultiDimReductionOp op) { return code.reduce(op); })
      .Case([&](ClusterReduceOp op) { return code.reduceOverCluster(op); })
      .Case([&](ClusterScatterOp op) { return code.scatterOverCluster(op); })
      .Case([&](ConvertLayoutOp op) { return code.convert(op); })
      .Case([&](MmaOp op) { return code.mma(op); })
      .Case([&](MapFragmentsOp op) { return code.mapFragments(op); })
      .Case([&](AsyncCopyOp op) { return code.asyncCopy(op); })
      .Case([&](TileIdOp op) { return code.tileId(op); })
      .Case([&](TileWalkOp op) { return code.tileWalk(op); })
      .Case([&](WorkWalkOp op) { return code.workWalk(op); })
      .Case([&](WorkItemOp op) { return code.workItem(op); })
      .Case([&](WarpsOp op) { return warps(op); })
      .Case([&](RingOp op) { return code.ring(op); })
      .Case([&](AcquireOp op) {
        return code.enterStage(op, op.getRing(), op.getPosition(), /*empty=*/true);
      })
      .Case([&](WaitOp op) {
        return code.enterStage(op, op.getRing(), op.getPosition(), /*empty=*/false);
      })
      .Case([&](TileCopyOp op) { return code.tileCopy(op); })
      .Case([&](TileStoreOp op) { return code.tileStore(op); })
      .Case([&](TileLoadOp op) { return code.tileLoad(op); })
      .Case<StoreWaitOp, WarpBarrierOp>([&](Operation *op) { return scalar(op); })
      .Case([&](FillOp op) { return code.fill(op); })
      .Case([&](ReleaseOp op) { return code.release(op); })
      .Case([&](MmaWaitOp op) { return code.mmaWait(op); })
      .Case([&](vector::BroadcastOp op) { return broadcast(op); })
      .Case<vector::CreateMaskOp, vector::ConstantMaskOp>([&](auto op) { return mask(op); })
      .Case([&](vector::StepOp op) { return step(op); })
      .Case([&](scf::ForOp op) { return loop(op); })
      .Case([&](scf::WhileOp op) { return loop(op); })
      .Case([&](scf::IfOp op) { return branch(op); })
      .Case([&](scf::ForallOp op) { return eachThread(op); })
      .Case([&](gpu::BarrierOp op) {
        code.barrier(op.getLoc());
        return success();
      })
      .Case<vector::TransposeOp, vector::ShapeCastOp>(
          [&](Operation *op) { return sameRegisters(op); })
      .Case([&](vector::InterleaveOp op) { return interleave(op); })
      .Default([&](Operation *op) {
        if (!hasVectors)
          return scalar(op);
        if (OpTrait::hasElementwiseMappableTraits(op))
          return elementwise(op);
        return LogicalResult(op->emitOpError()
                             << "has no per-thread form; docs/ir.md lists the "
                                "vector ops that kernels may use");
      });
}

LogicalResult Distributor::mask(vector::CreateMaskOp op) {
  SmallVector<Index> bounds;
  SmallVector<int64_t> divisors;
  for (Value bound : op.getOperands()) {
    bounds.push_back(code.mapped(OpFoldResult(bound)));
    divisors.push_back(knownDivisor(bound));
  }
  return mask(op, bounds, divisors);
}

LogicalResult Distributor::mask(vector::ConstantMaskOp op) {
  SmallVector<Index> bounds;
  for (int64_t bound : op.getMaskDimSizes())
    bounds.push_back(Index(bound));
  return mask(op, bounds, op.getMaskDimSizes());
}

/// The layouts differ as the shapes do.
LogicalResult Distributor::sameRegisters(Operation *op) {
  FailureOr<Registers> values = code.registers(op->getOperand(0));
  if (failed(values))
    return failure();
  code.define(op->getResult(0), *values);
  return success();
}

/// Pairs are neighbours in registers: the first digit of their number.
LogicalResult Distributor::interleave(vector::InterleaveOp op) {
  FailureOr<Registers> low = code.registers(op.getLhs()), high = code.registers(op.getRhs());
  if (failed(low) || failed(high))
    return failure();
  Registers values;
  for (auto [first, second] : llvm::zip_equal(*low, *high))
    values.append({first, second});
  code.define(op.getResult(), values);
  return success();
}

LogicalResult Distributor::scalar(Operation *op) {
  if (op->getNumRegions())
    return op->emitOpError() << "has regions, which a kernel may not";
  code.b.clone(*op, code.scalars);
  return success();
}

LogicalResult Distributor::elementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions())
    return op->emitOpError() << "is elementwise but has "
                             << op->getNumResults() << " results";
  FailureOr<DistributedLayout> layout = getLayout(op->getResult(0));
  if (failed(layout))
    return failure();
  SmallVector<Registers> operands;
  for (Value operand : op->getOperands()) {
    if (!laidOutType(operand.getType())) {
      operands.push_back(
          Registers(layout->numRegisters(), code.scalars.lookup(operand)));
      continue;
    }
    FailureOr<Registers> values = code.registers(operand);
    if (failed(values))
      return failure();
    operands.push_back(*values);
  }
  Type element = registerType(
      *layout, cast<VectorType>(op->getResult(0).getType()).getElementType());
  Registers results;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    OperationState state(op->getLoc(), op->getName());
    for (const Registers &operand : operands)
      state.operands.push_back(operand[reg]);
    state.addTypes(element);
    state.addAttributes(op->getAttrDictionary().getValue());
    state.attributes.erase(kLayoutsAttr);
    results.push_back(code.b.create(state)->getResult(0));
  }
  code.define(op->getResult(0), results);
  return success();
}

LogicalResult Distributor::broadcast(vector::BroadcastOp op) {
  FailureOr<DistributedLayout> layout = getLayout(op.getResult());
  if (failed(layout))
    return failure();
  VectorType from = laidOutType(op.getSourceType());
  if (!from) {
    Value value = code.scalars.lookup(op.getSource());
    if (layout->isOpaque())
      value = vector::BroadcastOp::create(
          code.b, op.getLoc(), fragmentType(*layout, value.getType()), value);
    code.define(op, Registers(layout->numRegisters(), value));
    return success();
  }
  FailureOr<Registers> source = code.registers(op.getSource());
  if (failed(source))
    return failure();
  // Registers of the result -> registers of the source, dim by dim.
  int64_t added = op.getResultVectorType().getRank() - from.getRank();
  SmallVector<int64_t> number(layout->numRegisters());
  std::iota(number.begin(), number.end(), 0);
  DistributedLayout step = *layout;
  for (int64_t i = 0; i < added; ++i) {
    std::vector<int64_t> into = step.sliceRegisters(0);
    for (int64_t &reg : number)
      reg = into[reg];
    step = step.slice(0);
  }
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (from.getDimSize(dim) != 1 || step.shape()[dim] == 1)
      continue;
    // project keeps replicated registers, so the numbers stay.
    step = step.project(dim);
  }
  Registers result;
  for (int64_t reg : number)
    result.push_back((*source)[reg]);
  code.define(op, result);
  return success();
}

/// True where every coordinate is below its bound.
/// Neighbours between two multiples of what the bound and the thread's first coordinate are
/// multiples of lie on the same side of the bound: one comparison for all of them.
LogicalResult Distributor::mask(Operation *op, ArrayRef<Index> bounds,
                                ArrayRef<int64_t> divisors) {
  Location loc = op->getLoc();
  FailureOr<DistributedLayout> layout = getLayout(op->getResult(0));
  if (failed(layout))
    return failure();
  SmallVector<Index> base = code.baseCoordinates(*layout);
  SmallVector<int64_t> runs;
  for (auto [index, divisor] : llvm::zip_equal(base, divisors))
    runs.push_back(std::max<int64_t>(
        1, std::gcd(divisor, index.isConstant() ? index.constant : knownDivisor(index.value))));
  std::map<std::pair<int64_t, int64_t>, Value> compared;
  Registers result;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    Value all;
    for (auto [dim, offset] : llvm::enumerate(layout->registerOffset(reg))) {
      const Index &bound = bounds[dim];
      int64_t at = offset - offset % runs[dim];
      Value &inside = compared[{int64_t(dim), at}];
      if (!inside)
        inside = arith::CmpIOp::create(
            code.b, loc, arith::CmpIPredicate::slt,
            code.materialize(loc, code.add(loc, base[dim], Index(at))),
            code.materialize(loc, bound));
      all = all ? arith::AndIOp::create(code.b, loc, all, inside).getResult()
                : inside;
    }
    result.push_back(all);
  }
  code.define(op->getResult(0), result);
  return success();
}

LogicalResult Distributor::step(vector::StepOp op) {
  FailureOr<DistributedLayout> layout = getLayout(op.getResult());
  if (failed(layout))
    return failure();
  SmallVector<Index> base = code.baseCoordinates(*layout);
  Registers result;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg)
    result.push_back(code.materialize(
        op.getLoc(),
        code.add(op.getLoc(), base[0], Index(layout->registerOffset(reg)[0]))));
  code.define(op, result);
  return success();
}

LogicalResult Distributor::dim(memref::DimOp op) {
  FailureOr<MemView> view = code.view(op.getSource());
  std::optional<int64_t> number = op.getConstantIndex();
  if (failed(view))
    return failure();
  if (!number || *number < 0 || *number >= int64_t(view->sizes.size()))
    return op.emitOpError() << "needs a constant dim in range";
  code.scalars.map(op.getResult(),
                   code.materialize(op.getLoc(), view->sizes[*number]));
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult tilewright::distributeKernel(func::FuncOp kernel) {
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!launch)
    return kernel.emitError() << "kernel has no '" << kLaunchAttr << "'";
  if (!kernel.getBody().hasOneBlock() || kernel.getNumResults())
    return kernel.emitError() << "kernel must have one block and no results";
  SmallVector<Type> types;
  SmallVector<Attribute> scalars = scalarArguments(kernel, types);
  FailureOr<SmallVector<Attribute>> tensorMaps = tensorMapArguments(kernel);
  if (failed(tensorMaps))
    return failure();
  types.append(tensorMaps->size(), TensorMapType::get(kernel.getContext()));
  // Detached: other kernels of the module are being rewritten at the same time.
  Builder builder(kernel.getContext());
  if (!tensorMaps->empty())
    kernel->setAttr(kTensorMapsAttr, builder.getArrayAttr(*tensorMaps));
  auto target = func::FuncOp::create(kernel.getLoc(), kernel.getName(),
                                     builder.getFunctionType(types, {}));
  target.addEntryBlock();

  Distributor distributor(kernel, target, launch);
  auto build = [&]() -> LogicalResult {
    if (failed(distributor.code.mapArguments()))
      return failure();
    bool shareRows = distributor.code.beginCluster();
    if (failed(distributor.block(kernel.getBody().front())))
      return failure();
    // No block goes while others of its cluster may write into its memory, or read it: those
    // have said when they have (scatterOverCluster).
    bool sums = false;
    kernel.walk([&](ClusterScatterOp) { sums = true; });
    if (sums)
      ClusterWaitOp::create(distributor.code.b, kernel.getLoc());
    else if (distributor.code.clusterSize() > 1 && !shareRows)
      ClusterBarrierOp::create(distributor.code.b, kernel.getLoc());
    return success();
  };
  if (failed(build())) {
    target.erase();
    return failure();
  }
  OpBuilder end = OpBuilder::atBlockEnd(&target.getBody().front());
  func::ReturnOp::create(end, kernel.getLoc());
  kernel.getBody().takeBody(target.getBody());
  kernel.setFunctionType(target.getFunctionType());
  kernel->setAttr(kScalarsAttr, builder.getArrayAttr(scalars));
  kernel.removeArgAttrsAttr();
  kernel->removeAttr(kPaddingAttr);
  target.erase();
  return success();
}
