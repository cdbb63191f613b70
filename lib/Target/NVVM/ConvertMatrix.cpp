// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of a warp. The operands of tilewright.mma_fragment are
// the thread's elements in atom order, which is PTX's order of registers and
// of halves within a register, so packing is by consecutive elements:
//
//   %d:4 = tilewright.mma_fragment "mma.m16n8k16.f16.f32"
//              (%a0 … %a7 : f16 …), (%b0 … %b3 : f16 …), (%c0 … %c3 : f32 …)
//
//   %r0 = <vector<2xf16>: %a0, %a1> …
//   %d  = nvvm.mma.sync A[%r0 … %r3] B[%s0, %s1] C[%c0 … %c3] …

#include "Convert.h"

#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// An instruction by its name in lowering configs.
struct Instruction {
  StringLiteral name;
  int64_t m, n, k;
  NVVM::MMATypes a, b;

  constexpr Instruction(StringLiteral name, int64_t m, int64_t n, int64_t k,
                        NVVM::MMATypes a, NVVM::MMATypes b)
      : name(name), m(m), n(n), k(k), a(a), b(b) {}
  constexpr Instruction(StringLiteral name, int64_t m, int64_t n, int64_t k,
                        NVVM::MMATypes type)
      : Instruction(name, m, n, k, type, type) {}
};
} // namespace

static constexpr StringLiteral kInlineProduct = "mma.sync.aligned.";

static constexpr Instruction kInstructions[] = {
    {"mma.m16n8k8.f16.f32", 16, 8, 8, NVVM::MMATypes::f16},
    {"mma.m16n8k16.f16.f32", 16, 8, 16, NVVM::MMATypes::f16},
    {"mma.m16n8k16.f16.f16", 16, 8, 16, NVVM::MMATypes::f16},
    {"mma.m16n8k8.bf16.f32", 16, 8, 8, NVVM::MMATypes::bf16},
    {"mma.m16n8k16.bf16.f32", 16, 8, 16, NVVM::MMATypes::bf16},
    {"mma.m16n8k32.s8.s32", 16, 8, 32, NVVM::MMATypes::s8},
    {"mma.m16n8k32.u8.s32", 16, 8, 32, NVVM::MMATypes::u8},
    {"mma.m8n8k16.s8.s32", 8, 8, 16, NVVM::MMATypes::s8},
    {"mma.m8n8k16.u8.s32", 8, 8, 16, NVVM::MMATypes::u8},
    {"mma.m16n8k32.s8.u8.s32", 16, 8, 32, NVVM::MMATypes::s8,
     NVVM::MMATypes::u8},
    {"mma.m16n8k32.u8.s8.s32", 16, 8, 32, NVVM::MMATypes::u8,
     NVVM::MMATypes::s8},
    {"mma.m8n8k16.s8.u8.s32", 8, 8, 16, NVVM::MMATypes::s8, NVVM::MMATypes::u8},
    {"mma.m8n8k16.u8.s8.s32", 8, 8, 16, NVVM::MMATypes::u8, NVVM::MMATypes::s8},
    {"mma.m16n8k32.e4m3.f32", 16, 8, 32, NVVM::MMATypes::e4m3},
    {"mma.m16n8k32.e5m2.f32", 16, 8, 32, NVVM::MMATypes::e5m2},
    {"mma.m16n8k32.e4m3.e5m2.f32", 16, 8, 32, NVVM::MMATypes::e4m3,
     NVVM::MMATypes::e5m2},
    {"mma.m16n8k32.e5m2.e4m3.f32", 16, 8, 32, NVVM::MMATypes::e5m2,
     NVVM::MMATypes::e4m3},
    {"mma.m16n8k8.tf32.f32", 16, 8, 8, NVVM::MMATypes::tf32},
    {"mma.m8n8k4.f64.f64", 8, 8, 4, NVVM::MMATypes::f64},
};

