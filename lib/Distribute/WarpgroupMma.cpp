// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block-level matrix products by asynchronous instructions of warpgroups
// (wgmma). Operands stay in shared memory, where a descriptor names the matrix, or, A
// alone, are in registers, with the rows in the order of the sums'; the accumulator is
// in registers. Warpgroups lie along m:
//
//   %n = tilewright.mma %a, %b, %acc {instruction = "wgmma.m64n256k16.bf16.f32"}
//        : memref<128x64xbf16, …>, memref<64x4x64xbf16, …>, vector<128x256xf32>
// becomes, per warpgroup,
//   mma_fence
//   for each 16 along k:
//     warpgroup_mma <descriptor of A>, <descriptor of B>, (128 sums)
//   mma_commit
//
// What a descriptor says follows from the memref alone: strides, swizzle, and
// which dim has neighbours in memory.

#include "OperandWords.h"
#include "ThreadCode.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Layout/Atoms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using layout::Level;
using layout::Mode;

namespace {

/// A shared-memory operand as the instruction sees it: rows (m or n) by k.
struct SharedOperand {
  MemView view;
  /// Elements between neighbours along each.
  int64_t rowStride = 0, kStride = 0;
  /// Columns in boxes: rows (where those are neighbours in memory) in a box,
  /// and elements between boxes.
  int64_t boxRows = 0, boxStride = 0;
  /// The same of rows along k that are longer than a swizzle.
  int64_t boxSums = 0, sumsStride = 0;
  /// Neighbours in memory lie along the rows' dim, not along k.
  bool transposed = false;
  /// Bytes of a row of a box.
  int64_t swizzle = 0;
};

/// How many warpgroups `threads` are; 0: no whole ones.
int64_t countWarpgroups(const ThreadRange &threads) {
  return threads.warps % 4 || threads.firstWarp % 4 ? 0 : threads.warps / 4;
}

/// The loops of a product by roles.
struct ProductLoops {
  unsigned m, n, k;
};

} // namespace

static FailureOr<ProductLoops> loopsOf(MmaOp op) {
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  std::optional<unsigned> m, n, k;
  for (unsigned loop = 0; loop < maps[2].getNumDims(); ++loop) {
    bool inA = maps[0].isFunctionOfDim(loop),
         inB = maps[1].isFunctionOfDim(loop),
         inC = maps[2].isFunctionOfDim(loop);
    auto &role = inA && inC && !inB ? m : inB && inC && !inA ? n : k;
    if (role || (&role == &k && !(inA && inB && !inC)))
      return op.emitOpError()
             << "by a warpgroup's instruction needs exactly one "
                "m, one n and one k loop";
    role = loop;
  }
  if (!m || !n || !k)
    return op.emitOpError() << "needs an m, an n and a k loop";
  return ProductLoops{*m, *n, *k};
}

/// `rows`, `k`: the operand's loops.
static FailureOr<SharedOperand> operandOf(MmaOp op, StringRef name,
                                          const MemView &view, AffineMap map,
                                          unsigned rows, unsigned k) {
  SharedOperand operand;
  operand.view = view;
  for (auto [result, stride, size] :
       llvm::zip_equal(map.getResults(), view.strides, view.sizes)) {
    if (!stride.isConstant() || !size.isConstant())
      return op.emitOpError() << "needs constant strides of " << name;
    auto split = dyn_cast<AffineBinaryOpExpr>(result);
    bool isRows = result.isFunctionOfDim(rows);
    if (split && split.getKind() == AffineExprKind::FloorDiv) {
      (isRows ? operand.boxStride : operand.sumsStride) = stride.constant;
      continue;
    }
    if (split)
      (isRows ? operand.boxRows : operand.boxSums) = size.constant;
    (isRows ? operand.rowStride : operand.kStride) = stride.constant;
  }
  int64_t bytes = elementBytes(view.element);
  operand.transposed = operand.rowStride == 1 && operand.kStride != 1;
  int64_t neighbours = operand.transposed ? operand.rowStride : operand.kStride;
  int64_t across = operand.transposed ? operand.kStride : operand.rowStride;
  operand.swizzle = across * bytes;
  if (neighbours != 1 || !llvm::is_contained({32, 64, 128}, operand.swizzle) ||
      view.shared != swizzledRows(op.getContext(), operand.swizzle, bytes))
    return op.emitOpError() << name
                            << " must have rows of 32, 64 or 128 bytes that "
                               "are swizzled by their width";
  if (operand.transposed && bytes != 2)
    return op.emitOpError()
           << name << " of " << view.element
           << " must have k along its rows; only of 16-bit types "
              "either order is read";
  return operand;
}

