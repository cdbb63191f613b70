// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of rows of f32 for which AVX-512 has instructions:
//
//   %m = arith.maxnumf %x, %y : vector<2x64xf32>  ->  a call of llvm.maxnum for each row
//   %r = vector.reduction <maxnumf>, %x, %init    ->  of halves, quarters, … of a register
//   %e = math.exp %x                              ->  e^r in fewer steps than the expansion;
//                                                     2^n by llvm.ldexp, which is vscalefps,
//                                                     in place of two products
//
// A register holds a table of sixteen numbers, which vpermps looks up: polynomials of a low
// degree for each sixteenth of the argument's range in place of one for all of it.
//
//   %y = math.erf %x                              ->  x P(|x| - k / 4), P of degree 5 by the
//                                                     nearest k

#include "../Math/MathBuilder.h"
#include "Unroll.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {
#define GEN_PASS_DEF_AVX512MATHPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name, Type type,
                           ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name),
                                       arguments)
      .getResult(0);
}

static bool isSingle(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getElementType().isF32() && !vector.isScalable() &&
         vector.getRank() >= 1;
}

/// `make` for each row of the operands.
static void replaceByRows(PatternRewriter &rewriter, Operation *op,
                          llvm::function_ref<Value(ArrayRef<Value>)> make) {
  Location loc = op->getLoc();
  SmallVector<SmallVector<Value>> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getRows(rewriter, loc, operand));
  SmallVector<Value> rows;
  for (size_t row = 0; row < operands.front().size(); ++row) {
    SmallVector<Value> own;
    for (ArrayRef<Value> operand : operands)
      own.push_back(operand[row]);
    rows.push_back(make(own));
  }
  rewriter.replaceOp(op, fromRows(rewriter, loc, cast<VectorType>(op->getResult(0).getType()),
                                  rows));
}

/// e^r for |r| <= ln(2) / 2: of least error among the polynomials of degree 6 that are 1 + r near
/// 0, 3e-9.
static constexpr double kExpSeries[] = {1,            1,            0.4999999343, 0.166665204,
                                        0.0416683908, 0.0083687452, 0.001381454008};

/// Beyond the bounds, the result is infinite or rounds to zero. Values are within a unit in the
/// last place, as those of the expansion are.
static Value expOfRow(OpBuilder &builder, Location loc, Value row) {
  using tilewright::math::Float;
  tilewright::math::MathBuilder m(builder, loc, row.getType());
  Float x = m(row), magic = m(0x1.8p23);
  x = select(x > m(89), m(89), x);
  x = select(x < m(-104), m(-104), x);
  // The nearest integer to x / ln 2, as a float and in the low bits; ln 2 as a sum.
  Float shifted = fma(x, m(1.4426950408889634), magic), n = shifted - magic;
  Float r = fma(-n, m(0.693138122558593750), x);
  r = fma(-n, m(9.05800061445916e-06), r);
  Float power = tilewright::math::polynomial(r, kExpSeries);
  return callIntrinsic(builder, loc, "llvm.ldexp", row.getType(),
                       {power.value, (m.toBits(shifted) - m.toBits(magic)).value});
}

/// erf(a) / a = c[0] + c[1] d + … + c[5] d^5 for a = k / 4 + d, |d| <= 1/8, of each k: relative
/// error below 2^-28. From kErfEnd on, erf rounds to 1, and so does what comes of it.
static constexpr double kErfEnd = 3.84;
static constexpr int64_t kTableSize = 16;
static constexpr float kErfTable[][kTableSize] = {
    {1.12837923, 1.10530555, 1.04099977, 0.948207498, 0.842700779, 0.738320112, 0.644070089,
     0.563812375, 0.497661144, 0.44379434, 0.399837196, 0.363599777, 0.333325952, 0.307690978,
     0.28571406, 0.266666651},
    {-2.83378032e-08, -0.181165725, -0.32443434, -0.407035261, -0.427593291, -0.40143919,
     -0.350093216, -0.292021364, -0.238497078, -0.194067568, -0.159063563, -0.132004902,
     -0.111062236, -0.0946651623, -0.0816310495, -0.071110867},
    {-0.376123756, -0.335348725, -0.229913875, -0.100219391, 0.012483459, 0.0846288353,
     0.114464976, 0.114094824, 0.0985821262, 0.0791103169, 0.0614473224, 0.0474155545,
     0.0368814841, 0.029098535, 0.0233177394, 0.0189620052},
    {-9.04556728e-05, 0.10472054, 0.166898757, 0.169340879, 0.125883639, 0.0663251653,
     0.0161917843, -0.0136781214, -0.0251793489, -0.0255047437, -0.0212389231, -0.0162382741,
     -0.0120308129, -0.00889315363, -0.00665012933, -0.00505441008},
    {0.114236727, 0.0886064097, 0.0323598385, -0.0245320424, -0.0562992133, -0.0577499457,
     -0.0404915512, -0.0197514687, -0.00473105535, 0.00278750481, 0.00501625007, 0.00471193576,
     0.00366322254, 0.0026514472, 0.00188360841, 0.0013462425},
    {-0.00998845138, -0.0357242264, -0.0498217121, -0.0377069898, -0.0125309564, 0.0085234018,
     0.0170098692, 0.0149909696, 0.00887046661, 0.00349080376, 0.000445483107, -0.00070582371,
     -0.000879171828, -0.000718047726, -0.000514320564, -0.000353996671}};