/// The registers of an operand: f64 as it is, f32 rounded to tf32, consecutive
/// halves as pairs, everything else as 32-bit integers.
static SmallVector<Value> pack(OpBuilder &builder, Location loc,
                               ValueRange elements) {
  SmallVector<Value> registers;
  Type elementType = elements.front().getType();
  if (elementType.isF64())
    return elements;
  if (elementType.isF32()) {
    for (Value element : elements)
      registers.push_back(NVVM::ConvertFloatToTF32Op::create(
          builder, loc, builder.getI32Type(), element,
          NVVM::FPRoundingMode::RNA));
    return registers;
  }
  int64_t perRegister = 32 / elementType.getIntOrFloatBitWidth();
  auto type = VectorType::get(perRegister, elementType);
  for (size_t first = 0; first < elements.size(); first += perRegister) {
    Value reg = LLVM::PoisonOp::create(builder, loc, type);
    for (int64_t i = 0; i < perRegister; ++i) {
      Value index = LLVM::ConstantOp::create(builder, loc,
                                             builder.getI32IntegerAttr(i));
      reg = LLVM::InsertElementOp::create(builder, loc, reg,
                                          elements[first + i], index);
    }
    if (!elementType.isF16())
      reg = LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), reg);
    registers.push_back(reg);
  }
  return registers;
}

/// Appends the two elements of a register.
static void unpackPair(OpBuilder &builder, Location loc, Value reg,
                       SmallVectorImpl<Value> &elements) {
  for (int64_t half = 0; half < 2; ++half) {
    Value index = LLVM::ConstantOp::create(builder, loc,
                                           builder.getI32IntegerAttr(half));
    elements.push_back(LLVM::ExtractElementOp::create(builder, loc, reg, index));
  }
}

