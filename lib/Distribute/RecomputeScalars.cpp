// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warps that change how many registers they have compute bounds and coordinates themselves. A
// scalar that is computed in front of the roles and that several of them read would be alive
// across the change, where there are as few registers as the kernel is launched with: ptxas
// spills it rather than keep one for it.
//
//   %end = arith.addi %query, %c128
//   scf.if %producer {                       scf.if %producer {
//     tilewright.set_registers 40              tilewright.set_registers 40
//     … %query, %end                    ->     %end = arith.addi %query, %c128
//   }                                          … %query, %end
//   scf.if %consumer { …                     }
//
// Only where nothing else need be alive for it: its operands are arguments, constants, values
// that the role reads anyway, or such scalars again.

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

/// Few instructions: division is one, by a power of two, and rounded up some.
static bool isCheap(Operation *op) {
  if (isa_and_present<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op)) {
    APInt divisor;
    return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) && divisor.isPowerOf2();
  }
  return isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
                         arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op);
}

namespace {
/// The code of one role, which follows its `set_registers`.
class Role {
public:
  explicit Role(SetRegistersOp first) : first(first), region(*first->getParentRegion()) {
    getUsedValuesDefinedAbove(region, read);
  }

  void recompute() {
    OpBuilder b(first);
    b.setInsertionPointAfter(first);
    for (Value value : SmallVector<Value>(read.getArrayRef()))
      if (isCheap(value.getDefiningOp()) && canRecompute(value.getDefiningOp())) {
        Value own = clone(value, b);
        replaceAllUsesInRegionWith(value, own, region);
      }
  }

private:
  bool canRecompute(Operation *op) {
    if (auto known = recomputable.find(op); known != recomputable.end())
      return known->second;
    bool all = llvm::all_of(op->getOperands(), [&](Value operand) {
      return isa<BlockArgument>(operand) || matchPattern(operand, m_Constant()) ||
             read.contains(operand) ||
             (isCheap(operand.getDefiningOp()) && canRecompute(operand.getDefiningOp()));
    });
    return recomputable[op] = all;
  }

  Value clone(Value value, OpBuilder &b) {
    Operation *op = value.getDefiningOp();
    if (!isCheap(op) || !canRecompute(op))
      return value;
    if (Value known = own.lookupOrNull(value))
      return known;
    for (Value operand : op->getOperands())
      if (Value cloned = clone(operand, b); cloned != operand)
        own.map(operand, cloned);
    return b.clone(*op, own)->getResult(0);
  }

  SetRegistersOp first;
  Region &region;
  SetVector<Value> read;
  DenseMap<Operation *, bool> recomputable;
  IRMapping own;
};
} // namespace

void tilewright::recomputeScalars(func::FuncOp kernel) {
  SmallVector<SetRegistersOp> roles;
  kernel.walk([&](SetRegistersOp op) {
    if (isa<scf::IfOp>(op->getParentOp()))
      roles.push_back(op);
  });
  if (roles.empty())
    return;
  for (SetRegistersOp first : roles)
    Role(first).recompute();
  // Or CSE would take the roles' own ones for these.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isCheap(&op) && op.use_empty())
      op.erase();
}