/// The descriptor of the matrix whose first element is `offset` elements into
/// it.
static Value describe(ThreadCode &code, Location loc,
                      const SharedOperand &operand, Index offset) {
  int64_t bytes = elementBytes(operand.view.element);
  // Groups of eight rows of `swizzle` bytes; boxes, where rows are neighbours.
  int64_t leading = operand.transposed ? operand.boxStride * bytes : 16;
  Index at = code.add(loc, operand.view.offset, offset);
  int64_t advance = at.constant;
  at.constant = 0;
  return MatrixDescriptorOp::create(
      code.b, loc, code.b.getI64Type(), operand.view.base,
      code.materialize(loc, at), advance, std::max<int64_t>(leading, 16),
      8 * operand.swizzle, operand.swizzle);
}

/// Elements from the first one of the operand to row `row` of its first k.
static Index rowOffset(ThreadCode &code, Location loc,
                       const SharedOperand &operand, Index row) {
  if (!operand.boxRows)
    return code.multiply(loc, row, Index(operand.rowStride));
  // A constant number of whole boxes.
  return Index(row.constant / operand.boxRows * operand.boxStride +
               row.constant % operand.boxRows * operand.rowStride);
}

/// Elements from the first one of the operand to sum `k` of its first row.
static Index sumOffset(const SharedOperand &operand, int64_t k) {
  if (!operand.boxSums)
    return Index(k * operand.kStride);
  return Index(k / operand.boxSums * operand.sumsStride +
               k % operand.boxSums * operand.kStride);
}

/// Rows of the instruction that a thread has side by side (Rings.h); 1 by default.
static int64_t rowsTogether(MmaOp op) {
  auto rows = op->getAttrOfType<IntegerAttr>(kRowsTogetherAttr);
  return rows ? rows.getInt() : 1;
}

/// `layout`, of `dim` as the instruction counts rows, with the rows in the order in which
/// `together` of them are one thread's: the row 8 further down is the next one, where
/// `together` is more than 2, so is that of the next instruction along the rows.
static FailureOr<DistributedLayout> gatherRows(MmaOp op, const DistributedLayout &layout,
                                               int dim, int64_t together) {
  if (together == 1)
    return layout;
  auto moved = [&](DistributedLayout::Modes modes, Level level) {
    for (Mode &mode : modes) {
      if (mode.dim != dim)
        continue;
      if (level == Level::Register)
        mode.stride = mode.stride == 8 ? 1 : together > 2 ? mode.stride / 32 : mode.stride;
      else if (mode.stride < 64)
        mode.stride = mode.stride == 1 ? together : mode.stride / 2 * together;
    }
    return modes;
  };
  auto result = DistributedLayout::get(
      layout.shape(), moved(layout.modes(Level::Register), Level::Register),
      moved(layout.modes(Level::Lane), Level::Lane),
      moved(layout.modes(Level::Warp), Level::Warp), layout.firstWarp());
  if (!result)
    return op.emitOpError() << result.error();
  return *result;
}

/// `atom` as often as `counts` says, by warpgroups along the rows.
template <typename Atom>
static FailureOr<DistributedLayout>
repeatAtom(MmaOp op, const Atom &atom, ArrayRef<int64_t> counts, int64_t groups,
           bool isTransposed, const ThreadRange &threads) {
  if (!atom)
    return op.emitOpError() << atom.error();
  auto result = DistributedLayout::repeat(*atom, counts, {{groups, 0}}, {0, 1});
  if (!result)
    return op.emitOpError() << result.error();
  if (isTransposed)
    *result = result->transpose({1, 0});
  return result->withFirstWarp(threads.firstWarp);
}

FailureOr<DistributedLayout>
tilewright::warpgroupAccumulator(MmaOp op, const ThreadRange &threads) {
  auto instruction =
      MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  FailureOr<ProductLoops> loops = loopsOf(op);
  if (!instruction || failed(loops))
    return failure();
  int64_t groups = countWarpgroups(threads);
  if (!groups)
    return op.emitOpError()
           << "by '" << *op.getInstruction()
           << "' is for whole warpgroups of four warps, not " << threads.warps
           << " warps from warp " << threads.firstWarp << " on";
  auto acc = cast<VectorType>(op.getAcc().getType());
  AffineMap map = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  if (acc.getRank() != 2)
    return op.emitOpError()
           << "by a warpgroup's instruction has an accumulator of m by n, or n by m";
  unsigned rows = map.getDimPosition(0) == loops->m ? 0 : 1;
  int64_t m = acc.getDimSize(rows), n = acc.getDimSize(1 - rows);
  if (m % (instruction->m * groups) || n % instruction->n)
    return op.emitOpError()
           << "tile " << m << "x" << n << " is no multiple of instruction '"
           << *op.getInstruction() << "' by " << groups
           << " warpgroups along m";
  auto layout = repeatAtom(op, layout::wgmmaAccumulator(instruction->n),
                           {m / (instruction->m * groups), n / instruction->n}, groups,
                           /*isTransposed=*/rows == 1, threads);
  if (failed(layout))
    return failure();
  return gatherRows(op, *layout, rows, rowsTogether(op));
}

