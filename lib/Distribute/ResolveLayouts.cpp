// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second half of assign-layouts: every op that proposed a layout keeps it, and
// operands are brought into the layouts that their uses need.

#include "LayoutAssigner.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Strategies.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

/// A fragment that the instruction reads itself.
static bool isOpaqueRead(Value value) {
  auto read = value.getDefiningOp<vector::TransferReadOp>();
  return read && isFragment(read);
}

/// Sums of warpgroups fill whole sectors of memory, if not by neighbouring lanes.
static bool isForWarpgroups(Operation *op) {
  LoweringConfigAttr config = getConfig(op);
  return config && config.isForWarpgroups();
}

static SmallVector<int> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int> result(permutation.size());
  for (auto [position, dim] : llvm::enumerate(permutation))
    result[dim] = position;
  return result;
}

void LayoutAssigner::write(Operation *op, ArrayRef<DistributedLayout> layouts) {
  SmallVector<Attribute> attrs;
  for (const DistributedLayout &layout : layouts)
    attrs.push_back(toAttr(op->getContext(), layout));
  op->setAttr(kLayoutsAttr, ArrayAttr::get(op->getContext(), attrs));
}

/// Computing these again costs less than moving data between lanes.
bool LayoutAssigner::isCheap(Operation *op) {
  if (matchPattern(op, m_Constant()) ||
      isa<vector::CreateMaskOp, vector::ConstantMaskOp, vector::StepOp,
          vector::BroadcastOp>(op))
    return true;
  // Whose only use has the layout of the sums.
  if (isa<TileLoadOp>(op))
    return true;
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    // The copy stands beside the read and sees the same memory; a second read
    // of an address hits the cache.
    auto memref = dyn_cast<MemRefType>(read.getBase().getType());
    if (proposals[read.getResult()].strength == None)
      return true;
    return memref && (!memref.getMemorySpace() || isFragment(read));
  }
  if (isa<ClusterReduceOp>(op))
    return false;
  if (!isElementwise(op) &&
      !isa<vector::ShapeCastOp, vector::TransposeOp, vector::InterleaveOp>(op))
    return false;
  if (proposals[op->getResult(0)].strength == None)
    return true;
  // An operand of a skinny product that is computed from what was read.
  LoweringConfigAttr config = getConfig(op);
  return traitsOf(config).sharesSums && isElementwise(op) &&
         proposals[op->getResult(0)].strength <= Read &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !laidOutType(operand.getType()) ||
                  (operand.getDefiningOp() && isCheap(operand.getDefiningOp()));
         });
}

FailureOr<Value> LayoutAssigner::inLayout(Value value, DistributedLayout layout) {
  auto it = settled.find(value);
  if (it != settled.end() && it->second == layout)
    return value;
  std::string text = layout.print();
  for (auto &[known, version] : versions[value])
    if (known == text)
      return version;
  // Opaque layouts are reached from their plain ones, and left to them.
  std::optional<DistributedLayout> between;
  if (layout.isOpaque() && !isSplat(value) && !isOpaqueRead(value))
    between = plainLayout(layout);
  else if (it != settled.end() && it->second.isOpaque() &&
           plainLayout(it->second) != layout)
    between = plainLayout(it->second);
  if (between) {
    FailureOr<Value> plain = inLayout(value, *between);
    if (failed(plain))
      return failure();
    FailureOr<Value> result =
        layout.isOpaque() ? convert(*plain, layout) : inLayout(*plain, layout);
    if (succeeded(result))
      versions[value].push_back({text, *result});
    return result;
  }

  Operation *op = value.getDefiningOp();
  Value result;
  if (op && isCheap(op)) {
    bool unsettled = it == settled.end();
    // A wide read is only repeated where it stays reasonably wide.
    auto read = dyn_cast<vector::TransferReadOp>(op);
    bool repeat = true;
    if (read && !read.hasBroadcastDim() && !unsettled) {
      auto type = cast<VectorType>(value.getType());
      unsigned last = read.getPermutationMap().getNumDims() - 1;
      int dim = -1;
      for (auto [position, expr] :
           llvm::enumerate(read.getPermutationMap().getResults()))
        if (auto memory = dyn_cast<AffineDimExpr>(expr);
            memory && memory.getPosition() == last)
          dim = position;
      repeat = opaque ||
               (dim >= 0 && contiguousBytes(layout, dim,
                                           elementBytes(type.getElementType()),
                                           isForWarpgroups(op)) >= 32);
    }
    if (repeat) {
      OpBuilder builder(op);
      builder.setInsertionPointAfter(op);
      Operation *copy = unsettled && !op->hasAttr(kLayoutsAttr)
                            ? op
                            : builder.clone(*op);
      copy->removeAttr(kLayoutsAttr);
      result = copy->getResult(0);
      settled[result] = layout;
      proposals[result] = {layout, proposals[value].strength};
      write(copy, {layout});
      if (failed(settleOperands(copy)))
        return failure();
    }
  }
  if (!result) {
    if (it == settled.end())
      return emitError(value.getLoc())
             << "vector " << value.getType() << " has no layout to convert from";
    result = convert(value, layout);
  }
  versions[value].push_back({text, result});
  return result;
}

