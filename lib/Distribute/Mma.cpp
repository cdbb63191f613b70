// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block-level matrix products in per-thread code.
//
// By FMA: A and B lie in shared memory; each thread owns a register tile of the
// accumulator. For each k, it loads the rows of A and columns of B that its
// tile touches (neighbours with one wide access) and multiplies:
//
//   for k:  a[0..7] = A[k][my m's]   b[0..7] = B[k][my n's]
//           acc[i][j] = fma(a[i], b[j], acc[i][j])
//
// By instruction: operands and accumulator are fragments in registers; the
// block tile is a grid of instruction tiles.

#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

namespace {

/// What one thread needs of one operand for one k: its distinct elements, and
/// for each accumulator register the number of the element that it multiplies.
struct OperandTile {
  MemView view;
  AffineMap map;
  Index base;                         // element offset at k = 0, register 0
  std::vector<std::vector<int64_t>> elements; // constant coordinates, distinct
  SmallVector<int64_t> ofRegister;
  /// Runs of neighbouring elements that are loaded together.
  SmallVector<std::pair<int64_t, int64_t>> runs; // first element, count
};

} // namespace

/// The coordinate of each operand dim that comes from the accumulator layout,
/// for given accumulator coordinates; 0 for reduction loops.
static std::vector<int64_t> operandCoordinates(AffineMap operand,
                                               AffineMap acc,
                                               ArrayRef<int64_t> accCoords) {
  std::vector<int64_t> result;
  for (AffineExpr expr : operand.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    int64_t value = 0;
    for (auto [dim, accExpr] : llvm::enumerate(acc.getResults()))
      if (cast<AffineDimExpr>(accExpr).getPosition() == loop)
        value = accCoords[dim];
    result.push_back(value);
  }
  return result;
}

static OperandTile planOperand(ThreadCode &code, Location loc, MemView view,
                               AffineMap map, AffineMap accMap,
                               const DistributedLayout &acc) {
  OperandTile tile;
  tile.view = view;
  tile.map = map;
  tile.base = view.offset;
  int64_t aligned = view.offsetDivisor;
  SmallVector<Index> bases = code.baseCoordinates(acc);
  int64_t runDim = -1, runAcc = -1;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    bool unit = view.strides[dim].isConstant() && view.strides[dim].constant == 1;
    if (!unit)
      aligned = std::gcd(aligned, view.strideDivisors[dim]);
    for (auto [accDim, accExpr] : llvm::enumerate(accMap.getResults()))
      if (cast<AffineDimExpr>(accExpr).getPosition() == loop) {
        tile.base = code.add(loc, tile.base,
                             code.multiply(loc, bases[accDim], view.strides[dim]));
        if (unit) {
          runDim = dim;
          runAcc = accDim;
        }
      }
  }
  std::map<std::vector<int64_t>, int64_t> known;
  for (int64_t reg = 0; reg < acc.numRegisters(); ++reg)
    known.emplace(operandCoordinates(map, accMap, acc.registerOffset(reg)), 0);
  for (auto &[coordinates, number] : known) {
    number = tile.elements.size();
    tile.elements.push_back(coordinates);
  }
  for (int64_t reg = 0; reg < acc.numRegisters(); ++reg)
    tile.ofRegister.push_back(
        known[operandCoordinates(map, accMap, acc.registerOffset(reg))]);

  int64_t width = 1;
  if (runDim >= 0) {
    width = code.accessBytes / elementBytes(view.element);
    if (view.shared && !view.shared.getSwizzle().empty())
      aligned = std::gcd(aligned, int64_t(1) << view.shared.getSwizzle()[1]);
    while (width > 1 && (aligned % width || acc.contiguity(runAcc) % width))
      width /= 2;
  }
  // Elements are sorted, but runs are along runDim: gather greedily.
  for (int64_t first = 0; first < int64_t(tile.elements.size());) {
    int64_t count = 1;
    auto isNext = [&](int64_t position) {
      if (position >= int64_t(tile.elements.size()))
        return false;
      std::vector<int64_t> expected = tile.elements[first];
      expected[runDim] += count;
      return tile.elements[position] == expected;
    };
    while (runDim == int64_t(map.getNumResults()) - 1 && count < width &&
           isNext(first + count))
      ++count;
    while (width % count)
      --count;
    tile.runs.push_back({first, count});
    first += count;
  }
  return tile;
}

