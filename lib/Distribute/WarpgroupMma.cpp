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
#include "WarpgroupLayouts.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

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

} // namespace

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

namespace {
/// One contraction while its instructions are written.
class WarpgroupProduct {
public:
  WarpgroupProduct(ThreadCode &code, MmaOp op) : code(code), op(op), loc(op.getLoc()) {}

  /// Finds the operands; an error if the instruction does not multiply them.
  LogicalResult prepare();
  /// The instructions of all steps, which add to `sums`, in pairs where it is of f16.
  Registers write(Registers sums);

private:
  LogicalResult findOperands();
  LogicalResult countInstructions();
  Index firstRow();
  SmallVector<Value> fragmentOfA(int64_t row, int64_t step);
  void multiply(Registers &sums, Index first, int64_t row, int64_t column, int64_t step);

  ThreadCode &code;
  MmaOp op;
  Location loc;
  std::optional<MatrixInstruction> instruction;
  ProductLoops loops;
  SharedOperand a, b;
  /// Words of A where it is in registers, which no descriptor names.
  bool inRegisters = false;
  Registers fragmentsA;
  /// Rows of a warpgroup, the sum, and instructions along rows and columns.
  int64_t m = 0, k = 0, repeatM = 0, repeatN = 0;
  /// Sums that begin at zero are written only.
  bool startsAtZero = false;
};
} // namespace

LogicalResult WarpgroupProduct::findOperands() {
  FailureOr<MemView> viewB = code.view(op.getB());
  if (failed(viewB) || failed(code.registers(op.getAcc())))
    return failure();
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  inRegisters = bool(laidOutType(op.getA().getType()));
  if (!inRegisters) {
    FailureOr<MemView> viewA = code.view(op.getA());
    if (failed(viewA))
      return failure();
    FailureOr<SharedOperand> found = operandOf(op, "a", *viewA, maps[0], loops.m, loops.k);
    if (failed(found))
      return failure();
    a = *found;
  }
  FailureOr<SharedOperand> found = operandOf(op, "b", *viewB, maps[1], loops.n, loops.k);
  if (failed(found))
    return failure();
  b = *found;
  if (a.boxRows && a.boxRows != instruction->m)
    return op.emitOpError() << "a is cut into boxes of " << a.boxRows
                            << " rows; an instruction reads " << instruction->m;
  Type elementA = getElementTypeOrSelf(op.getA().getType());
  if (instruction->operands[0] != elementA || instruction->operands[1] != b.view.element)
    return op.emitOpError() << "'" << *op.getInstruction() << "' does not multiply " << elementA
                            << " by " << b.view.element;
  return success();
}

LogicalResult WarpgroupProduct::countInstructions() {
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  auto type = cast<VectorType>(op.getAcc().getType());
  unsigned rows = maps[2].getDimPosition(0) == loops.m ? 0 : 1;
  m = type.getDimSize(rows) / countWarpgroups(code.threads);
  for (auto [result, size] : llvm::zip_equal(maps[1].getResults(), b.view.sizes))
    if (result.isFunctionOfDim(loops.k))
      k = std::max<int64_t>(k, 1) * size.constant;
  if (k % instruction->k)
    return op.emitOpError() << "sums " << k << " elements, no multiple of '"
                            << *op.getInstruction() << "'";
  repeatM = m / instruction->m;
  repeatN = type.getDimSize(1 - rows) / instruction->n;
  return success();
}

LogicalResult WarpgroupProduct::prepare() {
  instruction = MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  FailureOr<ProductLoops> found = warpgroupLoops(op);
  if (!instruction || failed(found))
    return failure();
  loops = *found;
  if (failed(findOperands()) || failed(countInstructions()))
    return failure();
  startsAtZero = matchPattern(op.getAcc(), m_AnyZeroFloat());
  if (!inRegisters)
    return success();
  FailureOr<Registers> held = code.registers(op.getA());
  if (failed(held))
    return failure();
  fragmentsA = operandWords(code, loc, *held, rowsTogether(op), repeatM);
  return success();
}

/// Elements from the first of A to the first of this thread's warpgroup.
Index WarpgroupProduct::firstRow() {
  if (countWarpgroups(code.threads) <= 1)
    return Index(0);
  return code.multiply(loc,
                       Index(arith::DivUIOp::create(code.b, loc, code.warp(),
                                                    code.constant(loc, 4))
                                 .getResult()),
                       a.boxRows ? Index(m / a.boxRows * a.boxStride) : Index(m * a.rowStride));
}

/// The words of A of instruction `row` and the step from `step` on.
SmallVector<Value> WarpgroupProduct::fragmentOfA(int64_t row, int64_t step) {
  constexpr size_t kFragment = 4; // registers of 64 rows by a step
  size_t first = (row + repeatM * (step / instruction->k)) * kFragment;
  return Registers(ValueRange(fragmentsA).slice(first, kFragment));
}

/// One instruction: its part of `sums`, and the part of both operands from `step` on.
void WarpgroupProduct::multiply(Registers &sums, Index first, int64_t row, int64_t column,
                                int64_t step) {
  Index inA = code.add(loc, first,
                       code.add(loc, rowOffset(code, loc, a, Index(row * instruction->m)),
                                sumOffset(a, step)));
  Index inB = code.add(loc, rowOffset(code, loc, b, Index(column * instruction->n)),
                       sumOffset(b, step));
  int64_t size = sums.size() / (repeatM * repeatN);
  auto at = sums.begin() + (row + repeatM * column) * size;
  SmallVector<Value> before(at, at + size);
  SmallVector<Type> types(TypeRange{ValueRange(before)});
  if (startsAtZero && step == 0)
    before.clear();
  SmallVector<Value> partA = inRegisters ? fragmentOfA(row, step)
                                         : SmallVector<Value>{describe(code, loc, a, inA)};
  auto product = WarpgroupMmaOp::create(code.b, loc, types, *op.getInstruction(), partA,
                                        describe(code, loc, b, inB), before, a.transposed,
                                        b.transposed);
  llvm::copy(product.getResults(), at);
}

Registers WarpgroupProduct::write(Registers sums) {
  Index first = firstRow();
  size_t numSums = startsAtZero ? 0 : sums.size();
  SmallVector<Value> fenced(sums.begin(), sums.begin() + numSums);
  llvm::append_range(fenced, fragmentsA);
  auto fence = MmaFenceOp::create(code.b, loc, TypeRange(ValueRange(fenced)), fenced);
  if (!startsAtZero)
    sums = Registers(fence.getResults().take_front(numSums));
  fragmentsA = Registers(fence.getResults().drop_front(numSums));
  for (int64_t step = 0; step < k; step += instruction->k)
    for (int64_t column = 0; column < repeatN; ++column)
      for (int64_t row = 0; row < repeatM; ++row)
        multiply(sums, first, row, column, step);
  MmaCommitOp::create(code.b, loc);
  return sums;
}

LogicalResult ThreadCode::multiplyByWarpgroup(MmaOp op) {
  WarpgroupProduct product(*this, op);
  if (failed(product.prepare()))
    return failure();
  Registers sums = product.write(packPairs(op.getLoc(), *registers(op.getAcc())));
  define(op.getResult(), unpackPairs(op.getLoc(), sums));
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