/// `table[index mod 16]` for each lane.
static Value lookUp(OpBuilder &builder, Location loc, ArrayRef<float> table, Value index) {
  int64_t lanes = cast<VectorType>(index.getType()).getNumElements();
  auto type = VectorType::get(kTableSize, builder.getF32Type());
  Value numbers =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, table));
  Value result = ub::PoisonOp::create(builder, loc, VectorType::get(lanes, type.getElementType()));
  for (int64_t first = 0; first < lanes; first += kTableSize) {
    Value part = vector::ExtractStridedSliceOp::create(builder, loc, index, first, kTableSize,
                                                       /*strides=*/1);
    Value found = callIntrinsic(builder, loc, "llvm.x86.avx512.permvar.sf.512", type,
                                {numbers, part});
    result = vector::InsertStridedSliceOp::create(builder, loc, found, result, first,
                                                  /*strides=*/1);
  }
  return result;
}

static Value erfOfRow(OpBuilder &builder, Location loc, Value row) {
  using tilewright::math::Float;
  tilewright::math::MathBuilder m(builder, loc, row.getType());
  Float x = m(row);
  x = select(x > m(kErfEnd), m(kErfEnd), x);
  x = select(x < m(-kErfEnd), m(-kErfEnd), x);
  // The nearest k is in the low bits.
  Float a = abs(x), shifted = fma(a, m(4), m(0x1p23));
  Float d = fma(m(0x1p23) - shifted, m(0.25), a);
  Value index = m.toBits(shifted).value;
  Float p = m(lookUp(builder, loc, kErfTable[std::size(kErfTable) - 1], index));
  for (ArrayRef<float> table : llvm::reverse(ArrayRef(kErfTable).drop_back()))
    p = fma(p, d, m(lookUp(builder, loc, table, index)));
  return (x * p).value;
}

namespace {
template <typename Op> struct CallOfRows : OpRewritePattern<Op> {
  CallOfRows(MLIRContext *context, StringRef name)
      : OpRewritePattern<Op>(context), name(name) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    replaceByRows(rewriter, op, [&](ArrayRef<Value> rows) {
      return callIntrinsic(rewriter, op.getLoc(), name, rows.front().getType(), rows);
    });
    return success();
  }
  StringRef name;
};

/// LLVM takes the elements one after the other, each of which waits for the one before it.
struct ReduceByHalves : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ReductionOp op,
                                PatternRewriter &rewriter) const override {
    bool isMax = op.getKind() == vector::CombiningKind::MAXNUMF;
    VectorType type = op.getSourceVectorType();
    if (!(isMax || op.getKind() == vector::CombiningKind::MINNUMF) || !isSingle(type) ||
        !llvm::isPowerOf2_64(type.getNumElements()))
      return rewriter.notifyMatchFailure(op, "no greatest or least number of a row of f32");
    Location loc = op.getLoc();
    auto combine = [&](Value a, Value b) -> Value {
      return isMax ? Value(arith::MaxNumFOp::create(rewriter, loc, a, b))
                   : Value(arith::MinNumFOp::create(rewriter, loc, a, b));
    };
    Value row = op.getVector();
    for (int64_t half = type.getNumElements() / 2; half; half /= 2) {
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, half));
      auto high = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
      row = combine(vector::ShuffleOp::create(rewriter, loc, row, row, low),
                    vector::ShuffleOp::create(rewriter, loc, row, row, high));
    }
    Value result = vector::ExtractOp::create(rewriter, loc, row, int64_t(0));
    rewriter.replaceOp(op, op.getAcc() ? combine(result, op.getAcc()) : result);
    return success();
  }
};

struct ExpOfRows : OpRewritePattern<mlir::math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    replaceByRows(rewriter, op, [&](ArrayRef<Value> rows) {
      return expOfRow(rewriter, op.getLoc(), rows.front());
    });
    return success();
  }
};

struct ErfOfRows : OpRewritePattern<mlir::math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!isSingle(op.getType()) || type.getShape().back() % kTableSize)
      return rewriter.notifyMatchFailure(op, "no registers of f32");
    replaceByRows(rewriter, op, [&](ArrayRef<Value> rows) {
      return erfOfRow(rewriter, op.getLoc(), rows.front());
    });
    return success();
  }
};

struct Avx512MathPass : tilewright::impl::Avx512MathPassBase<Avx512MathPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<CallOfRows<arith::MaxNumFOp>>(&getContext(), "llvm.maxnum");
    patterns.add<CallOfRows<arith::MinNumFOp>>(&getContext(), "llvm.minnum");
    patterns.add<ReduceByHalves, ExpOfRows, ErfOfRows>(&getContext());
    if (failed(applyPatternsBounded(func, std::move(patterns), "lower",
                                    "choice of native functions")))
      signalPassFailure();
  }
};
} // namespace
