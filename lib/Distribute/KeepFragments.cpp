// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of a product while it is in cooperative-matrix fragments, decided once and
// written down: behind this pass the IR says which arithmetic is done on fragments
// (`tilewright.map_fragments`, conversions in an opaque layout) and which reads and
// writes of memory the matrix instruction makes itself (those with an opaque layout
// in `tilewright.layouts`). All else takes the way through shared memory, into the
// registers of threads that know their coordinates.
//
// The algorithm:
//   1. *Hold*: results of products are in fragments, and what loops carry of them.
//      So is an elementwise op's result if the op finds all of its operands there,
//      or the same for all elements (a constant, a broadcast scalar), or in memory
//      that fragments can be read from. What a product accumulates onto is asked for
//      backwards in the same way; there, an operand may also repeat along rows or
//      columns (a factor for each row of attention's running result).
//   2. *Prune*: only the target's accumulator types exist as fragments. Ops whose
//      result is another type stay if only ops that stay use it.
//   3. *Write down*: chains of ops become bodies on the elements, cut at conversions
//      between two accumulator types: which thread holds which element may differ
//      between types, so that only the instruction set converts those. Where a tile
//      may leave the memory, whole tiles are told from clipped ones by a branch.
//
//   %s = arith.mulf %acc, %splat : vector<64x64xf32>
//   %r = arith.maximumf %s, %zero : vector<64x64xf32>
//   vector.transfer_write %r, %out[%i, %j] : vector<64x64xf32>, memref<?x512xf32>
// becomes
//   %r = tilewright.map_fragments %acc : … { mulf, maximumf }
//   %whole = arith.cmpi sle, %i + 64, %rows
//   scf.if %whole {
//     vector.transfer_write %r, %out[%i, %j] {in_bounds = [true, true], tilewright.layouts = [<opaque=acc …>]}
//   } else {
//     %p = tilewright.convert_layout %r from <opaque=acc …> to <plain>
//     vector.transfer_write %p, %out[%i, %j]
//   }

#include "FragmentAccess.h"
#include "FragmentBodies.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

namespace {
class FragmentKeeper {
public:
  explicit FragmentKeeper(func::FuncOp kernel)
      : kernel(kernel), bodies(kernel) {}
  LogicalResult run();

private:
  LogicalResult hold();
  void holdInit(MmaOp product, const DistributedLayout &layout);
  void placeReads();
  void placeWrites();
  void replaceRead(vector::TransferReadOp read,
                   const DistributedLayout &layout);
  bool replaceWrite(vector::TransferWriteOp write,
                    const DistributedLayout &layout);
  /// i1: the tile of an access is inside of its memory along `dims`.
  Value isWhole(OpBuilder &b, VectorTransferOpInterface access,
                ArrayRef<int64_t> dims);
  void explainDepartures();
  void explain(const Twine &line) { addExplanation(kernel, line); }

  func::FuncOp kernel;
  ThreadRange threads;
  FragmentBodies bodies;
  SmallVector<MmaOp> products;
};
} // namespace

static constexpr llvm::StringLiteral kClipped =
    " where the tile is whole; clipped tiles go through shared memory";

LogicalResult FragmentKeeper::run() {
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!launch)
    return success(); // which assign-layouts complains of
  threads.lanes = launch.getSubgroup();
  threads.warps = launch.getThreads() / launch.getSubgroup();
  kernel.walk([&](MmaOp op) {
    auto name = op.getInstruction();
    auto known = name ? MatrixInstruction::parse(op.getContext(), *name)
                      : std::nullopt;
    if (known && known->opaque && !op->getParentOfType<WarpsOp>())
      products.push_back(op);
  });
  if (products.empty())
    return success();
  if (failed(hold()))
    return failure();
  bodies.prune();
  bodies.outline();
  placeReads();
  placeWrites();
  explainDepartures();
  return success();
}

/// Products, then what loops make of them, and elementwise ops behind them, in the
/// order of the program (a loop behind its body).
LogicalResult FragmentKeeper::hold() {
  for (MmaOp product : products) {
    auto layouts = instructionLayouts(product, threads);
    if (failed(layouts))
      return failure();
    bodies.hold(product.getResult(), layouts->acc);
  }
  kernel.walk([&](Operation *op) {
    if (auto product = dyn_cast<MmaOp>(op);
        product && llvm::is_contained(products, product)) {
      DistributedLayout same = *bodies.layoutOf(product.getResult());
      return holdInit(product, same);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [yielded, argument, result] :
           llvm::zip_equal(loop.getYieldedValues(), loop.getRegionIterArgs(),
                           loop.getResults()))
        if (const DistributedLayout *layout = bodies.layoutOf(yielded)) {
          DistributedLayout same = *layout;
          bodies.hold(argument, same);
          bodies.hold(result, same);
        }
      return;
    }
    if (op->getNumResults() == 1)
      for (Value operand : op->getOperands())
        if (const DistributedLayout *layout = bodies.layoutOf(operand)) {
          DistributedLayout same = *layout;
          bodies.request(op->getResult(0), same);
          break;
        }
  });
  return success();
}

