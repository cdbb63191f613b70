// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses a layout for every vector of a kernel in block form.
//
// The algorithm:
//   1. *Propose*, forwards. Every value gets a layout and a strength. Anchors
//      are strong: matrix products (their accumulator), layouts written in the
//      input, then full reads of memory (wide and coalesced). An elementwise op
//      takes the layout of its strongest operand; a reduction, a transpose or a
//      broadcast derives its own from its operand. Splats, masks, coordinates
//      and broadcast reads propose nothing: they adapt. A loop's accumulator
//      takes the layout of what the body yields.
//   2. *Settle*, forwards. Every op that proposed keeps its layout, and each
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

#include "LayoutRules.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace {

enum Strength {
  None = 0,
  Repeated = 1,
  Read = 2,
  Reduced = 3,
  Matrix = 4,
  Pinned = 5
};

struct Proposal {
  DistributedLayout layout;
  Strength strength = None;
};

class LayoutAssigner {
public:
  explicit LayoutAssigner(func::FuncOp kernel) : kernel(kernel) {}
  LogicalResult run();

private:
  LogicalResult propose(Block &block);
  LogicalResult propose(Operation *op);
  LogicalResult proposeFor(scf::ForOp loop);
  /// Keeps the stronger of the old and the new proposal.
  void offer(Value value, const DistributedLayout &layout, Strength strength) {
    Proposal &old = proposals[value];
    if (strength > old.strength)
      old = {layout, strength};
  }
  /// The strongest proposal among the vector operands, or null.
  const Proposal *strongestOperand(Operation *op);
  bool staysOpaque(Operation *op);

  LogicalResult settle(Block &block);
  LogicalResult settle(Operation *op);
  /// Layouts that `op` needs its vector operands in (null: as they come).
  LogicalResult settleOperands(Operation *op);
  FailureOr<Value> inLayout(Value value, const DistributedLayout &layout);
  Value convert(Value value, const DistributedLayout &layout);
  LogicalResult useInLayout(OpOperand &operand,
                            const DistributedLayout &layout) {
    FailureOr<Value> value = inLayout(operand.get(), layout);
    if (succeeded(value))
      operand.set(*value);
    return success(succeeded(value));
  }
  bool isCheap(Operation *op);
  void write(Operation *op, ArrayRef<DistributedLayout> layouts);
  FailureOr<DistributedLayout> naturalLayout(VectorType type, AffineMap map);

  func::FuncOp kernel;
  ThreadRange threads;
  int64_t accessBytes = 16;
  bool opaque = false; // the kernel has opaque fragments
  DenseMap<Value, Proposal> proposals;
  /// Layouts that values ended up with.
  DenseMap<Value, DistributedLayout> settled;
  DenseMap<Value, SmallVector<std::pair<std::string, Value>>> versions;
};

} // namespace

static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::any_of(op->getResultTypes(), laidOutType);
}

/// An operand of a matrix instruction out of shared memory, multiplied at once or
/// in the next iteration of a loop.
static bool isFragment(vector::TransferReadOp read) {
  auto memory = dyn_cast<MemRefType>(read.getBase().getType());
  return memory && memory.getMemorySpace() &&
         llvm::all_of(read->getUsers(), [](Operation *user) {
           auto mma = dyn_cast<MmaOp>(user);
           return (mma && mma.getInstruction()) ||
                  isa<scf::ForOp, scf::YieldOp>(user);
         });
}

/// A fragment that the instruction reads itself.
static bool isOpaqueRead(Value value) {
  auto read = value.getDefiningOp<vector::TransferReadOp>();
  return read && isFragment(read);
}

/// The most bytes of `read` that a thread reads at once where a factor of a product is
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

static SmallVector<int> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int> result(permutation.size());
  for (auto [position, dim] : llvm::enumerate(permutation))
    result[dim] = position;
  return result;
}

