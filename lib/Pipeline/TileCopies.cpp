// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which stores into shared memory are no more than copies out of global memory, and
// the asynchronous copies that take their place.

#include "LoopParts.h"
#include "tilewright/Dialect/AsyncCopies.h"
#include "tilewright/Dialect/Padding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

static bool readsOnly(func::FuncOp kernel, BlockArgument argument) {
  auto access = kernel->getAttrOfType<ArrayAttr>(kAccessAttr);
  unsigned operand = 0;
  for (unsigned i = 0; i < argument.getArgNumber(); ++i)
    operand += isa<MemRefType>(kernel.getArgument(i).getType());
  auto text = access && operand < access.size()
                  ? dyn_cast<StringAttr>(access[operand])
                  : StringAttr();
  return text && text.getValue() == "read";
}

static std::optional<TileCopy> matchCopy(func::FuncOp kernel,
                                         vector::TransferWriteOp write,
                                         std::string &reason) {
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return std::nullopt;
  };
  auto read = write.getVector().getDefiningOp<vector::TransferReadOp>();
  if (!read || !read->hasOneUse() || read.getMask() || write.getMask())
    return fail("an operand is computed on its way");
  auto argument = dyn_cast<BlockArgument>(read.getBase());
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      !readsOnly(kernel, argument))
    return fail("an operand is no argument that is only read");
  if (!matchPattern(read.getPadding(), m_AnyZeroFloat()) &&
      !matchPattern(read.getPadding(), m_Zero()))
    return fail("an operand is not filled with zeros at its edges");
  std::optional<Padding> padding = getPadding(argument);
  if (padding && !isZeroFill(padding->fill))
    return fail("an operand is padded with something else than zeros");
  auto tile = cast<MemRefType>(write.getBase().getType());
  AffineMap from = read.getPermutationMap(), to = write.getPermutationMap();
  if (!from.isProjectedPermutation() || !to.isPermutation() ||
      tile.getShape() != ArrayRef<int64_t>(applyPermutationMap(
                             inversePermutation(to),
                             read.getVectorType().getShape())) ||
      write.hasOutOfBoundsDim() ||
      !llvm::all_of(write.getIndices(), [](Value index) {
        return isConstantIntValue(index, 0);
      }))
    return fail("an operand is repeated along a dim");

  TileCopy copy{read, write, {}, SmallVector<bool>(tile.getRank()), 0};
  SmallVector<AffineExpr> dims(tile.getRank());
  for (unsigned dim = 0; dim < from.getNumResults(); ++dim) {
    unsigned position = to.getDimPosition(dim);
    dims[position] = from.getResult(dim);
    copy.inBounds[position] = read.isDimInBounds(dim);
  }
  copy.map = AffineMap::get(from.getNumDims(), 0, dims, kernel.getContext());

  int64_t accessBytes = 16;
  if (TargetAttr target = getTarget(kernel))
    accessBytes = target.getFact("access_bytes", 16);
  // The slot's tile, which is what will be filled.
  auto slots = slottedType(tile, 2);
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)slots.getStridesAndOffset(strides, offset);
  auto slot = MemRefType::get(
      tile.getShape(), tile.getElementType(),
      StridedLayoutAttr::get(kernel.getContext(), 0,
                             ArrayRef<int64_t>(strides).drop_front()),
      tile.getMemorySpace());
  auto runs = findCopyRuns(cast<MemRefType>(argument.getType()),
                           argumentDivisors(kernel, argument, accessBytes),
                           read.getIndices(), copy.map, slot, reason);
  if (!runs) {
    reason = "operand " + std::to_string(argument.getArgNumber()) + ": " + reason;
    return std::nullopt;
  }
  if (padding && runs->length > 1 &&
      padding->constrains(copy.map.getDimPosition(runs->dim)))
    return fail("operand " + std::to_string(argument.getArgNumber()) +
                " is padded along its rows, so that copies of several elements "
                "would begin in front of them");
  copy.bytes = runs->length * tile.getElementTypeBitWidth() / 8;
  return copy;
}

SmallVector<TileCopy> tilewright::findCopies(func::FuncOp kernel,
                                             const LoopParts &parts,
                                             std::string &reason) {
  SmallVector<TileCopy> copies;
  for (vector::TransferWriteOp store : parts.stores)
    if (std::optional<TileCopy> copy = matchCopy(kernel, store, reason))
      copies.push_back(*copy);
  return copies;
}

void tilewright::startCopies(OpBuilder &b, scf::ForOp loop, const LoopParts &parts,
                             ArrayRef<TileCopy> copies,
                             const DenseMap<Value, Value> &slotted, Value k,
                             Value slot) {
  Location loc = loop.getLoc();
  Value live = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, k,
                                     loop.getUpperBound());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), k);
  // What is computed of indices, not of what is loaded.
  llvm::SmallPtrSet<Operation *, 16> loaded;
  for (Operation *op : parts.loads)
    if (!isMemoryEffectFree(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
          return loaded.contains(operand.getDefiningOp());
        }))
      loaded.insert(op);
    else
      b.clone(*op, mapping);
  for (const TileCopy &copy : copies) {
    vector::TransferReadOp read = copy.read;
    vector::TransferWriteOp write = copy.write;
    SmallVector<Value> indices;
    for (Value index : read.getIndices())
      indices.push_back(mapping.lookupOrDefault(index));
    AsyncCopyOp::create(b, loc, read.getBase(), indices,
                        slotOf(b, loc, slotted.lookup(write.getBase()), slot),
                        live, copy.map, b.getBoolArrayAttr(copy.inBounds));
  }
  AsyncCommitOp::create(b, loc);
}