/// What a product accumulates onto, through the loops around it.
void FragmentKeeper::holdInit(MmaOp product, const DistributedLayout &layout) {
  Value init = product.getAcc();
  while (auto argument = dyn_cast<BlockArgument>(init)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return;
    init = loop.getTiedLoopInit(argument)->get();
  }
  if (isSplat(init) || bodies.layoutOf(init))
    return;
  if (!bodies.requestInit(init, layout))
    explain("accumulates onto values that enter fragments through shared "
            "memory: " +
            bodies.reasonFor(init.getDefiningOp()));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value FragmentKeeper::isWhole(OpBuilder &b, VectorTransferOpInterface access,
                              ArrayRef<int64_t> dims) {
  Location loc = access.getLoc();
  Value all;
  for (int64_t dim : dims) {
    unsigned memoryDim = access.getPermutationMap().getDimPosition(dim);
    Value extent = arith::ConstantIndexOp::create(
        b, loc, access.getVectorType().getDimSize(dim));
    Value end =
        arith::AddIOp::create(b, loc, access.getIndices()[memoryDim], extent);
    Value size = memref::DimOp::create(b, loc, access.getBase(), memoryDim);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, end,
                                         size);
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside;
  }
  return all;
}

static ArrayAttr layoutsOf(MLIRContext *context,
                           const DistributedLayout &layout) {
  return ArrayAttr::get(context, toAttr(context, layout));
}

static ConvertLayoutOp convertTo(OpBuilder &b, Value value,
                                 const DistributedLayout &from,
                                 const DistributedLayout &to) {
  auto convert = ConvertLayoutOp::create(b, value.getLoc(), value.getType(),
                                         value, toAttr(b.getContext(), from),
                                         toAttr(b.getContext(), to));
  convert->setAttr(kLayoutsAttr, layoutsOf(b.getContext(), to));
  return convert;
}

void FragmentKeeper::replaceRead(vector::TransferReadOp read,
                                 const DistributedLayout &layout) {
  FragmentAccess plan = planFragmentAccess(read, layout);
  ArrayAttr attr = layoutsOf(read.getContext(), layout);
  explain(nameBuffer(read.getBase()) + " is read into fragments" +
          (plan.clipped.empty() ? "" : kClipped));
  OpBuilder b(read);
  auto whole = cast<vector::TransferReadOp>(b.clone(*read));
  whole->setAttr(kLayoutsAttr, attr);
  whole.setInBoundsAttr(b.getBoolArrayAttr({true, true}));
  Value result = whole.getVector();
  if (!plan.clipped.empty()) {
    b.setInsertionPoint(whole);
    auto branch = scf::IfOp::create(b, read.getLoc(), read.getVectorType(),
                                    isWhole(b, read, plan.clipped),
                                    /*withElseRegion=*/true);
    branch->setAttr(kLayoutsAttr, attr);
    b = branch.getThenBodyBuilder();
    whole->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    scf::YieldOp::create(b, read.getLoc(), result);
    b = branch.getElseBodyBuilder();
    Value clipped = b.clone(*read)->getResult(0);
    DistributedLayout plain = plainLayout(layout);
    clipped.getDefiningOp()->setAttr(kLayoutsAttr,
                                     layoutsOf(read.getContext(), plain));
    scf::YieldOp::create(
        b, read.getLoc(),
        convertTo(b, clipped, plain, layout).getResult());
    result = branch.getResult(0);
  }
  bodies.replaceRead(read, result);
}

void FragmentKeeper::placeReads() {
  for (auto &[read, layout] : bodies.takeReads())
    replaceRead(read, layout);
}

bool FragmentKeeper::replaceWrite(vector::TransferWriteOp write,
                                  const DistributedLayout &layout) {
  FragmentAccess plan = planFragmentAccess(write, layout);
  if (!plan.isPossible()) {
    bodies.refuse(write, plan.whyNot);
    return false;
  }
  explain("the result stays in fragments, which are written to " +
          nameBuffer(write.getBase()) +
          (plan.clipped.empty() ? "" : kClipped));
  OpBuilder b(write);
  ArrayAttr attr = layoutsOf(write.getContext(), layout);
  if (plan.clipped.empty()) {
    write->setAttr(kLayoutsAttr, attr);
    return true;
  }
  auto branch =
      scf::IfOp::create(b, write.getLoc(), isWhole(b, write, plan.clipped),
                        /*withElseRegion=*/true);
  b = branch.getThenBodyBuilder();
  auto whole = cast<vector::TransferWriteOp>(b.clone(*write));
  whole->setAttr(kLayoutsAttr, attr);
  whole.setInBoundsAttr(b.getBoolArrayAttr({true, true}));
  b = branch.getElseBodyBuilder();
  Value plain =
      convertTo(b, write.getVector(), layout, plainLayout(layout)).getResult();
  write->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  write.getValueToStoreMutable().assign(plain);
  return true;
}

void FragmentKeeper::placeWrites() {
  SmallVector<vector::TransferWriteOp> writes;
  kernel.walk([&](vector::TransferWriteOp op) { writes.push_back(op); });
  for (vector::TransferWriteOp write : writes)
    if (const DistributedLayout *layout = bodies.layoutOf(write.getVector()))
      replaceWrite(write, *layout);
}

/// Says why fragments are left, for each op that takes one through shared memory.
void FragmentKeeper::explainDepartures() {
  kernel.walk([&](Operation *op) {
    if (isa<MmaOp, MapFragmentsOp, ConvertLayoutOp, scf::ForOp, scf::YieldOp>(op) ||
        op->hasAttr(kLayoutsAttr))
      return;
    for (Value operand : op->getOperands())
      if (bodies.layoutOf(operand))
        return explain("the result leaves its fragments through shared memory: " +
                       bodies.reasonFor(op));
  });
}

LogicalResult tilewright::keepFragments(func::FuncOp kernel) {
  return FragmentKeeper(kernel).run();
}
