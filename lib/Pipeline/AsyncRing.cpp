// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring of stages in shared memory, filled by asynchronous copies. With N stages:
//
//   for %k iter_args(%c)            for p in 0 .. N-2:
//     store shared <- load(%k)        copy stage p <- tile(lb + p * step); commit
//     barrier                    ->  for %k iter_args(%c, %read = 0, %write = N-1)
//     %n = mma shared, %c             wait N-2; barrier
//     barrier                         copy stage %write <- tile(%k + (N-1) * step)
//     yield %n                        commit
//                                     %n = mma stage %read, %c
//                                     yield %n, %read + 1 mod N, %write + 1 mod N
//                                   wait 0; barrier
//
// The wait leaves the newest N-2 groups under way, so the group of stage %read has
// arrived; the barrier makes what other threads copied visible, and it tells that
// all are done with the stage of the step before, which is %write. Tiles behind the
// loop's end are zeros: there is a group for every step, however short the loop.
//
// A product by an instruction takes several steps in a stage. Then wait and barrier
// stand in front of the last one, behind which come the reads of the next stage's
// first fragments, which the loop carries: the products of the last step hide
// them, as those of each step hide the reads for the next.
//
//   wait N-2; barrier; %f = fragments 0 of stage 0
//   for %k iter_args(%c, %f, %read, %write)
//     copy stage %write <- …; commit
//     %g = fragments 1 of stage %read; %c1 = mma %f, %c
//     wait N-2; barrier
//     %h = fragments 0 of stage %read + 1 mod N; %c2 = mma %g, %c1
//     yield %c2, %h, …

#include "LoopParts.h"
#include "tilewright/Dialect/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

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
  Value next(OpBuilder &b, Value stage);
  /// The only product of the body, if its fragments can be read ahead.
  MmaOp findProduct();
  void waitForOldest(OpBuilder &b) {
    AsyncWaitOp::create(b, loc, stages - 2);
    gpu::BarrierOp::create(b, loc);
  }
  Value tileIn(OpBuilder &b, Value tile, Value stage) {
    return stageOf(b, loc, staged.lookup(tile), stage);
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
  int64_t stages;
  Location loc;
  DenseMap<Value, Value> staged;
};

} // namespace

Value RingWriter::next(OpBuilder &b, Value stage) {
  Value after = arith::AddIOp::create(b, loc, stage, constant(b, 1));
  Value isEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, after,
                                      constant(b, stages));
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
  if (!product || !staged.contains(product.getA()) ||
      !staged.contains(product.getB()) ||
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
    staged[tile] = addStages(tile, stages);
  auto ahead = [&](OpBuilder &b, Value k, int64_t steps) -> Value {
    if (steps == 0)
      return k;
    Value by = arith::MulIOp::create(b, loc, loop.getStep(), constant(b, steps));
    return arith::AddIOp::create(b, loc, k, by);
  };
  Value zero = constant(b, 0);
  for (int64_t stage = 0; stage + 1 < stages; ++stage)
    start(b, ahead(b, loop.getLowerBound(), stage), constant(b, stage));

  SmallVector<Value> inits(loop.getInitArgs());
  MmaOp product = findProduct();
  if (product) {
    waitForOldest(b);
    auto [left, right] = FragmentSteps(product).load(
        b, tileIn(b, product.getA(), zero), tileIn(b, product.getB(), zero), 0);
    inits.append({left, right});
  }
  inits.append({zero, constant(b, stages - 1)});
  auto ring = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  ring->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockBegin(ring.getBody());
  ValueRange arguments = ring.getRegionIterArgs();
  Value k = ring.getInductionVar(), read = arguments.end()[-2],
        filled = arguments.back();
  if (!product)
    waitForOldest(inner);
  start(inner, ahead(inner, k, stages - 1), filled);

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

  // Whoever fills shared memory after this finds no copy under way.
  if (!product || stages > 2) // else a step waits for what it copies
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
