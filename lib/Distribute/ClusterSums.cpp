// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of sums that the blocks of a cluster have, added up by reduce-scatter: each block
// stores its part in its own shared memory, and adds up a slice of all parts.
//
//   block 0   [ part 0 of rows 0-63 ]      rows  0-15  =  0 + 1 + 2 + 3
//   block 1   [ part 1 of rows 0-63 ]      rows 16-31
//   block 2   [ part 2 of rows 0-63 ]      rows 32-47
//   block 3   [ part 3 of rows 0-63 ]      rows 48-63
//
//   vector.store of all parts
//   cluster_barrier
//   cluster_load %memory[…] block 0, block 1, …      all loads in front of all additions
//   … arith.addf, in the order of blocks
//   cluster_arrive                                   this block has read
//   … what follows the product, stores of results
//   cluster_wait                                     at the kernel's end: all have read
//
// Memory is swizzled as for a conversion between the layout of the sums and that of the
// slices, so that neither side meets in banks.

#include "ThreadCode.h"
#include "tilewright/Layout/Conversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layout;

/// The layout of all slices as one vector, of which each thread has what it has of its slice
/// as often as there are slices.
static FailureOr<DistributedLayout> wholeOf(ClusterScatterOp op,
                                            const DistributedLayout &slice, int64_t parts) {
  DistributedLayout::Shape repeats(slice.rank(), 1);
  repeats[op.getDim()] = parts;
  std::vector<int> order(slice.rank());
  std::iota(order.begin(), order.end(), 0);
  auto whole = DistributedLayout::repeat(slice, repeats, {}, order);
  if (!whole)
    return op.emitOpError() << whole.error();
  return whole->withFirstWarp(slice.firstWarp());
}

LogicalResult ThreadCode::scatterOverCluster(ClusterScatterOp op) {
  Location loc = op.getLoc();
  auto type = dyn_cast<VectorType>(op.getResult().getType());
  int64_t loop = op.getLoop(), dim = op.getDim();
  int64_t parts = loop < int64_t(cluster().size()) ? cluster()[loop] : 1;
  if (parts == 1)
    return op.emitOpError() << "adds up parts along loop " << loop
                            << ", along which there are no clusters";
  FailureOr<DistributedLayout> from = getLayout(op.getValue()), to = getLayout(op.getResult());
  FailureOr<Registers> values = registers(op.getValue());
  if (failed(from) || failed(to) || failed(values))
    return failure();
  int64_t slice = type.getDimSize(dim);
  if (from->shape()[dim] != slice * parts)
    return op.emitOpError() << "takes " << slice << " of " << from->shape()[dim]
                            << " elements along dim " << dim << ", which are not " << parts
                            << " slices";
  FailureOr<DistributedLayout> whole = wholeOf(op, *to, parts);
  if (failed(whole))
    return failure();
  Type element = type.getElementType();
  // Padding would take memory that the ring may need.
  ConversionOptions options;
  options.avoidance = Avoidance::Swizzle;
  auto plan = planSharedTransfer(*from, *whole, int(elementBytes(element) * 8), options);
  if (!plan)
    return op.emitOpError() << plan.error();

  MemView view = scratch(loc, element, plan->layout);
  storeBlock(loc, view, *from, *values, plan->dim, std::max<int64_t>(1, plan->writeElems));
  ClusterBarrierOp::create(b, loc);
  SmallVector<Value> blocks;
  for (int64_t part = 0; part < parts; ++part)
    blocks.push_back(blockAlong(loc, loop, constant(loc, part)));
  Index begin = multiply(loc, multiply(loc, clusterDigit(loc, loop), Index(slice)),
                         view.strides[dim]);
  Index base = add(loc, threadOffset(loc, view, *to), begin);
  SmallVector<Registers> held(parts, Registers(to->numRegisters()));
  for (const std::vector<int64_t> &run :
       to->registerRuns(plan->dim, std::max<int64_t>(1, plan->readElems)).groups) {
    Value place =
        elementOffset(loc, view, registerOffset(loc, view, *to, base, run.front()));
    auto loaded = VectorType::get(int64_t(run.size()), element);
    for (auto [registers, block] : llvm::zip_equal(held, blocks)) {
      Value vector = ClusterLoadOp::create(b, loc, loaded, view.base, place, block);
      for (auto [position, reg] : llvm::enumerate(run))
        registers[reg] = vector::ExtractOp::create(b, loc, vector, int64_t(position));
    }
  }
  Registers sums = held.front();
  for (const Registers &registers : ArrayRef(held).drop_front())
    for (auto [sum, value] : llvm::zip_equal(sums, registers))
      sum = combine(b, loc, vector::CombiningKind::ADD, sum, value);
  // What others have stored here is read; results go to memory meanwhile.
  ClusterArriveOp::create(b, loc);
  define(op.getResult(), sums);
  return success();
}