FailureOr<DistributedLayout>
tilewright::warpgroupOperandA(MmaOp op, const ThreadRange &threads) {
  auto instruction =
      MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  FailureOr<ProductLoops> loops = loopsOf(op);
  int64_t groups = countWarpgroups(threads);
  if (!instruction || failed(loops) || !groups)
    return failure();
  auto type = cast<VectorType>(op.getA().getType());
  AffineMap map = cast<AffineMapAttr>(op.getMaps()[0]).getValue();
  unsigned rows = map.getDimPosition(0) == loops->m ? 0 : 1;
  int64_t m = type.getDimSize(rows), k = type.getDimSize(1 - rows);
  if (type.getRank() != 2 || m % (instruction->m * groups) || k % instruction->k)
    return op.emitOpError() << "has " << type << " in registers, which '"
                            << *op.getInstruction() << "' by " << groups
                            << " warpgroups does not take from there";
  auto layout = repeatAtom(op, layout::wgmmaOperandA(instruction->operandBits()),
                           {m / (instruction->m * groups), k / instruction->k}, groups,
                           /*isTransposed=*/rows == 1, threads);
  int64_t together = rowsTogether(op);
  if (failed(layout) || together == 1)
    return layout;
  layout = gatherRows(op, *layout, rows, together);
  if (failed(layout))
    return failure();
  // Registers in memory's order: those side by side first.
  DistributedLayout::Modes first, rest;
  for (const Mode &mode : layout->modes(Level::Register))
    (mode.dim == int(rows) && mode.stride < together ? first : rest).push_back(mode);
  llvm::append_range(first, rest);
  auto result = DistributedLayout::get(layout->shape(), first, layout->modes(Level::Lane),
                                       layout->modes(Level::Warp), layout->firstWarp());
  if (!result)
    return op.emitOpError() << result.error();
  return *result;
}

Registers ThreadCode::packPairs(Location loc, ValueRange values) {
  if (values.empty() || values.front().getType().getIntOrFloatBitWidth() != 16)
    return Registers(values);
  auto pair = VectorType::get(2, values.front().getType());
  Registers packed;
  for (size_t i = 0; i < values.size(); i += 2)
    packed.push_back(
        vector::FromElementsOp::create(b, loc, pair, values.slice(i, 2)));
  return packed;
}

Registers ThreadCode::unpackPairs(Location loc, ValueRange values) {
  if (values.empty() || !isa<VectorType>(values.front().getType()))
    return Registers(values);
  Registers unpacked;
  for (Value pair : values)
    for (int64_t i : {0, 1})
      unpacked.push_back(vector::ExtractOp::create(b, loc, pair, i));
  return unpacked;
}

bool tilewright::staysPacked(Value accumulator) {
  return getElementTypeOrSelf(accumulator.getType()).isF16() &&
         llvm::any_of(accumulator.getUsers(), [&](Operation *user) {
           auto product = dyn_cast<MmaOp>(user);
           if (!product || product.getAcc() != accumulator || !product.getInstruction())
             return false;
           auto instruction = MatrixInstruction::parse(user->getContext(),
                                                       *product.getInstruction());
           return instruction && instruction->warpgroup;
         });
}