/// `value`, which is settled, converted to another layout: behind the waits and barriers
/// that close a loop's ring, whose memory is free then.
Value LayoutAssigner::convert(Value value, DistributedLayout layout) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Block *block = builder.getInsertionBlock();
  while (builder.getInsertionPoint() != block->end() &&
         isa<AsyncWaitOp, gpu::BarrierOp>(*builder.getInsertionPoint()))
    builder.setInsertionPointAfter(&*builder.getInsertionPoint());
  MLIRContext *context = value.getContext();
  auto convert = ConvertLayoutOp::create(
      builder, value.getLoc(), value.getType(), value,
      toAttr(context, settled.find(value)->second), toAttr(context, layout));
  write(convert, {layout});
  settled[convert.getResult()] = layout;
  return convert.getResult();
}

LogicalResult LayoutAssigner::resolve(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(resolve(op)))
      return failure();
  return success();
}

LogicalResult LayoutAssigner::resolve(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    SmallVector<DistributedLayout> layouts;
    for (auto [init, argument, result] :
         llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs(),
                         loop.getResults())) {
      if (!laidOutType(argument.getType()))
        continue;
      DistributedLayout layout = proposals[argument].layout;
      layouts.push_back(layout);
      settled[argument] = layout;
      settled[result] = layout;
      if (failed(useInLayout(init, layout)))
        return failure();
    }
    if (!layouts.empty())
      write(op, layouts);
    if (failed(resolve(*loop.getBody())))
      return failure();
    auto yields = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [yielded, argument] : llvm::zip_equal(
             yields->getOpOperands(), loop.getRegionIterArgs()))
      if (laidOutType(argument.getType()) &&
          failed(useInLayout(yielded, settled.find(argument)->second)))
        return failure();
    return success();
  }
  if (auto warps = dyn_cast<WarpsOp>(op)) {
    ThreadRange outer = threads;
    threads.firstWarp = warps.getFirst();
    threads.warps = warps.getCount();
    LogicalResult result = resolve(warps.getBody().front());
    threads = outer;
    return result;
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(resolve(block)))
        return failure();
  SmallVector<DistributedLayout> layouts;
  for (Value result : op->getResults())
    if (laidOutType(result.getType())) {
      const Proposal &proposal = proposals[result];
      // Adapts: waits until a use asks.
      if (proposal.strength == None)
        return success();
      settled[result] = proposal.layout;
      layouts.push_back(proposal.layout);
    }
  if (!layouts.empty())
    write(op, layouts);
  return settleOperands(op);
}

