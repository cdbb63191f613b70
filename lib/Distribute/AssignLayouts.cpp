// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses a layout for every vector of a kernel in block form.
//
// The algorithm:
//   1. *Propose*, forwards. Every value gets a layout and a strength. Anchors
//      are strong: matrix products (their accumulator), layouts written in the
//      input, then full reads of memory (wide and coalesced). An elementwise op
//      takes the layout of its strongest operand, of two reads that of wider elements;
//      a reduction, a transpose or a broadcast derives its own from its operand. Splats, masks, coordinates
//      and broadcast reads propose nothing: they adapt. A loop's accumulator
//      takes the layout of what the body yields.
//   2. *Resolve*, forwards. Every op that proposed keeps its layout, and each
//      operand is asked for in the layout that the op needs: the definition
//      itself if it has that layout; computed again in that layout if that is
//      cheap; else through `tilewright.convert_layout`, placed right behind the
//      definition.
//   3. Stores take the value as it is if neighbouring lanes then write at least
//      32 adjacent bytes, else they ask for the coalesced layout.
//
//   %a = vector.transfer_read %A…        : vector<64x64xf32>   rows across lanes
//   %t = vector.transpose %a, [1, 0]                            columns across lanes
//   vector.transfer_write %t, %B…
// becomes
//   %t = …   {tilewright.layouts = [#tilewright.layout<"… columns …">]}
//   %c = tilewright.convert_layout %t from … to <rows across lanes>
//   vector.transfer_write %c, %B…

#include "LayoutAssigner.h"
#include "tilewright/Dialect/InPlaceReads.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

bool tilewright::isElementwise(Operation *op) {
  return (OpTrait::hasElementwiseMappableTraits(op) ||
          isa<vector::GatherOp, ClusterReduceOp>(op)) &&
         llvm::any_of(op->getResultTypes(), laidOutType);
}

/// Whether products by instructions, and loops that carry it to them, are all who take
/// `value`.
static bool isForInstructions(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    auto mma = dyn_cast<MmaOp>(user);
    // Rows that lie in boxes.
    if (auto cast = dyn_cast<vector::ShapeCastOp>(user))
      return isForInstructions(cast.getResult());
    return (mma && mma.getInstruction()) || isa<scf::ForOp, scf::YieldOp>(user);
  });
}

bool tilewright::isFragment(vector::TransferReadOp read) {
  auto memory = dyn_cast<MemRefType>(read.getBase().getType());
  return memory && memory.getMemorySpace() &&
         isForInstructions(read);
}

/// Whether `value` is all for operands of warpgroups' products, computed element by
/// element on its way there.
static bool isForWarpgroups(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    if (auto mma = dyn_cast<MmaOp>(user))
      return mma.getInstruction() && mma.getInstruction()->starts_with("wgmma");
    return (isElementwise(user) || isa<vector::InterleaveOp, vector::ShapeCastOp>(user)) &&
           isForWarpgroups(user->getResult(0));
  });
}

/// What a warpgroup computes its operand from is read as the operand lies in registers.
static bool isFromStage(vector::TransferReadOp read) {
  auto memory = dyn_cast<MemRefType>(read.getBase().getType());
  return memory && memory.getMemorySpace() && isForWarpgroups(read);
}

/// The most bytes of `read` that a thread reads at once where an operand of a product is
/// computed from them. Of what goes to shared memory a thread stores 16 bytes at once,
/// as copies do, which is what rows are swizzled for. Of a skinny product each element
/// has a sum of its own, eight of which are enough. A byte may be two elements.
static int64_t computedBytes(Value read, bool isSkinny) {
  constexpr int64_t kSums = 8, kStored = 16;
  int64_t elements = 0;
  bool packed = false;
  SmallVector<Value> values{read};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!values.empty()) {
    for (Operation *user : values.pop_back_val().getUsers()) {
      packed |= isa<vector::InterleaveOp>(user);
      if (isSkinny && isa<arith::SIToFPOp, arith::UIToFPOp>(user))
        elements = kSums;
      if (auto write = dyn_cast<vector::TransferWriteOp>(user);
          write && cast<MemRefType>(write.getBase().getType()).getMemorySpace())
        elements = kStored / elementBytes(write.getVectorType().getElementType());
      if ((isElementwise(user) || isa<vector::InterleaveOp>(user)) &&
          seen.insert(user).second)
        values.push_back(user->getResult(0));
    }
  }
  int64_t bytes = elementBytes(cast<VectorType>(read.getType()).getElementType());
  if (!elements && !packed)
    return kStored;
  elements = elements ? elements : kSums;
  return std::max<int64_t>(bytes, packed ? elements / 2 : elements * bytes);
}