static std::vector<int> asInts(ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

FailureOr<DistributedLayout> LayoutAssigner::naturalLayout(VectorType type,
                                                           AffineMap map) {
  return accessLayout(type, map, accessBytes, threads);
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
  if (failed(propose(kernel.getBody().front())) ||
      failed(settle(kernel.getBody().front())))
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

const Proposal *LayoutAssigner::strongestOperand(Operation *op) {
  const Proposal *best = nullptr;
  for (Value operand : op->getOperands()) {
    auto it = proposals.find(operand);
    if (it != proposals.end() && it->second.strength != None &&
        (!best || it->second.strength > best->strength))
      best = &it->second;
  }
  return best;
}

LogicalResult LayoutAssigner::propose(Operation *op) {
  if (auto pinned = op->getAttrOfType<ArrayAttr>(kLayoutsAttr)) {
    for (OpResult result : op->getResults())
      if (laidOutType(result.getType())) {
        auto layout = getLayout(result);
        if (failed(layout))
          return failure();
        offer(result, *layout, Pinned);
      }
    if (!isa<scf::ForOp>(op))
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
  Value result = op->getResult(0);
  VectorType type = laidOutType(result.getType());

  if (auto mma = dyn_cast<MmaOp>(op)) {
    if (mma.getInstruction()) {
      auto layouts = instructionLayouts(mma, threads);
      if (failed(layouts))
        return failure();
      opaque |= layouts->acc.isOpaque();
      offer(result, layouts->acc, Matrix);
      // What a loop carries to the product has no layout of its own.
      for (auto [operand, layout] :
           {std::pair(mma.getA(), layouts->a), std::pair(mma.getB(), layouts->b)})
        if (isa<BlockArgument>(operand) && laidOutType(operand.getType()))
          offer(operand, layout, Matrix);
      return success();
    }
    auto layout = simtAccumulator(mma, threads);
    if (failed(layout))
      return failure();
    offer(result, *layout, Matrix);
  } else if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    // A broadcast read adapts to its users.
    if (!type || read.hasBroadcastDim() || isFragment(read))
      return success();
    LoweringConfigAttr config = getConfig(op);
    bool isFactor =
        config && config.getStrategy() == Strategy::SkinnyContraction;
    // On its way to shared memory and nowhere else?
    auto passing = result.hasOneUse()
                       ? dyn_cast<vector::TransferWriteOp>(*result.user_begin())
                       : vector::TransferWriteOp();
    AffineMap map = read.getPermutationMap();
    int64_t bytes = passing ? accessBytes
                            : std::min(accessBytes, computedBytes(result, isFactor));
    auto layout = isFactor ? factorLayout(type, map, bytes, threads)
                  : passing
                      ? passingLayout(passing, map, accessBytes, threads)
                      : accessLayout(type, map, bytes, threads);
    if (failed(layout))
      return op->emitOpError() << "has no coalesced layout for " << type;
    offer(result, *layout, Read);
  } else if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    auto layout = DistributedLayout::parse(
        std::string(convert.getTo().getText()),
        std::vector<int64_t>(type.getShape().begin(), type.getShape().end()));
    if (!layout)
      return op->emitOpError() << layout.error();
    offer(result, *layout, Pinned);
  } else if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op)) {
    Value source = reduction.getSource();
    if (proposals[source].strength == None) {
      auto sourceType = cast<VectorType>(source.getType());
      auto layout = naturalLayout(
          sourceType, AffineMap::getMultiDimIdentityMap(sourceType.getRank(),
                                                        op->getContext()));
      if (failed(layout))
        return op->emitOpError() << "has no layout for its source";
      offer(source, *layout, Read);
    }
    if (type)
      offer(result,
            reduceDims(plainLayout(proposals[source].layout),
                       reduction.getReductionDims()),
            Reduced);
  } else if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    if (const Proposal *source = strongestOperand(op))
      offer(result,
            plainLayout(source->layout)
                .transpose(asInts(transpose.getPermutation())),
            source->strength);
  } else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    // The larger factor of a skinny product; all else adapts.
    LoweringConfigAttr config = getConfig(op);
    const Proposal *source = strongestOperand(op);
    if (config && config.getStrategy() == Strategy::SkinnyContraction &&
        source && source->strength == Read)
      if (auto layout = broadcastInRegisters(source->layout, type);
          succeeded(layout))
        offer(result, *layout, Repeated);
  } else if (auto cast = dyn_cast<vector::ShapeCastOp>(op)) {
    if (const Proposal *source = strongestOperand(op))
      if (auto layout = castUnitDims(plainLayout(source->layout), type.getShape());
          succeeded(layout))
        offer(result, *layout, source->strength);
  } else if (isa<vector::InterleaveOp>(op)) {
    if (const Proposal *source = strongestOperand(op))
      if (auto layout = interleaved(plainLayout(source->layout)); succeeded(layout))
        offer(result, *layout, source->strength);
  } else if (isElementwise(op)) {
    if (const Proposal *source = strongestOperand(op)) {
      Proposal copy = *source;
      if (!staysOpaque(op))
        copy.layout = plainLayout(copy.layout);
      offer(result, copy.layout, copy.strength);
    }
  }
  return success();
}