/// The elements of the operand for the k that `kCoords` gives per operand dim.
static SmallVector<Value> loadOperand(ThreadCode &code, Location loc,
                                      const OperandTile &tile,
                                      ArrayRef<Index> kCoords) {
  SmallVector<Value> values;
  Index atK = tile.base;
  for (auto [coordinate, stride] : llvm::zip_equal(kCoords, tile.view.strides))
    atK = code.add(loc, atK, code.multiply(loc, coordinate, stride));
  for (auto [first, count] : tile.runs) {
    Index offset = atK;
    for (auto [coordinate, stride] :
         llvm::zip_equal(tile.elements[first], tile.view.strides))
      offset = code.add(loc, offset,
                        code.multiply(loc, Index(coordinate), stride));
    llvm::append_range(
        values, code.load(loc, tile.view,
                          code.elementOffset(loc, tile.view, offset), count));
  }
  return values;
}

/// Extends an operand element to the accumulator's type.
static Value widen(OpBuilder &b, Location loc, Value value, Type to,
                   bool isUnsigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (isa<FloatType>(to) && isa<FloatType>(from))
    return arith::ExtFOp::create(b, loc, to, value);
  if (isa<IntegerType>(to) && isa<IntegerType>(from))
    return isUnsigned ? arith::ExtUIOp::create(b, loc, to, value).getResult()
                      : arith::ExtSIOp::create(b, loc, to, value).getResult();
  return {};
}

namespace {
/// A product by FMA: a register tile of the accumulator, multiplied step by step of the sum.
class FmaProduct {
public:
  FmaProduct(ThreadCode &code, MmaOp op, const MemView &viewA, const MemView &viewB,
             const DistributedLayout &layout)
      : code(code), b(code.b), op(op), loc(op.getLoc()),
        maps(op.getMaps().getAsValueRange<AffineMapAttr>()),
        left(planOperand(code, loc, viewA, maps[0], maps[2], layout)),
        right(planOperand(code, loc, viewB, maps[1], maps[2], layout)),
        accType(cast<VectorType>(op.getAcc().getType()).getElementType()) {
    findSum();
  }

  int64_t countSteps() const { return llvm::product_of(extents); }
  int64_t lastExtent() const { return extents.empty() ? 1 : extents.back(); }
  /// `acc` with the products of all steps.
  FailureOr<Registers> unrolled(Registers acc);
  /// The same by a loop, so many steps of the innermost one in each of its own.
  FailureOr<Registers> looped(const Registers &acc, int64_t unroll);

private:
  /// The reduction loops and their static extents.
  void findSum();
  bool isUnsigned(unsigned operand) {
    auto signs = op.getSignedness();
    return signs && cast<StringAttr>((*signs)[operand]).getValue() == "unsigned";
  }
  /// The elements of operand `number` that are multiplied at `k`.
  SmallVector<Value> loadAt(unsigned number, ArrayRef<Index> k);
  FailureOr<Registers> multiplyAt(ArrayRef<Index> k, Registers acc);

  ThreadCode &code;
  OpBuilder &b;
  MmaOp op;
  Location loc;
  SmallVector<AffineMap> maps;
  OperandTile left, right;
  Type accType;
  SmallVector<int64_t> loops, extents;
};
} // namespace

void FmaProduct::findSum() {
  for (unsigned loop = 0; loop < maps[2].getNumDims(); ++loop) {
    if (maps[2].isFunctionOfDim(loop))
      continue;
    loops.push_back(loop);
    int64_t extent = 1;
    for (auto [map, operand] : {std::pair(maps[0], op.getA()),
                                std::pair(maps[1], op.getB())})
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (cast<AffineDimExpr>(expr).getPosition() == loop)
          extent = cast<ShapedType>(operand.getType()).getDimSize(dim);
    extents.push_back(extent);
  }
}

