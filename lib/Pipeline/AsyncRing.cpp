// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring of stages in shared memory, filled by asynchronous copies. With N stages:
//
//   for %k iter_args(%c)            for p in 0 .. N-2:
//     store shared <- load(%k)        copy stage p <- tile(lb + p * step); commit
//     barrier                    ->  for %k iter_args(%c, %read = 0)
//     %n = mma shared, %c             wait N-2; barrier
//     barrier                         copy stage %read - 1 mod N <- tile(%k + (N-1) * step)
//     yield %n                        commit
//                                     %n = mma stage %read, %c
//                                     yield %n, %read + 1 mod N
//                                   wait 0; barrier
//
// The wait leaves the newest N-2 groups under way, so the group of stage %read has
// arrived; the barrier makes what other threads copied visible, and it tells that
// all are done with the stage of the step before, which is filled. Tiles behind the
// loop's end are zeros: there is a group for every step, however short the loop. A loop
// inside of another one has a barrier in front, too.
//
// A product by an instruction takes several steps in a stage. Then wait and barrier
// stand in front of the last one, behind which come the reads of the next stage's
// first fragments, which the loop carries: the products of the last step hide
// them, as those of each step hide the reads for the next.
//
//   wait N-2; barrier; %f = fragments 0 of stage 0
//   for %k iter_args(%c, %f, %read)
//     copy stage %read - 1 mod N <- …; commit
//     %g = fragments 1 of stage %read; %c1 = mma %f, %c
//     wait N-2; barrier
//     %h = fragments 0 of stage %read + 1 mod N; %c2 = mma %g, %c1
//     yield %c2, %h, …

#include "LoopParts.h"
#include "tilewright/Dialect/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tilewright;

namespace {

class RingWriter {
public:
  RingWriter(scf::ForOp loop, const LoopParts &parts, ArrayRef<TileCopy> copies,
             int64_t stages)
      : loop(loop), parts(parts), copies(copies), stages(stages),
        loc(loop.getLoc()) {}
  void write();

private:
  void start(OpBuilder &b, Value k, Value stage) {
    startCopies(b, loop, parts, copies, staged, k, stage);
  }
  /// The stage behind another one, and the one in front of it.
  Value next(OpBuilder &b, Value stage);
  Value before(OpBuilder &b, Value stage);
  /// The products of the body, one or those of a dual product, if their fragments can be read
  /// ahead; else none.
  SmallVector<MmaOp> findProducts();
  /// What the products read, each tile once.
  void collectOperands(ArrayRef<MmaOp> products);
  void waitForOldest(OpBuilder &b) {
    AsyncWaitOp::create(b, loc, stages - 2);
    gpu::BarrierOp::create(b, loc);
  }
  Value tileIn(OpBuilder &b, Value tile, Value stage) {
    return stageOf(b, loc, staged.lookup(tile), stage);
  }
  /// The operands' tiles in a stage, and their fragments for a step of the instruction.
  SmallVector<Value> tilesIn(OpBuilder &b, Value stage);
  SmallVector<Value> load(OpBuilder &b, ArrayRef<Value> tiles, int64_t number);
  /// Writes the products' steps; returns the fragments for the next iteration.
  SmallVector<Value> multiply(OpBuilder &b, ArrayRef<MmaOp> products,
                              SmallVector<Value> fragments, Value read, IRMapping &work);
  Value constant(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  scf::ForOp loop;
  const LoopParts &parts;
  ArrayRef<TileCopy> copies;
  int64_t stages;
  Location loc;
  DenseMap<Value, Value> staged;
  /// A tile in shared memory, and one product of which it is operand `number`.
  struct Operand {
    Value tile;
    MmaOp product;
    unsigned number;
  };
  SmallVector<Operand> operands;
};

} // namespace

Value RingWriter::next(OpBuilder &b, Value stage) {
  Value after = arith::AddIOp::create(b, loc, stage, constant(b, 1));
  if (llvm::isPowerOf2_64(stages))
    return arith::AndIOp::create(b, loc, after, constant(b, stages - 1));
  Value isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, after,
                                      constant(b, stages));
  return arith::SelectOp::create(b, loc, isEnd, constant(b, 0), after);
}

Value RingWriter::before(OpBuilder &b, Value stage) {
  if (stages == 2)
    return next(b, stage);
  Value last = constant(b, stages - 1);
  if (llvm::isPowerOf2_64(stages))
    return arith::AndIOp::create(b, loc, arith::AddIOp::create(b, loc, stage, last), last);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, stage,
                                        constant(b, 0));
  Value one = arith::SubIOp::create(b, loc, stage, constant(b, 1));
  return arith::SelectOp::create(b, loc, isFirst, last, one);
}

SmallVector<MmaOp> RingWriter::findProducts() {
  SmallVector<MmaOp> products;
  for (Operation *op : parts.work)
    if (auto mma = dyn_cast<MmaOp>(op))
      products.push_back(mma);
  // An even number of steps: two sets of registers take turns without moves.
  if (llvm::any_of(products, [&](MmaOp product) {
        int64_t count = FragmentSteps(product).count();
        return !staged.contains(product.getA()) || !staged.contains(product.getB()) ||
               count % 2 || count != FragmentSteps(products.front()).count();
      }))
    return {};
  // What one of them becomes, no other one reads.
  for (MmaOp product : products)
    for (Operation *user : product->getUsers())
      if (!user->hasTrait<OpTrait::IsTerminator>() && products.size() > 1)
        return {};
  return products;
}

