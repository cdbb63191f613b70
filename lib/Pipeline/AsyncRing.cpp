// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring of slots in shared memory, filled by asynchronous copies. With N slots:
//
//   for %k iter_args(%c)            for p in 0 .. N-2:
//     store shared <- load(%k)        copy slot p <- tile(lb + p * step); commit
//     barrier                    ->  for %k iter_args(%c, %read = 0, %write = N-1)
//     %n = mma shared, %c             wait N-2; barrier
//     barrier                         copy slot %write <- tile(%k + (N-1) * step)
//     yield %n                        commit
//                                     %n = mma slot %read, %c
//                                     yield %n, %read + 1 mod N, %write + 1 mod N
//                                   wait 0; barrier
//
// The wait leaves the newest N-2 groups under way, so the group of slot %read has
// arrived; the barrier makes what other threads copied visible, and it tells that
// all are done with the slot of the step before, which is %write. Tiles behind the
// loop's end are zeros: there is a group for every step, however short the loop.
//
// A product by an instruction takes several steps in a slot. Then wait and barrier
// stand in front of the last one, behind which come the reads of the next slot's
// first fragments, which the loop carries: the products of the last step hide
// them, as those of each step hide the reads for the next.
//
//   wait N-2; barrier; %f = fragments 0 of slot 0
//   for %k iter_args(%c, %f, %read, %write)
//     copy slot %write <- …; commit
//     %g = fragments 1 of slot %read; %c1 = mma %f, %c
//     wait N-2; barrier
//     %h = fragments 0 of slot %read + 1 mod N; %c2 = mma %g, %c1
//     yield %c2, %h, …

#include "LoopParts.h"
#include "tilewright/Dialect/AsyncCopies.h"
#include "tilewright/Dialect/Fragments.h"
#include "tilewright/Dialect/Padding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// Which stores are copies
//===----------------------------------------------------------------------===//

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

std::optional<SmallVector<TileCopy>>
tilewright::findCopies(func::FuncOp kernel, const LoopParts &parts,
                       std::string &reason) {
  SmallVector<TileCopy> copies;
  for (vector::TransferWriteOp store : parts.stores) {
    std::optional<TileCopy> copy = matchCopy(kernel, store, reason);
    if (!copy)
      return std::nullopt;
    copies.push_back(*copy);
  }
  return copies;
}

//===----------------------------------------------------------------------===//
// The ring
//===----------------------------------------------------------------------===//

namespace {

class RingWriter {
public:
  RingWriter(scf::ForOp loop, const LoopParts &parts, ArrayRef<TileCopy> copies,
             int64_t slots)
      : loop(loop), parts(parts), copies(copies), slots(slots),
        loc(loop.getLoc()) {}
  void write();

private:
  /// Starts the copies of the tiles at `k`, of zeros behind the loop's end.
  void startCopies(OpBuilder &b, Value k, Value slot);
  Value next(OpBuilder &b, Value slot);
  /// The only product of the body, if its fragments can be read ahead.
  MmaOp findProduct();
  void waitForOldest(OpBuilder &b) {
    AsyncWaitOp::create(b, loc, slots - 2);
    gpu::BarrierOp::create(b, loc);
  }
  Value tileIn(OpBuilder &b, Value tile, Value slot) {
    return slotOf(b, loc, slotted.lookup(tile), slot);
  }
  /// Writes the product's steps; returns the fragments for the next iteration.
  FragmentSteps::Fragments multiply(OpBuilder &b, MmaOp product,
                                    FragmentSteps::Fragments first, Value read,
                                    IRMapping &work);
  Value constant(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  scf::ForOp loop;
  const LoopParts &parts;
  ArrayRef<TileCopy> copies;
  int64_t slots;
  Location loc;
  DenseMap<Value, Value> slotted;
};

} // namespace

void RingWriter::startCopies(OpBuilder &b, Value k, Value slot) {
  Value live = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, k,
                                     loop.getUpperBound());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), k);
  for (Operation *op : parts.loads)
    if (!isa<vector::TransferReadOp>(op))
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

Value RingWriter::next(OpBuilder &b, Value slot) {
  Value after = arith::AddIOp::create(b, loc, slot, constant(b, 1));
  Value isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, after,
                                      constant(b, slots));
  return arith::SelectOp::create(b, loc, isEnd, constant(b, 0), after);
}