/// As the value comes if neighbouring lanes then write whole sectors, else coalesced.
LogicalResult LayoutAssigner::settleStore(vector::TransferWriteOp store) {
  VectorType type = laidOutType(store.getVector().getType());
  if (!type)
    return success();
  if (auto pinned = store->getAttrOfType<ArrayAttr>(kLayoutsAttr)) {
    auto attr = pinned.size() == 1 ? dyn_cast<LayoutAttr>(pinned[0])
                                   : LayoutAttr();
    if (!attr)
      return store.emitOpError() << "needs one layout for what it writes";
    auto parsed = DistributedLayout::parse(
        std::string(attr.getText()),
        {type.getShape().begin(), type.getShape().end()});
    if (!parsed)
      return store.emitOpError() << parsed.error();
    return useInLayout(store.getValueToStoreMutable(), *parsed);
  }
  auto natural = naturalLayout(type, store.getPermutationMap());
  if (failed(natural))
    return store.emitOpError() << "has no coalesced layout for " << type;
  DistributedLayout layout = *natural;
  if (auto it = settled.find(store.getVector()); it != settled.end()) {
    auto memref = cast<MemRefType>(store.getBase().getType());
    AffineMap map = store.getPermutationMap();
    int dim = -1;
    for (auto [position, expr] : llvm::enumerate(map.getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == map.getNumDims() - 1)
        dim = position;
    int64_t bytes = elementBytes(type.getElementType());
    int64_t wanted = std::min<int64_t>(
        32, dim < 0 ? 0 : contiguousBytes(*natural, dim, bytes));
    if (it->second.isOpaque())
      layout = plainLayout(it->second);
    else if (opaque || memref.getMemorySpace() || dim < 0 ||
             contiguousBytes(it->second, dim, bytes, isForWarpgroups(store)) >= wanted)
      layout = it->second;
  }
  if (failed(useInLayout(store.getValueToStoreMutable(), layout)))
    return failure();
  if (!store.getMask())
    return success();
  OpOperand &mask = *store.getMaskMutable().begin();
  return useInLayout(mask, layout);
}

LogicalResult LayoutAssigner::settleProduct(MmaOp mma, const DistributedLayout &layout) {
  if (mma.getInstruction()) {
    auto layouts = instructionLayouts(mma, threads);
    if (failed(layouts))
      return failure();
    if (laidOutType(mma.getA().getType()) &&
        failed(useInLayout(mma.getAMutable(), layouts->a)))
      return failure();
    if (laidOutType(mma.getB().getType()) &&
        failed(useInLayout(mma.getBMutable(), layouts->b)))
      return failure();
  } else if (laidOutType(mma.getA().getType()) ||
             laidOutType(mma.getB().getType())) {
    return mma.emitOpError()
           << "multiplies by FMA, which takes operands from shared memory; "
              "add the operand to 'promote' in the lowering config";
  }
  return useInLayout(mma.getAccMutable(), layout);
}

LogicalResult LayoutAssigner::settleMoved(Operation *op, const DistributedLayout &layout) {
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    auto from = DistributedLayout::parse(
        std::string(convert.getFrom().getText()), layout.shape());
    if (!from)
      return op->emitOpError() << from.error();
    return useInLayout(convert.getSourceMutable(), *from);
  }
  if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    SmallVector<int> back = inverse(transpose.getPermutation());
    return useInLayout(transpose.getVectorMutable(),
                       layout.transpose({back.begin(), back.end()}));
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    VectorType source = laidOutType(broadcast.getSourceType());
    return source ? useInLayout(broadcast.getSourceMutable(),
                                broadcastSource(layout, source))
                  : success();
  }
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    VectorType source = laidOutType(cast.getSource().getType());
    if (!source)
      return success();
    auto needed = castShape(layout, source.getShape());
    if (failed(needed))
      return op->emitOpError() << "parts what a thread holds together";
    return useInLayout(cast.getSourceMutable(), *needed);
  }
  auto interleave = cast<vector::InterleaveOp>(op);
  auto half = halfOf(layout);
  if (failed(half))
    return op->emitOpError() << "has pairs that are no neighbours in registers";
  return failure(failed(useInLayout(interleave.getLhsMutable(), *half)) ||
                 failed(useInLayout(interleave.getRhsMutable(), *half)));
}

LogicalResult LayoutAssigner::settleOperands(Operation *op) {
  if (auto store = dyn_cast<vector::TransferWriteOp>(op))
    return settleStore(store);
  if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op)) {
    const DistributedLayout source =
        plainLayout(proposals[reduction.getSource()].layout);
    if (failed(useInLayout(reduction.getSourceMutable(), source)))
      return failure();
    if (!laidOutType(reduction.getAcc().getType()))
      return success();
    return useInLayout(reduction.getAccMutable(),
                       reduceDims(source, reduction.getReductionDims()));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (!branch.getNumResults())
      return success();
    for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
      for (auto [value, result] :
           llvm::zip(yield->getOpOperands(), branch.getResults()))
        if (laidOutType(result.getType()) &&
            failed(useInLayout(value, settled.find(result)->second)))
          return failure();
    return success();
  }
  if (auto wait = dyn_cast<MmaWaitOp>(op)) {
    for (auto [value, done] : llvm::zip_equal(wait.getValuesMutable(), wait.getResults()))
      if (auto it = settled.find(done);
          it != settled.end() && failed(useInLayout(value, it->second)))
        return failure();
    return success();
  }
  // Takes the sums as they are: it goes through memory anyway.
  if (op->getNumResults() == 0 || !laidOutType(op->getResult(0).getType()) ||
      isa<ClusterScatterOp>(op))
    return success();
  DistributedLayout layout = settled.find(op->getResult(0))->second;
  if (auto mma = dyn_cast<MmaOp>(op))
    return settleProduct(mma, layout);
  if (isa<ConvertLayoutOp, vector::TransposeOp, vector::BroadcastOp, vector::ShapeCastOp,
          vector::InterleaveOp>(op))
    return settleMoved(op, layout);
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    if (!read.getMask())
      return success();
    if (!read.getPermutationMap().isMinorIdentity())
      return op->emitOpError() << "has a mask and a permutation";
    return useInLayout(*read.getMaskMutable().begin(), layout);
  }
  for (OpOperand &operand : op->getOpOperands())
    if (laidOutType(operand.get().getType()) &&
        failed(useInLayout(operand, layout)))
      return failure();
  return success();
}
