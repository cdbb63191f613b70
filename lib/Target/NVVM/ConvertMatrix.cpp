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
#include "Instructions.h"

#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

static constexpr StringLiteral kInlineProduct = "mma.sync.aligned.";

/// The registers of an operand: f64 as it is, f32 rounded to tf32, consecutive
/// halves as pairs (or `asBits`), everything else as 32-bit integers.
static SmallVector<Value> pack(OpBuilder &builder, Location loc,
                               ValueRange elements, bool asBits = false) {
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
    if (asBits || !elementType.isF16())
      reg = LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), reg);
    registers.push_back(reg);
  }
  return registers;
}

/// Appends the elements of type `type` that a register of 32 bits holds.
static void unpack(OpBuilder &builder, Location loc, Value reg, Type type,
                   SmallVectorImpl<Value> &elements) {
  int64_t count = 32 / type.getIntOrFloatBitWidth();
  if (!isa<VectorType>(reg.getType()))
    reg = LLVM::BitcastOp::create(builder, loc, VectorType::get(count, type), reg);
  for (int64_t i = 0; i < count; ++i) {
    Value index = LLVM::ConstantOp::create(builder, loc,
                                           builder.getI32IntegerAttr(i));
    elements.push_back(LLVM::ExtractElementOp::create(builder, loc, reg, index));
  }
}

/// The types of A and B in the instruction's name, "s8" and "u8", and the last
/// part, which is the accumulator's.
static SmallVector<StringRef> typeNames(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  SmallVector<StringRef> types(ArrayRef<StringRef>(parts).drop_front(2));
  if (types.size() == 2)
    types.insert(types.begin(), types.front());
  return types;
}

/// Of PTX: "m16n8k64", where k counts what the program's elements hold.
static StringRef shapeName(StringRef name) { return name.split('.').second.split('.').first; }

/// An instruction that NVVM has no operation for.
static Value multiplyInline(OpBuilder &builder, Location loc, StringRef name,
                            Type resultType, ArrayRef<Value> a,
                            ArrayRef<Value> b, ArrayRef<Value> acc) {
  SmallVector<StringRef> types = typeNames(name);
  std::string text, constraints;
  llvm::raw_string_ostream stream(text);
  stream << kInlineProduct << shapeName(name) << ".row.col." << types[2] << "."
         << types[0] << "." << types[1] << "." << types[2] << " ";
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
  auto letter = [](Type type) {
    return type.isF64() ? "d" : type.isF32() ? "f" : "r";
  };
  auto constrain = [&](ArrayRef<Value> values, StringRef prefix) {
    for (Value value : values)
      constraints += (constraints.empty() ? "" : ",") + prefix.str() +
                     letter(value.getType());
  };
  constrain(acc, "=");
  constrain(a, "");
  constrain(b, "");
  constrain(acc, "");
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
  // Of sm_90, PTX 7.8 has these; sm_89 has them since 8.1.
  TargetAttr target = getTarget(module);
  module.walk([&](LLVM::CallIntrinsicOp op) {
    StringRef name = op.getIntrin();
    if ((name.contains("e4m3x2") || name.contains("e5m2x2")) && target.getFact("sm", 0) == 89)
      version = std::max(version, 81);
  });
  module.walk([&](LLVM::InlineAsmOp op) {
    StringRef text = op.getAsmString();
    // Copies through tensor maps, and all that goes with them, came later than sm_90.
    if (text.starts_with("cp.async.bulk.tensor"))
      version = std::max(version, 80);
    // wgmma of two kinds of bytes came later than wgmma.
    if (text.starts_with("wgmma.mma_async") &&
        (text.contains(".s8.u8 ") || text.contains(".u8.s8 ")))
      version = std::max(version, 84);
    if (!text.starts_with(kInlineProduct))
      return;
    for (const MmaForm &row : getMmaForms()) {
      SmallVector<StringRef> types = typeNames(row.name);
      std::string form = (kInlineProduct + shapeName(row.name) + ".row.col." +
                          types[2] + "." + types[0] + "." + types[1] + "." + types[2] +
                          " ").str();
      if (text.starts_with(form))
        version = std::max(version, row.ptx);
    }
  });
  return version;
}