/// NVVM knows products of 8-bit floats on sm_120 only; PTX has them since 8.4,
/// from sm_89 on.
static Value multiplyFloat8(OpBuilder &builder, Location loc,
                            const Instruction &instruction, Type resultType,
                            ArrayRef<Value> a, ArrayRef<Value> b,
                            ArrayRef<Value> acc) {
  std::string text, constraints;
  llvm::raw_string_ostream stream(text);
  stream << kInlineProduct << "m" << instruction.m << "n" << instruction.n << "k"
         << instruction.k << ".row.col.f32." << NVVM::stringifyEnum(instruction.a)
         << "." << NVVM::stringifyEnum(instruction.b) << ".f32 ";
  unsigned number = 0;
  auto list = [&](size_t count, StringRef end) {
    stream << "{";
    for (size_t i = 0; i < count; ++i)
      stream << (i ? ", $" : "$") << number++;
    stream << "}" << end;
  };
  list(acc.size(), ", ");
  list(a.size(), ", ");
  list(b.size(), ", ");
  list(acc.size(), ";");
  auto constrain = [&](size_t count, StringRef constraint) {
    for (size_t i = 0; i < count; ++i)
      constraints += (constraints.empty() ? "" : ",") + constraint.str();
  };
  constrain(acc.size(), "=f");
  constrain(a.size() + b.size(), "r");
  constrain(acc.size(), "f");
  SmallVector<Value> operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, acc);
  // A side effect keeps it where all lanes of the warp are.
  return LLVM::InlineAsmOp::create(
             builder, loc, resultType, operands, text, constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
             /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

int tilewright::nvvm::getNeededPTX(ModuleOp module) {
  int version = 0;
  module.walk([&](LLVM::InlineAsmOp op) {
    if (op.getAsmString().starts_with(kInlineProduct))
      version = 84;
  });
  return version;
}

namespace {
struct MmaFragmentLowering : ConvertOpToLLVMPattern<MmaFragmentOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(MmaFragmentOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Instruction *instruction =
        llvm::find_if(kInstructions, [&](const Instruction &candidate) {
          return candidate.name == op.getInstruction();
        });
    if (instruction == std::end(kInstructions))
      return op.emitOpError() << "this back end has no matrix instruction '"
                              << op.getInstruction() << "'";
    auto types =
        MatrixInstruction::parse(getContext(), op.getInstruction());
    if (!types)
      return op.emitOpError() << "instruction '" << op.getInstruction()
                              << "' is not understood";
    // Floats of 8 bits are bytes by now.
    Type elementType = types->operands[0];
    bool isFloat8 = tilewright::isFloat8(elementType);
    if (isFloat8)
      elementType = rewriter.getI8Type();
    auto matches = [](ValueRange values, size_t count, Type type) {
      return values.size() == count &&
             llvm::all_of(values.getTypes(), [&](Type t) { return t == type; });
    };
    // Elements per thread: the matrix over the 32 lanes of a warp.
    if (!matches(adaptor.getA(), instruction->m * instruction->k / 32,
                 elementType) ||
        !matches(adaptor.getB(), instruction->n * instruction->k / 32,
                 elementType) ||
        !matches(adaptor.getAcc(), instruction->m * instruction->n / 32,
                 types->accumulator) ||
        op.getNumResults() != op.getAcc().size())
      return op.emitOpError() << "operands are not those of '"
                              << op.getInstruction() << "'";

    Location loc = op.getLoc();
    SmallVector<Value> a = pack(rewriter, loc, adaptor.getA());
    SmallVector<Value> b = pack(rewriter, loc, adaptor.getB());
    SmallVector<Value> acc(adaptor.getAcc());
    bool packed = types->accumulator.isF16();
    if (packed)
      acc = pack(rewriter, loc, acc);
    auto resultType = LLVM::LLVMStructType::getLiteral(
        getContext(), SmallVector<Type>(ValueRange(acc).getTypes()));
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (types->accumulator.isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    Value result;
    if (isFloat8)
      result = multiplyFloat8(rewriter, loc, *instruction, resultType, a, b, acc);
    else
      result = NVVM::MmaOp::create(
          rewriter, loc, resultType, a, b, acc,
          ArrayRef<int64_t>{instruction->m, instruction->n, instruction->k},
          std::nullopt, overflow,
          std::array<NVVM::MMATypes, 2>{instruction->a, instruction->b},
          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                         NVVM::MMALayout::col});
    SmallVector<Value> elements;
    for (size_t i = 0; i < acc.size(); ++i) {
      Value reg = LLVM::ExtractValueOp::create(rewriter, loc, result, i);
      if (packed)
        unpackPair(rewriter, loc, reg, elements);
      else
        elements.push_back(reg);
    }
    rewriter.replaceOp(op, elements);
    return success();
  }
};
} // namespace

namespace {
struct LoadMatricesLowering : ConvertOpToLLVMPattern<LoadMatricesOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(LoadMatricesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MLIRContext *context = getContext();
    Value address = LLVM::GEPOp::create(
        rewriter, loc, adaptor.getBase().getType(), op.getResult(0).getType(),
        adaptor.getBase(), ArrayRef<LLVM::GEPArg>{adaptor.getOffset()});
    int64_t count = op.getNumResults() / 2;
    Type i32 = rewriter.getI32Type();
    Type type = count == 1 ? i32
                           : LLVM::LLVMStructType::getLiteral(
                                 context, SmallVector<Type>(count, i32));
    Value loaded = NVVM::LdMatrixOp::create(
        rewriter, loc, type, address, count,
        op.getTransposed() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
        NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> elements;
    auto pair = VectorType::get(2, op.getResult(0).getType());
    for (int64_t i = 0; i < count; ++i) {
      Value reg = count == 1 ? loaded
                             : LLVM::ExtractValueOp::create(rewriter, loc,
                                                            loaded, i);
      reg = LLVM::BitcastOp::create(rewriter, loc, pair, reg);
      unpackPair(rewriter, loc, reg, elements);
    }
    rewriter.replaceOp(op, elements);
    return success();
  }
};
} // namespace

void tilewright::nvvm::populateMatrixPatterns(const LLVMTypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<MmaFragmentLowering, LoadMatricesLowering>(converter);
}