/// Whether an elementwise op is done on opaque fragments: it can be, and all it
/// needs is there in the same layout, or can be.
bool LayoutAssigner::staysOpaque(Operation *op) {
  const DistributedLayout *layout = nullptr;
  for (Value operand : op->getOperands()) {
    if (isSplat(operand))
      continue;
    auto it = proposals.find(operand);
    if (it == proposals.end() || !it->second.layout.isOpaque() ||
        (layout && *layout != it->second.layout))
      return false;
    layout = &it->second.layout;
  }
  return layout && worksOnFragments(op, *layout);
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

//===----------------------------------------------------------------------===//
// 2. Settle
//===----------------------------------------------------------------------===//

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
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    // The copy stands beside the read and sees the same memory; a second read
    // of an address hits the cache.
    auto memref = dyn_cast<MemRefType>(read.getBase().getType());
    return memref && (!memref.getMemorySpace() || isFragment(read));
  }
  if (!isElementwise(op) && !isa<vector::ShapeCastOp, vector::TransposeOp>(op))
    return false;
  if (proposals[op->getResult(0)].strength == None)
    return true;
  // A factor of a skinny product that is computed from what was read.
  LoweringConfigAttr config = getConfig(op);
  return config && config.getStrategy() == Strategy::SkinnyContraction &&
         isElementwise(op) && proposals[op->getResult(0)].strength <= Read &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !laidOutType(operand.getType()) ||
                  (operand.getDefiningOp() && isCheap(operand.getDefiningOp()));
         });
}

FailureOr<Value> LayoutAssigner::inLayout(Value value,
                                          const DistributedLayout &layout) {
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
                                           elementBytes(type.getElementType())) >= 32);
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

/// `value`, which is settled, converted to another layout.
Value LayoutAssigner::convert(Value value, const DistributedLayout &layout) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  MLIRContext *context = value.getContext();
  auto convert = ConvertLayoutOp::create(
      builder, value.getLoc(), value.getType(), value,
      toAttr(context, settled.find(value)->second), toAttr(context, layout));
  write(convert, {layout});
  settled[convert.getResult()] = layout;
  return convert.getResult();
}

LogicalResult LayoutAssigner::settle(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(settle(op)))
      return failure();
  return success();
}

LogicalResult LayoutAssigner::settle(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    SmallVector<DistributedLayout> layouts;
    for (auto [init, argument, result] :
         llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs(),
                         loop.getResults())) {
      if (!laidOutType(argument.getType()))
        continue;
      const DistributedLayout &layout = proposals[argument].layout;
      layouts.push_back(layout);
      settled[argument] = layout;
      settled[result] = layout;
      if (failed(useInLayout(init, layout)))
        return failure();
    }
    if (!layouts.empty())
      write(op, layouts);
    if (failed(settle(*loop.getBody())))
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
    LogicalResult result = settle(warps.getBody().front());
    threads = outer;
    return result;
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(settle(block)))
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

LogicalResult LayoutAssigner::settleOperands(Operation *op) {
  if (auto store = dyn_cast<vector::TransferWriteOp>(op)) {
    VectorType type = laidOutType(store.getVector().getType());
    if (!type)
      return success();
    auto natural = naturalLayout(type, store.getPermutationMap());
    if (failed(natural))
      return op->emitOpError() << "has no coalesced layout for " << type;
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
          contiguousBytes(it->second, dim, bytes) >= wanted)
        layout = it->second;
    }
    if (failed(useInLayout(store.getValueToStoreMutable(), layout)))
      return failure();
    if (!store.getMask())
      return success();
    OpOperand &mask = *store.getMaskMutable().begin();
    return useInLayout(mask, layout);
  }
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
  if (op->getNumResults() == 0 || !laidOutType(op->getResult(0).getType()))
    return success();
  DistributedLayout layout = settled.find(op->getResult(0))->second;

  if (auto mma = dyn_cast<MmaOp>(op)) {
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
      return op->emitOpError()
             << "multiplies by FMA, which takes operands from shared memory; "
                "add the operand to 'promote' in the lowering config";
    }
    return useInLayout(mma.getAccMutable(), layout);
  }
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
    auto needed = castUnitDims(layout, source.getShape());
    if (failed(needed))
      return op->emitOpError() << "changes more than unit dims";
    return useInLayout(cast.getSourceMutable(), *needed);
  }
  if (auto interleave = dyn_cast<vector::InterleaveOp>(op)) {
    auto half = halfOf(layout);
    if (failed(half))
      return op->emitOpError() << "has pairs that are no neighbours in registers";
    return failure(failed(useInLayout(interleave.getLhsMutable(), *half)) ||
                   failed(useInLayout(interleave.getRhsMutable(), *half)));
  }
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

LogicalResult tilewright::assignLayouts(func::FuncOp kernel) {
  return LayoutAssigner(kernel).run();
}