SmallVector<Value> FmaProduct::loadAt(unsigned number, ArrayRef<Index> k) {
  SmallVector<Index> coordinates;
  for (AffineExpr expr : maps[number].getResults()) {
    auto it = llvm::find(loops, cast<AffineDimExpr>(expr).getPosition());
    coordinates.push_back(it == loops.end() ? Index(0) : k[it - loops.begin()]);
  }
  return loadOperand(code, loc, number ? right : left, coordinates);
}

FailureOr<Registers> FmaProduct::multiplyAt(ArrayRef<Index> k, Registers acc) {
  SmallVector<Value> x = loadAt(0, k), y = loadAt(1, k);
  for (auto [number, values] : {std::pair(0, &x), {1, &y}})
    for (Value &value : *values)
      if (!(value = widen(b, loc, value, accType, isUnsigned(number))))
        return op.emitOpError() << "cannot multiply into " << accType;
  for (auto [reg, value] : llvm::enumerate(acc)) {
    Value fromA = x[left.ofRegister[reg]], fromB = y[right.ofRegister[reg]];
    if (isa<FloatType>(accType))
      value = math::FmaOp::create(b, loc, fromA, fromB, value);
    else
      value = arith::AddIOp::create(b, loc, value,
                                    arith::MulIOp::create(b, loc, fromA, fromB));
  }
  return acc;
}

FailureOr<Registers> FmaProduct::unrolled(Registers acc) {
  for (int64_t step = 0, steps = countSteps(); step < steps; ++step) {
    SmallVector<Index> k(extents.size());
    int64_t rest = step;
    for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
      k[dim] = Index(rest % extents[dim]);
      rest /= extents[dim];
    }
    FailureOr<Registers> next = multiplyAt(k, acc);
    if (failed(next))
      return failure();
    acc = *next;
  }
  return acc;
}

FailureOr<Registers> FmaProduct::looped(const Registers &acc, int64_t unroll) {
  auto loop = scf::ForOp::create(b, loc, code.constant(loc, 0),
                                 code.constant(loc, countSteps()),
                                 code.constant(loc, unroll), acc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Registers values(loop.getRegionIterArgs());
  // The step's digits: outer loops from the induction variable.
  SmallVector<Index> start(extents.size());
  Value rest = loop.getInductionVar();
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    Value extent = code.constant(loc, extents[dim]);
    start[dim] = dim == 0 ? Index(rest)
                          : Index(arith::RemUIOp::create(b, loc, rest, extent)
                                      .getResult());
    if (dim)
      rest = arith::DivUIOp::create(b, loc, rest, extent);
  }
  for (int64_t step = 0; step < unroll; ++step) {
    SmallVector<Index> k = start;
    k.back() = code.add(loc, k.back(), Index(step));
    FailureOr<Registers> next = multiplyAt(k, values);
    if (failed(next))
      return failure();
    values = *next;
  }
  scf::YieldOp::create(b, loc, values);
  return Registers(loop.getResults());
}

LogicalResult ThreadCode::multiplyByFma(MmaOp op) {
  FailureOr<DistributedLayout> layout = getLayout(op.getResult());
  FailureOr<Registers> acc = registers(op.getAcc());
  FailureOr<MemView> viewA = view(op.getA()), viewB = view(op.getB());
  if (failed(layout) || failed(acc) || failed(viewA) || failed(viewB))
    return failure();
  FmaProduct product(*this, op, *viewA, *viewB, *layout);
  // Unrolled while the body stays small; several reduction loops or a long one
  // become a loop over the last, innermost one unrolled in part.
  int64_t perStep = layout->numRegisters(), unroll = product.lastExtent();
  while (unroll % 2 == 0 && unroll * perStep > 2048)
    unroll /= 2;
  FailureOr<Registers> sums = product.countSteps() == unroll ? product.unrolled(*acc)
                                                             : product.looped(*acc, unroll);
  if (failed(sums))
    return failure();
  define(op.getResult(), *sums);
  return success();
}