void RingWriter::collectOperands(ArrayRef<MmaOp> products) {
  for (MmaOp product : products)
    for (unsigned number : {0, 1})
      if (Value tile = product->getOperand(number);
          products.size() == 1 || llvm::none_of(operands, [&](const Operand &operand) {
            return operand.tile == tile;
          }))
        operands.push_back({tile, product, number});
}

SmallVector<Value> RingWriter::tilesIn(OpBuilder &b, Value stage) {
  return llvm::map_to_vector(
      operands, [&](const Operand &operand) { return tileIn(b, operand.tile, stage); });
}

SmallVector<Value> RingWriter::load(OpBuilder &b, ArrayRef<Value> tiles, int64_t number) {
  Value from = constant(b, number * FragmentSteps(operands.front().product).size());
  SmallVector<Value> fragments;
  for (auto [operand, tile] : llvm::zip_equal(operands, tiles))
    fragments.push_back(
        FragmentSteps(operand.product).loadOperand(b, operand.number, tile, from));
  return fragments;
}

SmallVector<Value> RingWriter::multiply(OpBuilder &b, ArrayRef<MmaOp> products,
                                        SmallVector<Value> fragments, Value read,
                                        IRMapping &work) {
  SmallVector<Value> tiles = tilesIn(b, read), ahead;
  SmallVector<Value> sums;
  for (MmaOp product : products)
    sums.push_back(work.lookupOrDefault(product.getAcc()));
  auto fragmentOf = [&](Value tile) {
    return fragments[llvm::find_if(operands, [&](const Operand &operand) {
                       return operand.tile == tile;
                     }) - operands.begin()];
  };
  int64_t count = FragmentSteps(products.front()).count();
  for (int64_t number = 1; number <= count; ++number) {
    if (number == count) {
      waitForOldest(b);
      tiles = tilesIn(b, next(b, read));
    }
    ahead = load(b, tiles, number % count);
    for (auto [position, sum] : llvm::enumerate(sums)) {
      MmaOp product = products[position];
      sum = FragmentSteps(product).multiply(
          b, {fragmentOf(product.getA()), fragmentOf(product.getB())}, sum);
    }
    fragments = ahead;
  }
  for (auto [position, sum] : llvm::enumerate(sums))
    work.map(MmaOp(products[position]).getResult(), sum);
  return fragments;
}

void RingWriter::write() {
  OpBuilder b(loop);
  for (memref::AllocOp tile : parts.tiles)
    staged[tile] = addStages(tile, stages);
  auto ahead = [&](OpBuilder &b, Value k, int64_t steps) -> Value {
    if (steps == 0)
      return k;
    Value by = arith::MulIOp::create(b, loc, loop.getStep(), constant(b, steps));
    return arith::AddIOp::create(b, loc, k, by);
  };
  Value zero = constant(b, 0);
  // Stages that are filled again are read by others until here: behind the last barrier of a loop
  // that ran before come reads of its last stage.
  if (loop->getParentOfType<LoopLikeOpInterface>())
    gpu::BarrierOp::create(b, loc);
  for (int64_t stage = 0; stage + 1 < stages; ++stage)
    start(b, ahead(b, loop.getLowerBound(), stage), constant(b, stage));

  SmallVector<Value> inits(loop.getInitArgs());
  SmallVector<MmaOp> products = findProducts();
  collectOperands(products);
  if (!products.empty()) {
    waitForOldest(b);
    llvm::append_range(inits, load(b, tilesIn(b, zero), 0));
  }
  inits.push_back(zero);
  auto ring = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  ring->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockBegin(ring.getBody());
  ValueRange arguments = ring.getRegionIterArgs();
  Value k = ring.getInductionVar(), read = arguments.back();
  if (products.empty())
    waitForOldest(inner);
  start(inner, ahead(inner, k, stages - 1), before(inner, read));

  IRMapping work;
  work.map(loop.getInductionVar(), k);
  for (auto [from, to] : llvm::zip(loop.getRegionIterArgs(), arguments))
    work.map(from, to);
  for (memref::AllocOp tile : parts.tiles)
    if (products.empty())
      work.map(tile.getResult(), tileIn(inner, tile, read));
  SmallVector<Value> carried;
  for (Operation *op : parts.work) {
    if (!products.empty() && op == products.front().getOperation())
      carried = multiply(inner, products,
                         llvm::to_vector(arguments.drop_back().take_back(operands.size())),
                         read, work);
    else if (!llvm::is_contained(products, op))
      inner.clone(*op, work);
  }
  SmallVector<Value> yields;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    yields.push_back(work.lookupOrDefault(value));
  llvm::append_range(yields, carried);
  yields.push_back(next(inner, read));
  scf::YieldOp::create(inner, loc, yields);

  // Whoever fills shared memory after this finds no copy under way.
  if (products.empty() || stages > 2) // else a step waits for what it copies
    AsyncWaitOp::create(b, loc, 0);
  loop.replaceAllUsesWith(ring.getResults().take_front(loop.getNumResults()));
  loop.erase();
  for (memref::AllocOp tile : parts.tiles)
    tile.erase();
}

void tilewright::fillRing(scf::ForOp loop, const LoopParts &parts,
                          ArrayRef<TileCopy> copies, int64_t stages) {
  RingWriter(loop, parts, copies, stages).write();
}