static Value multiply(OpBuilder &builder, Location loc,
                      const MatrixInstruction &types, StringRef name,
                      Type resultType, ArrayRef<Value> a, ArrayRef<Value> b,
                      ArrayRef<Value> acc) {
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (types.accumulator.isInteger())
    overflow = NVVM::MMAIntOverflow::wrapped;
  SmallVector<StringRef> names = typeNames(name);
  return NVVM::MmaOp::create(
      builder, loc, resultType, a, b, acc,
      ArrayRef<int64_t>{types.m, types.n, types.k * types.perElement},
      std::nullopt, overflow,
      std::array<NVVM::MMATypes, 2>{*NVVM::symbolizeMMATypes(names[0]),
                                    *NVVM::symbolizeMMATypes(names[1])},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
}

namespace {
struct MmaFragmentLowering : ConvertOpToLLVMPattern<MmaFragmentOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(MmaFragmentOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const MmaForm *form = lookupMmaForm(op.getInstruction());
    if (!form)
      return op.emitOpError() << "this back end has no matrix instruction '"
                              << op.getInstruction() << "'";
    auto types =
        MatrixInstruction::parse(getContext(), op.getInstruction());
    if (!types)
      return op.emitOpError() << "instruction '" << op.getInstruction()
                              << "' is not understood";
    // Floats of 8 bits are bytes by now.
    Type elementType = types->operands[0];
    if (isFloat8(elementType))
      elementType = rewriter.getI8Type();
    auto matches = [](ValueRange values, size_t count, Type type) {
      return values.size() == count &&
             llvm::all_of(values.getTypes(), [&](Type t) { return t == type; });
    };
    // Elements per thread: the matrix over the 32 lanes of a warp.
    if (!matches(adaptor.getA(), types->m * types->k / 32,
                 elementType) ||
        !matches(adaptor.getB(), types->n * types->k / 32,
                 elementType) ||
        !matches(adaptor.getAcc(), types->m * types->n / 32,
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
      acc = pack(rewriter, loc, acc, /*asBits=*/form->isInline);
    auto resultType = LLVM::LLVMStructType::getLiteral(
        getContext(), SmallVector<Type>(ValueRange(acc).getTypes()));
    Value result =
        form->isInline
            ? multiplyInline(rewriter, loc, form->name, resultType, a, b, acc)
            : multiply(rewriter, loc, *types, form->name, resultType, a, b, acc);
    SmallVector<Value> elements;
    for (size_t i = 0; i < acc.size(); ++i) {
      Value reg = LLVM::ExtractValueOp::create(rewriter, loc, result, i);
      if (packed)
        unpack(rewriter, loc, reg, types->accumulator, elements);
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
    Type element = op.getResult(0).getType();
    Value address = LLVM::GEPOp::create(
        rewriter, loc, adaptor.getBase().getType(), element,
        adaptor.getBase(), ArrayRef<LLVM::GEPArg>{adaptor.getOffset()});
    int64_t count = op.getNumResults() * element.getIntOrFloatBitWidth() / 32;
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
    for (int64_t i = 0; i < count; ++i) {
      Value reg = count == 1 ? loaded
                             : LLVM::ExtractValueOp::create(rewriter, loc,
                                                            loaded, i);
      unpack(rewriter, loc, reg, element, elements);
    }
    rewriter.replaceOp(op, elements);
    return success();
  }
};

struct StoreMatricesLowering : ConvertOpToLLVMPattern<StoreMatricesOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(StoreMatricesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = cast<MemRefType>(op.getBase().getType()).getElementType();
    Value address = LLVM::GEPOp::create(
        rewriter, loc, adaptor.getBase().getType(), element, adaptor.getBase(),
        ArrayRef<LLVM::GEPArg>{adaptor.getOffset()});
    rewriter.replaceOpWithNewOp<NVVM::StMatrixOp>(
        op, address, pack(rewriter, loc, adaptor.getValues(), /*asBits=*/true),
        NVVM::MMALayout::row, NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    return success();
  }
};
} // namespace

void tilewright::nvvm::populateMatrixPatterns(const LLVMTypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<MmaFragmentLowering, LoadMatricesLowering, StoreMatricesLowering>(
      converter);
}
