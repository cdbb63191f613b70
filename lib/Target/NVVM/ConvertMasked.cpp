// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to the first elements of a vector, one predicated instruction each
// and no branch:
//
//   %m = vector.create_mask %n : vector<8xi1>
//   %v = vector.maskedload %a[%i], %m, %zero : memref<?xf16>, vector<8xi1>, vector<8xf16>
// becomes
//   setp.gt.s32 p, n, 0;  @p ld.global.nc.b16 h0, [a];
//   setp.gt.s32 p, n, 1;  @p ld.global.nc.b16 h1, [a+2]; …
//
// in one block of text: all share one address, and LLVM, which would make a
// branch for each element, has nothing to look at. What is loaded is read by
// nobody else's stores: `distribute` masks loads of read-only operands alone.

#include "Convert.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

namespace {

/// The vector as 32-bit words.
struct Words {
  int64_t elements = 0, bytes = 0; // of the vector; of an element
  int64_t perWord() const { return std::max<int64_t>(1, 4 / bytes); }
  int64_t count() const { return elements / perWord(); }

  static std::optional<Words> of(VectorType type) {
    Type element = type.getElementType();
    if (type.getRank() != 1 || !element.isIntOrFloat())
      return std::nullopt;
    Words words{type.getNumElements(), element.getIntOrFloatBitWidth() / 8};
    if ((words.bytes != 1 && words.bytes != 2 && words.bytes != 4) ||
        words.elements % words.perWord())
      return std::nullopt;
    return words;
  }
};

/// PTX with operands `$0`, `$1`, … for elements of a run.
class RunText {
public:
  explicit RunText(const Words &words) : words(words) {
    text = "{ .reg .pred p;";
    if (words.bytes == 2)
      text += " .reg .b16 h<" + std::to_string(words.elements) + ">;";
    if (words.bytes == 1)
      text += " .reg .b32 h<" + std::to_string(words.elements) + ">;";
  }
  /// Element `i`'s register, where word `w` is operand `w + first`.
  std::string element(int64_t i, int64_t first) const {
    return words.bytes == 4 ? "$" + std::to_string(i + first)
                            : "h" + std::to_string(i);
  }
  /// `access` under the predicate that element `i` is among the first `valid`.
  void masked(int64_t i, int64_t valid, const std::string &access) {
    text += " setp.gt.s32 p, $" + std::to_string(valid) + ", " +
            std::to_string(i) + "; @p " + access + ";";
  }
  void line(const std::string &instruction) { text += " " + instruction + ";"; }
  /// Word <- elements.
  void pack(int64_t word, const std::string &operand) {
    std::string at = "h" + std::to_string(word * words.perWord());
    auto h = [&](int64_t i) {
      return "h" + std::to_string(word * words.perWord() + i);
    };
    if (words.bytes == 2) {
      line("mov.b32 " + operand + ", {" + h(0) + ", " + h(1) + "}");
    } else if (words.bytes == 1) {
      // Bytes of registers that are zero above them.
      line("prmt.b32 " + h(0) + ", " + h(0) + ", " + h(1) + ", 0x1140");
      line("prmt.b32 " + h(2) + ", " + h(2) + ", " + h(3) + ", 0x1140");
      line("prmt.b32 " + operand + ", " + h(0) + ", " + h(2) + ", 0x5410");
    }
  }
  /// Elements <- word.
  void unpack(int64_t word, const std::string &operand) {
    auto h = [&](int64_t i) {
      return "h" + std::to_string(word * words.perWord() + i);
    };
    if (words.bytes == 2) {
      line("mov.b32 {" + h(0) + ", " + h(1) + "}, " + operand);
    } else if (words.bytes == 1) {
      line("mov.b32 " + h(0) + ", " + operand);
      for (int64_t i = 1; i < 4; ++i)
        line("shr.u32 " + h(i) + ", " + operand + ", " + std::to_string(8 * i));
    }
  }
  std::string finish() { return text + " }"; }

private:
  const Words &words;
  std::string text;
};

/// The number of elements that a mask keeps, as i32; null: not such a mask.
Value countOf(Value mask, Location loc, ConversionPatternRewriter &rewriter) {
  Type i32 = rewriter.getI32Type();
  // Folding makes it of a count that is known.
  if (auto constant = mask.getDefiningOp<vector::ConstantMaskOp>();
      constant && constant.getMaskDimSizes().size() == 1)
    return LLVM::ConstantOp::create(
        rewriter, loc, i32,
        rewriter.getI32IntegerAttr(constant.getMaskDimSizes().front()));
  auto create = mask.getDefiningOp<vector::CreateMaskOp>();
  if (!create || create.getOperands().size() != 1)
    return {};
  Value count = rewriter.getRemappedValue(create.getOperands()[0]);
  if (!count || !count.getType().isInteger())
    return {};
  if (count.getType() != i32)
    count = LLVM::TruncOp::create(rewriter, loc, i32, count);
  return count;
}

Value addressOf(Value base, ValueRange indices, Type element, Location loc,
                ConversionPatternRewriter &rewriter) {
  // Not `inbounds`: where nothing is valid, nothing is accessed.
  if (indices.empty())
    return base;
  return LLVM::GEPOp::create(rewriter, loc, base.getType(), element, base,
                             indices);
}

std::string offsetText(int64_t bytes) {
  return bytes ? "+" + std::to_string(bytes) : "";
}

LLVM::InlineAsmOp makeAsm(ConversionPatternRewriter &rewriter, Location loc,
                          TypeRange result, ValueRange operands, StringRef text,
                          StringRef constraints, bool sideEffects) {
  return LLVM::InlineAsmOp::create(
      rewriter, loc, result, operands, text, constraints, sideEffects,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

struct MaskedLoadLowering : ConvertOpToLLVMPattern<vector::MaskedLoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(vector::MaskedLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVectorType();
    std::optional<Words> words = Words::of(type);
    Value count = countOf(op.getMask(), loc, rewriter);
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(adaptor.getBase().getType());
    if (!words || !count || !pointer ||
        pointer.getAddressSpace() != kGlobalSpace ||
        (!matchPattern(op.getPassThru(), m_Zero()) &&
         !matchPattern(op.getPassThru(), m_AnyZeroFloat())))
      return rewriter.notifyMatchFailure(
          op, "not the first elements of a run of global memory, else zeros");
    int64_t numWords = words->count();
    std::string bits = "b" + std::to_string(words->bytes * 8);
    RunText text(*words);
    for (int64_t i = 0; i < words->elements; ++i) {
      std::string to = text.element(i, 0);
      text.line("mov." + (words->bytes == 1 ? "b32" : bits) + " " + to + ", 0");
      text.masked(i, numWords + 1,
                  "ld.global.nc." + (words->bytes == 1 ? "u8" : bits) + " " + to +
                      ", [$" + std::to_string(numWords) +
                      offsetText(i * words->bytes) + "]");
    }
    std::string constraints;
    for (int64_t word = 0; word < numWords; ++word) {
      text.pack(word, "$" + std::to_string(word));
      constraints += "=r,";
    }
    Type i32 = rewriter.getI32Type();
    Type result = numWords == 1
                      ? i32
                      : Type(LLVM::LLVMStructType::getLiteral(
                            getContext(), SmallVector<Type>(numWords, i32)));
    Value address = addressOf(adaptor.getBase(), adaptor.getIndices(),
                              type.getElementType(), loc, rewriter);
    Value loaded =
        makeAsm(rewriter, loc, result, {address, count}, text.finish(),
                constraints + "l,r", /*sideEffects=*/false)
            .getResult(0);
    Type vector = VectorType::get(numWords, i32);
    Value all = LLVM::PoisonOp::create(rewriter, loc, vector);
    for (int64_t word = 0; word < numWords; ++word) {
      Value value = numWords == 1
                        ? loaded
                        : LLVM::ExtractValueOp::create(rewriter, loc, loaded, word)
                              .getResult();
      Value at = LLVM::ConstantOp::create(rewriter, loc, i32,
                                          rewriter.getI32IntegerAttr(word));
      all = LLVM::InsertElementOp::create(rewriter, loc, vector, all, value, at);
    }
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, type, all);
    return success();
  }
};

struct MaskedStoreLowering : ConvertOpToLLVMPattern<vector::MaskedStoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(vector::MaskedStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVectorType();
    std::optional<Words> words = Words::of(type);
    Value count = countOf(op.getMask(), loc, rewriter);
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(adaptor.getBase().getType());
    if (!words || !count || !pointer || pointer.getAddressSpace() != kGlobalSpace)
      return rewriter.notifyMatchFailure(
          op, "not the first elements of a run of global memory");
    int64_t numWords = words->count();
    RunText text(*words);
    std::string constraints;
    for (int64_t word = 0; word < numWords; ++word) {
      text.unpack(word, "$" + std::to_string(word));
      constraints += "r,";
    }
    for (int64_t i = 0; i < words->elements; ++i)
      text.masked(i, numWords + 1,
                  "st.global." +
                      (words->bytes == 1 ? "u8"
                                         : "b" + std::to_string(words->bytes * 8)) +
                      " [$" + std::to_string(numWords) +
                      offsetText(i * words->bytes) + "], " + text.element(i, 0));
    Type i32 = rewriter.getI32Type();
    Value all = LLVM::BitcastOp::create(
        rewriter, loc, VectorType::get(numWords, i32), adaptor.getValueToStore());
    SmallVector<Value> operands;
    for (int64_t word = 0; word < numWords; ++word)
      operands.push_back(LLVM::ExtractElementOp::create(
          rewriter, loc, all,
          LLVM::ConstantOp::create(rewriter, loc, i32,
                                   rewriter.getI32IntegerAttr(word))));
    operands.push_back(addressOf(adaptor.getBase(), adaptor.getIndices(),
                                 type.getElementType(), loc, rewriter));
    operands.push_back(count);
    makeAsm(rewriter, loc, TypeRange(), operands, text.finish(),
            constraints + "l,r,~{memory}", /*sideEffects=*/true);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Masks are read by the accesses above alone.
template <typename Mask>
struct MaskLowering : ConvertOpToLLVMPattern<Mask> {
  using ConvertOpToLLVMPattern<Mask>::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(Mask op, typename Mask::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!llvm::all_of(op->getUsers(), [](Operation *user) {
          return isa<vector::MaskedLoadOp, vector::MaskedStoreOp>(user);
        }))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::PoisonOp>(op, op.getType());
    return success();
  }
};

} // namespace

void tilewright::nvvm::populateMaskedPatterns(const LLVMTypeConverter &converter,
                                              RewritePatternSet &patterns) {
  // Above upstream's patterns, which make branches.
  PatternBenefit benefit = 10;
  patterns.add<MaskedLoadLowering, MaskedStoreLowering,
               MaskLowering<vector::CreateMaskOp>,
               MaskLowering<vector::ConstantMaskOp>>(converter, benefit);
}