/// Bytes of an element of the slice of a cluster's sums with which `read` is combined, element
/// by element; 0 where there is none.
static int64_t sliceBytesBeside(Value read) {
  SmallVector<Value> work{read};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (next.getDefiningOp<ClusterScatterOp>())
      return elementBytes(getElementTypeOrSelf(next.getType()));
    SmallVector<Operation *> ops(next.getUsers());
    if (Operation *producer = next.getDefiningOp())
      ops.push_back(producer);
    for (Operation *op : ops) {
      if (!isElementwise(op) || !seen.insert(op).second)
        continue;
      work.push_back(op->getResult(0));
      llvm::append_range(work, op->getOperands());
    }
  }
  return 0;
}

static std::vector<int> asInts(ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

FailureOr<DistributedLayout> LayoutAssigner::naturalLayout(VectorType type,
                                                           AffineMap map) {
  return accessLayout(type, map, accessBytes, threads);
}

/// Lanes whose elements, of a byte or more, are side by side as stores want them.
static constexpr int64_t kAdjacentLanes = 32;

/// What is known of where rows begin that a reduction reads. Of those that begin anywhere
/// neighbours are for neighbouring lanes, each one by itself: runs would be read element by
/// element, and each time all lanes' lie apart.
static void findAligned(func::FuncOp kernel, int64_t accessBytes,
                        std::map<SmallVector<int64_t>, int64_t> &aligned) {
  kernel.walk([&](vector::TransferReadOp read) {
    auto argument = dyn_cast<BlockArgument>(read.getBase());
    if (!argument || argument.getOwner() != &kernel.getBody().front() ||
        read.hasBroadcastDim() || read.getVectorType().getRank() == 0)
      return;
    BufferDivisors divisors = argumentDivisors(kernel, argument, accessBytes);
    int64_t elements = divisors.offset;
    for (int64_t stride : ArrayRef(divisors.strides).drop_back())
      elements = std::gcd(elements, stride);
    auto [known, isNew] =
        aligned.try_emplace(llvm::to_vector(read.getVectorType().getShape()), elements);
    known->second = std::gcd(known->second, elements);
  });
}

LogicalResult LayoutAssigner::run() {
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!launch)
    return kernel.emitError() << "kernel has no '" << kLaunchAttr
                              << "', from which the number of warps is read";
  threads.lanes = launch.getSubgroup();
  threads.warps = launch.getThreads() / launch.getSubgroup();
  if (TargetAttr target = getTarget(kernel))
    accessBytes = target.getFact("access_bytes", 16);
  if (auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
      config && config.getStrategy() == Strategy::Reduction &&
      threads.lanes >= kAdjacentLanes)
    findAligned(kernel, accessBytes, aligned);
  if (failed(propose(kernel.getBody().front())) ||
      failed(resolve(kernel.getBody().front())))
    return failure();
  // Cheap values that nobody asked for in their original form.
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// 1. Propose
//===----------------------------------------------------------------------===//

LogicalResult LayoutAssigner::propose(Block &block) {
  for (Operation &op : block)
    if (failed(propose(&op)))
      return failure();
  return success();
}

/// Elements along the fastest dim that a thread of `layout` has side by side.
static int64_t runLength(const DistributedLayout &layout) {
  int64_t rank = layout.shape().size();
  return rank == 0 || layout.isOpaque() ? 1 : layout.contiguity(rank - 1);
}

auto LayoutAssigner::strongestOperand(Operation *op) -> const Proposal * {
  const Proposal *best = nullptr;
  for (Value operand : op->getOperands()) {
    auto it = proposals.find(operand);
    if (it == proposals.end() || it->second.strength == None)
      continue;
    const Proposal &other = it->second;
    // Of two reads the one of wider elements: in runs that are whole words of bytes, too, as bytes
    // of a mask are, whose longer runs would take the other apart.
    if (!best || other.strength > best->strength ||
        (other.strength == Read && best->strength == Read &&
         other.layout.shape() == best->layout.shape() &&
         runLength(other.layout) < runLength(best->layout)))
      best = &other;
  }
  return best;
}

LogicalResult LayoutAssigner::proposeProduct(MmaOp mma) {
  if (!mma.getInstruction()) {
    auto layout = simtAccumulator(mma, threads);
    if (failed(layout))
      return failure();
    offer(mma.getResult(), *layout, Matrix);
    return success();
  }
  auto layouts = instructionLayouts(mma, threads);
  if (failed(layouts))
    return failure();
  opaque |= layouts->acc.isOpaque();
  offer(mma.getResult(), layouts->acc, Matrix);
  // What a loop carries to the product has no layout of its own.
  for (auto [operand, layout] :
       {std::pair(mma.getA(), layouts->a), std::pair(mma.getB(), layouts->b)})
    if (isa<BlockArgument>(operand) && laidOutType(operand.getType()))
      offer(operand, layout, Matrix);
  return success();
}

LogicalResult LayoutAssigner::proposeRead(vector::TransferReadOp read) {
  Value result = read.getVector();
  VectorType type = laidOutType(result.getType());
  // These adapt to their users.
  if (!type || read.hasBroadcastDim() || isFragment(read) || isFromStage(read) ||
      read->hasAttr(kReadInPlaceAttr))
    return success();
  bool isOperand = traitsOf(getConfig(read)).sharesSums;
  // On its way to shared memory and nowhere else?
  auto staging = result.hasOneUse()
                     ? dyn_cast<vector::TransferWriteOp>(*result.user_begin())
                     : vector::TransferWriteOp();
  AffineMap map = read.getPermutationMap();
  int64_t bytes = staging ? accessBytes
                          : std::min(accessBytes, computedBytes(result, isOperand));
  if (auto known = aligned.find(llvm::to_vector(type.getShape())); known != aligned.end())
    bytes = std::min(bytes, std::gcd(known->second, accessBytes) *
                                elementBytes(type.getElementType()));
  // As many neighbours as the slice has that it is combined with.
  if (int64_t sums = sliceBytesBeside(result))
    bytes = std::min(bytes, accessBytes * elementBytes(type.getElementType()) / sums);
  auto layout = isOperand ? operandLayout(type, map, bytes, threads)
                : staging ? stagingLayout(staging, map, accessBytes, threads)
                          : accessLayout(type, map, bytes, threads);
  if (failed(layout))
    return read.emitOpError() << "has no coalesced layout for " << type;
  offer(result, *layout, Read);
  return success();
}

LogicalResult LayoutAssigner::proposeReduction(vector::MultiDimReductionOp reduction) {
  Value source = reduction.getSource(), result = reduction.getDest();
  if (proposals[source].strength == None) {
    auto type = cast<VectorType>(source.getType());
    auto layout = naturalLayout(
        type, AffineMap::getMultiDimIdentityMap(type.getRank(), reduction.getContext()));
    if (failed(layout))
      return reduction.emitOpError() << "has no layout for its source";
    offer(source, *layout, Read);
  }
  if (laidOutType(result.getType()))
    offer(result,
          reduceDims(plainLayout(proposals[source].layout), reduction.getReductionDims()),
          Reduced);
  return success();
}

void LayoutAssigner::proposeDerived(Operation *op) {
  if (auto wait = dyn_cast<MmaWaitOp>(op)) {
    for (auto [value, done] : llvm::zip_equal(wait.getValues(), wait.getResults()))
      if (auto it = proposals.find(value); it != proposals.end()) {
        Proposal copy = it->second;
        offer(done, plainLayout(copy.layout), copy.strength);
      }
    return;
  }
  const Proposal *strongest = strongestOperand(op);
  if (!strongest)
    return;
  // A copy: an offer may move the map's elements.
  Proposal source = *strongest;
  Value result = op->getResult(0);
  VectorType type = laidOutType(result.getType());
  auto offerIfAny = [&](FailureOr<DistributedLayout> layout, Strength strength) {
    if (succeeded(layout))
      offer(result, *layout, strength);
  };
  if (auto transpose = dyn_cast<vector::TransposeOp>(op))
    offer(result,
          plainLayout(source.layout).transpose(asInts(transpose.getPermutation())),
          source.strength);
  else if (isa<vector::BroadcastOp>(op)) {
    // The larger operand of a skinny product; all else adapts.
    if (traitsOf(getConfig(op)).sharesSums && source.strength == Read)
      offerIfAny(broadcastInRegisters(source.layout, type), Repeated);
  } else if (isa<vector::ShapeCastOp>(op))
    offerIfAny(castShape(plainLayout(source.layout), type.getShape()), source.strength);
  else if (isa<vector::InterleaveOp>(op))
    offerIfAny(interleaved(plainLayout(source.layout)), source.strength);
  else if (isElementwise(op))
    offer(result, plainLayout(source.layout), source.strength);
}

LogicalResult LayoutAssigner::proposePinned(Operation *op) {
  for (OpResult result : op->getResults())
    if (laidOutType(result.getType())) {
      auto layout = getLayout(result);
      if (failed(layout))
        return failure();
      offer(result, *layout, Pinned);
    }
  return success();
}

LogicalResult LayoutAssigner::propose(Operation *op) {
  if (op->hasAttrOfType<ArrayAttr>(kLayoutsAttr)) {
    if (failed(proposePinned(op)))
      return failure();
    if (!isa<scf::ForOp, scf::IfOp>(op))
      return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return proposeFor(loop);
  if (auto warps = dyn_cast<WarpsOp>(op)) {
    ThreadRange outer = threads;
    threads.firstWarp = warps.getFirst();
    threads.warps = warps.getCount();
    LogicalResult result = propose(warps.getBody().front());
    threads = outer;
    return result;
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(propose(block)))
        return failure();
  if (op->getNumResults() == 0)
    return success();
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return proposeIf(branch);
  if (auto mma = dyn_cast<MmaOp>(op))
    return proposeProduct(mma);
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    return proposeRead(read);
  if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op))
    return proposeReduction(reduction);
  Value result = op->getResult(0);
  VectorType type = laidOutType(result.getType());
  if (isa<ClusterScatterOp>(op)) {
    auto layout = naturalLayout(
        type, AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext()));
    if (failed(layout))
      return op->emitOpError() << "has no coalesced layout for " << type;
    offer(result, *layout, Reduced);
    return success();
  }
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    auto layout = DistributedLayout::parse(
        std::string(convert.getTo().getText()),
        std::vector<int64_t>(type.getShape().begin(), type.getShape().end()));
    if (!layout)
      return op->emitOpError() << layout.error();
    offer(result, *layout, Pinned);
    return success();
  }
  proposeDerived(op);
  return success();
}