LogicalResult ThreadCode::multiplyByWarpgroup(MmaOp op) {
  Location loc = op.getLoc();
  auto instruction =
      MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  FailureOr<ProductLoops> loops = loopsOf(op);
  FailureOr<MemView> viewB = view(op.getB());
  FailureOr<Registers> acc = registers(op.getAcc());
  if (!instruction || failed(loops) || failed(viewB) || failed(acc))
    return failure();
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  // A in registers has no descriptor.
  bool inRegisters = bool(laidOutType(op.getA().getType()));
  FailureOr<SharedOperand> a = SharedOperand();
  if (!inRegisters) {
    FailureOr<MemView> viewA = view(op.getA());
    if (failed(viewA))
      return failure();
    a = operandOf(op, "a", *viewA, maps[0], loops->m, loops->k);
  }
  auto bOperand = operandOf(op, "b", *viewB, maps[1], loops->n, loops->k);
  if (failed(a) || failed(bOperand))
    return failure();
  if (a->boxRows && a->boxRows != instruction->m)
    return op.emitOpError() << "a is cut into boxes of " << a->boxRows
                            << " rows; an instruction reads " << instruction->m;
  Type elementA = getElementTypeOrSelf(op.getA().getType());
  if (instruction->operands[0] != elementA ||
      instruction->operands[1] != bOperand->view.element)
    return op.emitOpError()
           << "'" << *op.getInstruction() << "' does not multiply " << elementA
           << " by " << bOperand->view.element;
  auto type = cast<VectorType>(op.getAcc().getType());
  int64_t groups = countWarpgroups(threads);
  unsigned rows = maps[2].getDimPosition(0) == loops->m ? 0 : 1;
  int64_t m = type.getDimSize(rows) / groups, n = type.getDimSize(1 - rows), k = 0;
  for (auto [result, size] :
       llvm::zip_equal(maps[1].getResults(), bOperand->view.sizes))
    if (result.isFunctionOfDim(loops->k))
      k = std::max<int64_t>(k, 1) * size.constant;
  if (k % instruction->k)
    return op.emitOpError() << "sums " << k << " elements, no multiple of '"
                            << *op.getInstruction() << "'";
  int64_t repeatM = m / instruction->m, repeatN = n / instruction->n;
  Registers fragmentsA;
  if (inRegisters) {
    FailureOr<Registers> held = registers(op.getA());
    if (failed(held))
      return failure();
    fragmentsA = operandWords(*this, loc, *held, rowsTogether(op), repeatM);
  }
  Registers result = packPairs(loc, *acc);
  int64_t size = result.size() / (repeatM * repeatN);

  Index first(0);
  if (groups > 1)
    first =
        multiply(loc,
                 Index(arith::DivUIOp::create(b, loc, warp(), constant(loc, 4))
                           .getResult()),
                 a->boxRows ? Index(m / a->boxRows * a->boxStride)
                            : Index(m * a->rowStride));
  // Sums that begin at zero are written only.
  bool startsAtZero = matchPattern(op.getAcc(), m_AnyZeroFloat());
  size_t numSums = startsAtZero ? 0 : result.size();
  SmallVector<Value> fenced(result.begin(), result.begin() + numSums);
  llvm::append_range(fenced, fragmentsA);
  auto fence = MmaFenceOp::create(b, loc, TypeRange(ValueRange(fenced)), fenced);
  if (!startsAtZero)
    result = Registers(fence.getResults().take_front(numSums));
  fragmentsA = Registers(fence.getResults().drop_front(numSums));
  for (int64_t step = 0; step < k; step += instruction->k)
    for (int64_t column = 0; column < repeatN; ++column)
      for (int64_t row = 0; row < repeatM; ++row) {
        Index inA =
            add(loc, first,
                add(loc, rowOffset(*this, loc, *a, Index(row * instruction->m)),
                    sumOffset(*a, step)));
        Index inB = add(
            loc,
            rowOffset(*this, loc, *bOperand, Index(column * instruction->n)),
            sumOffset(*bOperand, step));
        auto at = result.begin() + (row + repeatM * column) * size;
        SmallVector<Value> sums(at, at + size);
        SmallVector<Type> types(TypeRange{ValueRange(sums)});
        if (startsAtZero && step == 0)
          sums.clear();
        constexpr size_t kFragment = 4; // registers of 64 rows by a step
        SmallVector<Value> partA;
        if (inRegisters)
          partA = Registers(ValueRange(fragmentsA)
                                .slice((row + repeatM * (step / instruction->k)) *
                                           kFragment,
                                       kFragment));
        else
          partA = {describe(*this, loc, *a, inA)};
        auto product = WarpgroupMmaOp::create(
            b, loc, types, *op.getInstruction(), partA,
            describe(*this, loc, *bOperand, inB), sums, a->transposed,
            bOperand->transposed);
        llvm::copy(product.getResults(), at);
      }
  MmaCommitOp::create(b, loc);
  define(op.getResult(), unpackPairs(loc, result));
  return success();
}

LogicalResult ThreadCode::mmaWait(MmaWaitOp op) {
  SmallVector<Value> values;
  for (Value value : op.getValues()) {
    FailureOr<Registers> held = registers(value);
    if (failed(held))
      return failure();
    llvm::append_range(values, packPairs(op.getLoc(), *held));
  }
  auto wait = MmaWaitOp::create(b, op.getLoc(), op.getPending(), values);
  size_t next = 0;
  for (auto [value, result] :
       llvm::zip_equal(op.getValues(), op.getResults())) {
    size_t count = registers(value)->size();
    if (getElementTypeOrSelf(value.getType()).isF16())
      count /= 2;
    define(result, unpackPairs(op.getLoc(), wait.getResults().slice(next, count)));
    next += count;
  }
  return success();
}