MmaOp RingWriter::findProduct() {
  MmaOp product;
  for (Operation *op : parts.work)
    if (auto mma = dyn_cast<MmaOp>(op)) {
      if (product)
        return {};
      product = mma;
    }
  // An even number of steps: two sets of registers take turns without moves.
  if (!product || !slotted.contains(product.getA()) ||
      !slotted.contains(product.getB()) ||
      FragmentSteps(product).count() % 2)
    return {};
  return product;
}

FragmentSteps::Fragments RingWriter::multiply(OpBuilder &b, MmaOp product,
                                              FragmentSteps::Fragments first,
                                              Value read, IRMapping &work) {
  FragmentSteps steps(product);
  Value left = tileIn(b, product.getA(), read),
        right = tileIn(b, product.getB(), read);
  FragmentSteps::Fragments now = first, ahead;
  Value sum = work.lookupOrDefault(product.getAcc());
  for (int64_t number = 1; number <= steps.count(); ++number) {
    if (number < steps.count()) {
      ahead = steps.load(b, left, right, number);
    } else {
      waitForOldest(b);
      Value after = next(b, read);
      ahead = steps.load(b, tileIn(b, product.getA(), after),
                         tileIn(b, product.getB(), after), 0);
    }
    sum = steps.multiply(b, now, sum);
    now = ahead;
  }
  work.map(product.getResult(), sum);
  return now;
}

void RingWriter::write() {
  OpBuilder b(loop);
  for (memref::AllocOp tile : parts.tiles)
    slotted[tile] = addSlots(tile, slots);
  auto ahead = [&](OpBuilder &b, Value k, int64_t steps) -> Value {
    if (steps == 0)
      return k;
    Value by = arith::MulIOp::create(b, loc, loop.getStep(), constant(b, steps));
    return arith::AddIOp::create(b, loc, k, by);
  };
  Value zero = constant(b, 0);
  for (int64_t slot = 0; slot + 1 < slots; ++slot)
    startCopies(b, ahead(b, loop.getLowerBound(), slot), constant(b, slot));

  SmallVector<Value> inits(loop.getInitArgs());
  MmaOp product = findProduct();
  if (product) {
    waitForOldest(b);
    auto [left, right] = FragmentSteps(product).load(
        b, tileIn(b, product.getA(), zero), tileIn(b, product.getB(), zero), 0);
    inits.append({left, right});
  }
  inits.append({zero, constant(b, slots - 1)});
  auto ring = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  ring->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockBegin(ring.getBody());
  ValueRange arguments = ring.getRegionIterArgs();
  Value k = ring.getInductionVar(), read = arguments.end()[-2],
        filled = arguments.back();
  if (!product)
    waitForOldest(inner);
  startCopies(inner, ahead(inner, k, slots - 1), filled);

  IRMapping work;
  work.map(loop.getInductionVar(), k);
  for (auto [from, to] : llvm::zip(loop.getRegionIterArgs(), arguments))
    work.map(from, to);
  for (memref::AllocOp tile : parts.tiles)
    if (!product)
      work.map(tile.getResult(), tileIn(inner, tile, read));
  FragmentSteps::Fragments carried;
  for (Operation *op : parts.work) {
    if (product && op == product.getOperation())
      carried = multiply(inner, product,
                         {arguments.end()[-4], arguments.end()[-3]}, read, work);
    else
      inner.clone(*op, work);
  }
  SmallVector<Value> yields;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    yields.push_back(work.lookupOrDefault(value));
  if (product)
    yields.append({carried.first, carried.second});
  yields.append({next(inner, read), next(inner, filled)});
  scf::YieldOp::create(inner, loc, yields);

  // Whoever fills shared memory after this finds no copy under way, and nobody
  // who still multiplies.
  AsyncWaitOp::create(b, loc, 0);
  gpu::BarrierOp::create(b, loc);
  loop.replaceAllUsesWith(ring.getResults().take_front(loop.getNumResults()));
  loop.erase();
  for (memref::AllocOp tile : parts.tiles)
    tile.erase();
}

void tilewright::fillRing(scf::ForOp loop, const LoopParts &parts,
                          ArrayRef<TileCopy> copies, int64_t slots) {
  RingWriter(loop, parts, copies, slots).write();
}