LogicalResult LayoutAssigner::proposeFor(scf::ForOp loop) {
  auto yields = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto link = [&](Value from, Value to) {
    auto it = proposals.find(from);
    if (it == proposals.end() || it->second.strength == None)
      return;
    Proposal copy = it->second;
    offer(to, copy.layout, copy.strength);
  };
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
    link(init, argument);
  // Twice: the second time with what the first one found the body to yield.
  for (int round = 0; round < 2; ++round) {
    if (failed(propose(*loop.getBody())))
      return failure();
    for (auto [yielded, argument] :
         llvm::zip_equal(yields.getOperands(), loop.getRegionIterArgs()))
      link(yielded, argument);
  }
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    if (VectorType type = laidOutType(argument.getType());
        type && proposals[argument].strength == None) {
      auto layout = naturalLayout(
          type, AffineMap::getMultiDimIdentityMap(type.getRank(),
                                                  loop.getContext()));
      if (failed(layout))
        return loop.emitOpError() << "carries a vector without a layout";
      offer(argument, *layout, Read);
    }
    link(argument, result);
  }
  return success();
}

/// A result takes the stronger layout of the two that the branches yield.
LogicalResult LayoutAssigner::proposeIf(scf::IfOp branch) {
  if (!branch.getNumResults())
    return success();
  for (auto [result, one, other] : llvm::zip_equal(
           branch.getResults(), branch.thenYield().getOperands(),
           branch.elseYield().getOperands())) {
    VectorType type = laidOutType(result.getType());
    if (!type)
      continue;
    Proposal best;
    for (Value value : {one, other})
      if (auto it = proposals.find(value);
          it != proposals.end() && it->second.strength > best.strength)
        best = it->second;
    if (best.strength == None)
      return branch.emitOpError() << "chooses between vectors without a layout";
    offer(result, plainLayout(best.layout), best.strength);
  }
  return success();
}

LogicalResult tilewright::assignLayouts(func::FuncOp kernel) {
  return LayoutAssigner(kernel).run();
}
