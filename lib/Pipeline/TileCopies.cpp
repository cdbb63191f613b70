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

#include <numeric>

using namespace mlir;
using namespace tilewright;

/// Of a slice that keeps all dims, with unit strides.
static BufferDivisors sliceDivisors(memref::SubViewOp slice, BufferDivisors divisors) {
  for (auto [dim, offset, size] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes())) {
    int64_t divisor = knownDivisor(offset), stride = divisors.strides[dim];
    divisors.offset = std::gcd(divisors.offset, divisor >= kAnyDivisor / stride
                                                    ? kAnyDivisor
                                                    : divisor * stride);
    divisors.sizes[dim] = knownDivisor(size);
  }
  return divisors;
}

static OrRefusal<TileCopy> matchCopy(func::FuncOp kernel, vector::TransferWriteOp write) {
  auto read = write.getVector().getDefiningOp<vector::TransferReadOp>();
  if (!read || !read->hasOneUse() || read.getMask() || write.getMask())
    return refuse(Refused::Neighbours, "an operand is computed on its way");
  auto slice = read.getBase().getDefiningOp<memref::SubViewOp>();
  auto argument = dyn_cast<BlockArgument>(slice ? slice.getSource() : read.getBase());
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      !isReadOnly(kernel, argument))
    return refuse(Refused::Layout, "an operand is no argument that is only read");
  if (!matchPattern(read.getPadding(), m_AnyZeroFloat()) &&
      !matchPattern(read.getPadding(), m_Zero()))
    return refuse(Refused::Numerics, "an operand is not filled with zeros at its edges");
  std::optional<Padding> padding = getPadding(argument);
  if (padding && !isZeroFill(padding->fill))
    return refuse(Refused::Numerics, "an operand is padded with something else than zeros");
  auto tile = cast<MemRefType>(write.getBase().getType());
  AffineMap from = read.getPermutationMap(), to = write.getPermutationMap();
  SmallVector<int64_t> offsets;
  for (Value index : write.getIndices())
    if (std::optional<int64_t> known = getConstantIntValue(index))
      offsets.push_back(*known);
  if (!from.isProjectedPermutation() || !to.isPermutation() || write.hasOutOfBoundsDim() ||
      int64_t(offsets.size()) != tile.getRank())
    return refuse(Refused::Layout, "an operand is repeated along a dim");

  TileCopy copy{read, write, {}, SmallVector<bool>(tile.getRank()), offsets,
                applyPermutationMap(inversePermutation(to), read.getVectorType().getShape()),
                0};
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
  // The stage's tile, which is what will be filled.
  auto stages = stagedType(tile, 2);
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)stages.getStridesAndOffset(strides, offset);
  auto stage = MemRefType::get(
      copy.shape, tile.getElementType(),
      StridedLayoutAttr::get(kernel.getContext(), 0,
                             ArrayRef<int64_t>(strides).drop_front()),
      tile.getMemorySpace());
  BufferDivisors divisors = argumentDivisors(kernel, argument, accessBytes);
  if (slice)
    divisors = sliceDivisors(slice, divisors);
  auto runs = findCopyRuns(cast<MemRefType>(read.getBase().getType()), divisors, read.getIndices(),
                           copy.map, stage);
  if (!runs)
    return runs.why().after("operand " + Twine(argument.getArgNumber()) + ": ");
  if (padding && runs->length > 1 &&
      padding->constrains(copy.map.getDimPosition(runs->dim)))
    return refuse(Refused::Alignment,
                  "operand " + std::to_string(argument.getArgNumber()) +
                      " is padded along its rows, so that copies of several elements "
                      "would begin in front of them");
  copy.bytes = runs->length * tile.getElementTypeBitWidth() / 8;
  return copy;
}

FoundCopies tilewright::findCopies(func::FuncOp kernel, const LoopParts &parts) {
  FoundCopies found;
  for (vector::TransferWriteOp store : parts.stores)
    if (OrRefusal<TileCopy> copy = matchCopy(kernel, store))
      found.copies.push_back(*copy);
    else
      found.other = copy.why();
  return found;
}

static SmallVector<OpFoldResult> toAttrs(OpBuilder &b, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> OpFoldResult {
    return b.getIndexAttr(value);
  });
}

void tilewright::startCopies(OpBuilder &b, scf::ForOp loop, const LoopParts &parts,
                             ArrayRef<TileCopy> copies,
                             const DenseMap<Value, Value> &staged, Value k,
                             Value stage) {
  Location loc = loop.getLoc();
  Value live = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, k,
                                     loop.getUpperBound());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), k);
  // What says where a copy is from. Numbers that are loaded for that are there only where
  // the step is.
  llvm::SmallPtrSet<Operation *, 16> places;
  SmallVector<Value> values;
  for (TileCopy copy : copies) {
    llvm::append_range(values, copy.read.getIndices());
    values.push_back(copy.read.getBase());
  }
  while (!values.empty())
    if (Operation *op = values.pop_back_val().getDefiningOp();
        op && op->getParentOp() == loop && places.insert(op).second)
      llvm::append_range(values, op->getOperands());
  for (Operation *op : parts.loads) {
    if (!places.contains(op))
      continue;
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load) {
      b.clone(*op, mapping);
      continue;
    }
    auto branch = scf::IfOp::create(b, loc, load.getType(), live, /*withElseRegion=*/true);
    OpBuilder inside = branch.getThenBodyBuilder(), outside = branch.getElseBodyBuilder();
    scf::YieldOp::create(inside, loc, inside.clone(*op, mapping)->getResults());
    Value none = arith::ConstantOp::create(outside, loc, outside.getZeroAttr(load.getType()));
    scf::YieldOp::create(outside, loc, none);
    mapping.map(load.getResult(), branch.getResult(0));
  }
  for (const TileCopy &copy : copies) {
    vector::TransferReadOp read = copy.read;
    vector::TransferWriteOp write = copy.write;
    SmallVector<Value> indices;
    for (Value index : read.getIndices())
      indices.push_back(mapping.lookupOrDefault(index));
    Value tile = stageOf(b, loc, staged.lookup(write.getBase()), stage);
    if (cast<MemRefType>(tile.getType()).getShape() != ArrayRef<int64_t>(copy.shape))
      tile = memref::SubViewOp::create(b, loc, tile, toAttrs(b, copy.offsets),
                                       toAttrs(b, copy.shape),
                                       toAttrs(b, SmallVector<int64_t>(copy.shape.size(), 1)));
    AsyncCopyOp::create(b, loc, mapping.lookupOrDefault(read.getBase()), indices, tile,
                        live, copy.map, b.getBoolArrayAttr(copy.inBounds));
  }
  AsyncCommitOp::create(b, loc);
}
