// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops and operands of a contraction on a CPU become panels, or why they cannot
// (PackPanels.cpp writes them).

#include "PackWords.h"
#include "Packer.h"
#include "tilewright/Promote/Promote.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

bool Packer::dependsOn(Value value, Value on, llvm::DenseSet<Value> &seen) {
  if (value == on)
    return true;
  if (!seen.insert(value).second)
    return false;
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, on, seen);
         });
}

void Packer::collect(ValueRange values, llvm::SetVector<Operation *> &ops) {
  Operation *outermost = nest.empty() ? outerSum : nest.front();
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (!op || !outermost->isProperAncestor(op) || ops.contains(op))
      continue;
    collect(op->getOperands(), ops);
    ops.insert(op);
  }
}

LogicalResult Packer::matchPanel(Panel &panel) {
  Value operand = mma->getOperand(panel.number);
  if (!isa<VectorType>(operand.getType()))
    return mma.emitOpError() << "operand " << panel.number
                             << " is no vector and cannot be packed";
  llvm::SetVector<Operation *> chain;
  collect(operand, chain);
  for (Operation *op : chain)
    if (op->getNumRegions() ||
        !(isPure(op) || isa<vector::TransferReadOp>(op) ||
          hasSingleEffect<MemoryEffects::Read>(op)))
      return op->emitOpError(
          "is computed in a panel's place, which packing does "
          "not move; leave 'promote' out of the config");
  panel.chain.assign(chain.begin(), chain.end());
  for (scf::ForOp loop : nest)
    if (dependsOn(operand, loop.getInductionVar())) {
      if (panel.tiles)
        return mma.emitOpError()
               << "operand " << panel.number << " has tiles along two loops";
      panel.tiles = loop;
    }
  return success();
}

LogicalResult Packer::match() {
  sum = dyn_cast<scf::ForOp>(mma->getParentOp());
  auto fail = [&](StringRef why) {
    return mma.emitOpError() << "cannot be packed: " << why
                             << "; leave 'promote' out of the config";
  };
  if (!sum || sum.getNumResults() != 1 ||
      mma.getAcc() != sum.getRegionIterArg(0) ||
      sum.getBody()->getTerminator()->getOperand(0) != mma.getResult())
    return fail("its loop carries something else than its accumulator");
  outerSum = sum;
  if (auto loop = dyn_cast<scf::ForOp>(sum->getParentOp());
      loop && loop.getNumResults() == 1 &&
      loop.getBody()->getTerminator()->getOperand(0) == sum.getResult(0) &&
      sum.getInitArgs()[0] == loop.getRegionIterArg(0)) {
    std::optional<int64_t> lower = getConstantIntValue(sum.getLowerBound()),
                           upper = getConstantIntValue(sum.getUpperBound());
    if (!lower || !upper || *upper <= *lower)
      return fail("the inner one of two loops of its sum has no constant number of steps");
    outerSum = loop;
    innerSteps = llvm::divideCeil(*upper - *lower, *getConstantIntValue(sum.getStep()));
  }
  for (auto loop = outerSum->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    if (loop.getNumResults())
      return fail("a loop around it carries values");
    nest.insert(nest.begin(), loop);
  }
  for (auto [loop, inner] :
       llvm::zip(nest, llvm::concat<scf::ForOp>(llvm::drop_begin(nest),
                                                llvm::MutableArrayRef(outerSum))))
    if (inner->getParentOp() != loop.getOperation() ||
        (inner != outerSum &&
         inner->getNextNode() != loop.getBody()->getTerminator()))
      return fail("the loops around it are no perfect nest");

  auto maps = llvm::to_vector(mma.getMaps().getAsValueRange<AffineMapAttr>());
  AffineExpr row = maps[2].getResults().back();
  columns.number = maps[1].getResultPosition(row) ? 1 : 0;
  rows.number = 1 - columns.number;
  for (Panel *panel : {&rows, &columns}) {
    AffineMap map = maps[panel->number];
    auto type = dyn_cast<VectorType>(mma->getOperand(panel->number).getType());
    SmallVector<unsigned> summed;
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (!maps[2].getResultPosition(expr))
        summed.push_back(dim);
    if (summed.size() == 2 && type) {
      // Of the outer loop there is one element at a time; the inner one may be a single step.
      unsigned outer = llvm::is_sorted(summed, [&](unsigned a, unsigned b) {
                         return map.getDimPosition(a) < map.getDimPosition(b);
                       })
                           ? summed.front()
                           : summed.back();
      if (type.getDimSize(outer) == 1)
        llvm::erase(summed, outer);
    }
    if (summed.size() != 1)
      return fail("it sums along several dims");
    panel->order = llvm::to_vector(llvm::seq<unsigned>(0, map.getNumResults()));
    if (panel == &columns) {
      unsigned last = *map.getResultPosition(row);
      llvm::erase(panel->order, last);
      panel->order.push_back(last);
    }
    panel->sumDim =
        llvm::find(panel->order, summed.front()) - panel->order.begin();
    panel->map = map.getSubMap(panel->order);
    if (failed(matchPanel(*panel)))
      return failure();
  }
  if (nest.size() > 2 || (rows.tiles && rows.tiles == columns.tiles) ||
      nest.size() != size_t(bool(rows.tiles)) + size_t(bool(columns.tiles)))
    return fail("the loops around it are not those of its rows and columns");
  return success();
}

/// What the config's instruction asks of the operands; nothing where it has none.
LogicalResult Packer::matchInstruction() {
  name = mma.getInstructionAttr();
  signedness = mma.getSignednessAttr();
  if (!name)
    return success();
  instruction = MatrixInstruction::parse(mma.getContext(), name);
  if (!instruction || !instruction->panels)
    return mma.emitOpError() << "instruction '" << name.getValue()
                             << "' does not multiply packed panels";
  for (Panel *panel : {&rows, &columns}) {
    auto type = cast<VectorType>(mma->getOperand(panel->number).getType());
    if (type.getRank() != 2 ||
        type.getDimSize(panel->order[panel->sumDim]) % instruction->perWord())
      return mma.emitOpError() << "operand " << panel->number << " of " << type
                               << " is no matrix of whole words of '"
                               << name.getValue() << "'";
  }
  rows.alongSum = instruction->tiles;
  if (turnsRows())
    turnInstruction();
  return success();
}

/// The rows' operand that the config leaves where it is: one read.
LogicalResult Packer::matchRowsInPlace() {
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (config.getPromote().size() != 1)
    return success();
  rowsInPlace = mma->getOperand(rows.number).getDefiningOp<vector::TransferReadOp>();
  auto acc = cast<VectorType>(mma.getAcc().getType());
  if (instruction || !rowsInPlace || outerSum != sum || rowsInPlace.getMask() ||
      !rowsInPlace.getPermutationMap().isProjectedPermutation() ||
      rowsInPlace.getVectorType().getElementType() != acc.getElementType())
    return mma.emitOpError() << "operand " << rows.number
                             << " cannot be read where it is, number by number; add "
                                "it to 'promote'";
  return success();
}
