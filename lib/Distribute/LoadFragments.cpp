// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of a warp take operands from registers: operands that lie
// in shared memory are read in front of the product, one step of the instruction
// along the reduction at a time. The fragments of a step are read before the
// products of the step before, which hide the read. Such a read gets the layout
// of the instruction's fragment.
//
//   %n = tilewright.mma %sa, %sb, %c {instruction = "mma.m16n8k16.f16.f32", …}
// becomes, of a tile of 32 along the reduction,
//   %a0 = vector.transfer_read %sa[0, 0] …    %b0 = vector.transfer_read %sb[0, 0] …
//   %a1 = vector.transfer_read %sa[0, 16] …   %b1 = vector.transfer_read %sb[16, 0] …
//   %m = tilewright.mma %a0, %b0, %c …
//   %n = tilewright.mma %a1, %b1, %m …

#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// A product whose operands are read step by step.
class FragmentLoader {
public:
  explicit FragmentLoader(MmaOp op);
  void run();

private:
  int64_t steps() const { return extent / step; }
  /// The fragment of `operand` for one step.
  Value load(OpBuilder &b, Value operand, AffineMap map, int64_t number);

  MmaOp op;
  AffineMap maps[2];
  unsigned reduced = 0;         // the loop that is reduced
  int64_t extent = 1, step = 1; // of that loop
};
} // namespace

FragmentLoader::FragmentLoader(MmaOp op) : op(op) {
  for (unsigned operand : {0, 1})
    maps[operand] = cast<AffineMapAttr>(op.getMaps()[operand]).getValue();
  AffineMap acc = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  // Both operands in memory, and one loop to cut: else everything at once.
  auto instruction = MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < acc.getNumDims(); ++loop)
    if (!acc.isFunctionOfDim(loop))
      loops.push_back(loop);
  if (loops.size() != 1 || !instruction)
    return;
  reduced = loops.front();
  auto type = cast<ShapedType>(op.getA().getType());
  for (unsigned dim = 0; dim < maps[0].getNumResults(); ++dim)
    if (maps[0].getDimPosition(dim) == reduced)
      extent = type.getDimSize(dim);
  bool cuts = isa<MemRefType>(op.getA().getType()) &&
              isa<MemRefType>(op.getB().getType()) &&
              extent % instruction->k == 0;
  step = cuts ? instruction->k : extent;
}

Value FragmentLoader::load(OpBuilder &b, Value operand, AffineMap map,
                           int64_t number) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type)
    return operand;
  Location loc = op.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> indices;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    bool isReduced = extent > 1 && map.getDimPosition(dim) == reduced;
    if (isReduced)
      shape[dim] = step;
    indices.push_back(arith::ConstantIndexOp::create(
        b, loc, isReduced ? number * step : 0));
  }
  Value padding = arith::ConstantOp::create(b, loc,
                                            b.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferReadOp::create(
      b, loc, VectorType::get(shape, type.getElementType()), operand, indices,
      padding, ArrayRef<bool>(inBounds));
}

void FragmentLoader::run() {
  OpBuilder b(op);
  auto fragments = [&](int64_t number) {
    return std::pair(load(b, op.getA(), maps[0], number),
                     load(b, op.getB(), maps[1], number));
  };
  auto next = fragments(0);
  Value sum = op.getAcc();
  for (int64_t number = 0; number < steps(); ++number) {
    auto [left, right] = next;
    if (number + 1 < steps())
      next = fragments(number + 1);
    auto product = cast<MmaOp>(b.clone(*op));
    product.getAMutable().assign(left);
    product.getBMutable().assign(right);
    product.getAccMutable().assign(sum);
    sum = product.getResult();
  }
  op.replaceAllUsesWith(sum);
  op.erase();
}

void tilewright::loadFragments(func::FuncOp kernel) {
  SmallVector<MmaOp> products;
  kernel.walk([&](MmaOp op) {
    if (op.getInstruction())
      products.push_back(op);
  });
  for (MmaOp op : products)
    FragmentLoader(op).run();
}
