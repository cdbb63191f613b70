// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous products of warpgroups: descriptors of matrices in shared memory, wgmma, and
// what orders its accumulators.

#include "Convert.h"
#include "RingLowering.h"

#include "tilewright/Dialect/MatrixInstruction.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

template <>
LogicalResult
RingLowering<MatrixDescriptorOp>::lower(MatrixDescriptorOp op, Adaptor adaptor,
                                        ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  Type i64 = b.getI64Type();
  Type element = cast<MemRefType>(op.getBase().getType()).getElementType();
  // In units of 16 bytes; start address, leading and stride offset have 14
  // bits, in which every place of shared memory has its number. An address has
  // more: in clusters the bits from 24 on say whose shared memory it is.
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  uint64_t swizzle = op.getSwizzle() == 128 ? 1 : op.getSwizzle() == 64 ? 2 : 3;
  uint64_t leading = op.getLeading() >> 4, stride = op.getStride() >> 4;
  if (leading > 0x3fff || stride > 0x3fff || op.getAdvance() * bytes % 16)
    return op.emitOpError() << "is of a matrix that no descriptor can name";
  Value low = LLVM::MulOp::create(b, loc, toI32(b, loc, adaptor.getOffset()),
                                  createI32(b, loc, bytes));
  // Of the base, which no loop changes.
  Value place = LLVM::AndOp::create(b, loc, sharedAddress(b, loc, adaptor.getBase()),
                                    createI32(b, loc, 0x3ffff));
  low = LLVM::AddOp::create(b, loc, place, low);
  low = LLVM::LShrOp::create(b, loc, low, createI32(b, loc, 4));
  low = LLVM::AddOp::create(
      b, loc, low,
      createI32(b, loc, int64_t(leading << 16) + op.getAdvance() * bytes / 16));
  // Two words, so that the upper one is a constant and nothing is carried into
  // it.
  auto words = VectorType::get(2, b.getI32Type());
  Value pair = LLVM::PoisonOp::create(b, loc, words);
  pair = LLVM::InsertElementOp::create(b, loc, pair, low, createI32(b, loc, 0));
  pair = LLVM::InsertElementOp::create(
      b, loc, pair, createI32(b, loc, int32_t(stride | swizzle << 30)),
      createI32(b, loc, 1));
  b.replaceOpWithNewOp<LLVM::BitcastOp>(op, i64, pair);
  return success();
}

/// Two 16-bit floats are in one register.
static bool isPair(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getNumElements() == 2 &&
         vector.getElementTypeBitWidth() == 16;
}

/// The values as inline PTX takes them: pairs as their bits.
static SmallVector<Value> registersOf(OpBuilder &b, Location loc, ValueRange values) {
  SmallVector<Value> registers(values);
  for (Value &value : registers)
    if (isPair(value.getType()))
      value = LLVM::BitcastOp::create(b, loc, b.getI32Type(), value);
  return registers;
}

/// "=f,=f,…" and "0,1,…": registers that an instruction updates.
static bool tieRegisters(ValueRange values, std::string &outputs,
                         std::string &inputs) {
  for (auto [number, value] : llvm::enumerate(values)) {
    Type type = value.getType();
    if (!type.isF32() && !type.isInteger(32) && !isPair(type))
      return false;
    outputs += (number ? "," : "") + std::string(type.isF32() ? "=f" : "=r");
    inputs += (number ? "," : "") + std::to_string(number);
  }
  return true;
}

/// Replaces `op` by the fields of a struct, one for each result.
static void replaceByFields(Operation *op, Value fields,
                            ConversionPatternRewriter &b) {
  SmallVector<Value> results;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    Type type = op->getResult(i).getType();
    Value result = fields;
    if (op->getNumResults() > 1)
      result = LLVM::ExtractValueOp::create(b, op->getLoc(), fields, i);
    results.push_back(isPair(type)
                          ? LLVM::BitcastOp::create(b, op->getLoc(), type, result)
                          : result);
  }
  b.replaceOp(op, results);
}

static Type fieldsOf(MLIRContext *context, ValueRange values) {
  SmallVector<Type> types(values.getTypes());
  for (Type &type : types)
    if (isPair(type))
      type = IntegerType::get(context, 32);
  return types.size() == 1 ? types.front()
                           : LLVM::LLVMStructType::getLiteral(context, types);
}

template <>
LogicalResult
RingLowering<WarpgroupMmaOp>::lower(WarpgroupMmaOp op, Adaptor adaptor,
                                    ConversionPatternRewriter &b) {
  auto instruction =
      MatrixInstruction::parse(b.getContext(), op.getInstruction());
  TargetAttr target = getTarget(op);
  if (!instruction || !instruction->warpgroup)
    return op.emitOpError() << "instruction '" << op.getInstruction()
                            << "' is none of a warpgroup";
  if (!target || target.getFact("sm") != 90 || !target.has("arch_specific"))
    return op.emitOpError()
           << "instruction '" << op.getInstruction() << "' is of sm_90a alone";
  size_t registers = instruction->m * instruction->n / 128;
  if (instruction->accumulator.isF16())
    registers /= 2;
  bool startsAtZero = adaptor.getAcc().empty();
  std::string outputs, inputs;
  if (op.getNumResults() != registers ||
      (!startsAtZero && adaptor.getAcc().size() != registers) ||
      !tieRegisters(op.getResults(), outputs, inputs))
    return op.emitOpError()
           << "accumulator is not " << registers << " registers of 32 bits";
  bool inRegisters = adaptor.getA().size() > 1;
  if (inRegisters && (adaptor.getA().size() != 4 ||
                      !llvm::all_of(adaptor.getA().getTypes(), [](Type type) {
                        return isPair(type) || type.isInteger(32);
                      })))
    return op.emitOpError() << "has A in registers that are not four pairs or words";
  // wgmma.m64n256k16.bf16.f32 -> m64n256k16, f32, bf16, bf16
  SmallVector<StringRef> parts;
  op.getInstruction().split(parts, '.');
  StringRef a = parts[2], bType = parts[parts.size() - 2], acc = parts.back();
  std::string text = ("wgmma.mma_async.sync.aligned." + parts[1] + "." + acc +
                      "." + a + "." + bType + " {")
                         .str();
  for (size_t i = 0; i < registers; ++i)
    text += (i ? ", $" : "$") + std::to_string(i);
  // Tied inputs have the numbers behind the outputs.
  size_t number = registers + adaptor.getAcc().size();
  auto reference = [&] { return "$" + std::to_string(number++); };
  text += "}, ";
  if (inRegisters)
    text += "{" + reference() + ", " + reference() + ", " + reference() + ", " +
            reference() + "}";
  else
    text += reference();
  text += ", " + reference() + (startsAtZero ? ", 0" : ", 1");
  if (acc != "s32")
    text += ", 1, 1";
  if (instruction->operandBits() == 16)
    text += (inRegisters          ? ""
             : op.getTransposedA() ? ", 1"
                                   : ", 0") +
            std::string(op.getTransposedB() ? ", 1" : ", 0");
  SmallVector<Value> operands = registersOf(b, op.getLoc(), adaptor.getAcc());
  llvm::append_range(operands, registersOf(b, op.getLoc(), adaptor.getA()));
  operands.push_back(adaptor.getB());
  Value fields = inlinePTX(b, op.getLoc(), fieldsOf(b.getContext(), op.getResults()),
                           operands, text + ";",
                           outputs + (startsAtZero ? "" : "," + inputs) +
                               (inRegisters ? ",r,r,r,r,l" : ",l,l"));
  replaceByFields(op, fields, b);
  return success();
}

template <>
LogicalResult RingLowering<MmaCommitOp>::lower(MmaCommitOp op, Adaptor,
                                               ConversionPatternRewriter &b) {
  b.replaceOpWithNewOp<NVVM::WgmmaGroupSyncAlignedOp>(op);
  return success();
}

/// An instruction that orders accesses to accumulators: they go through it, so that
/// nothing that touches them passes it.
static LogicalResult orderAccumulators(Operation *op, ValueRange values,
                                       const Twine &text,
                                       ConversionPatternRewriter &b) {
  std::string outputs, inputs;
  if (!tieRegisters(values, outputs, inputs))
    return op->emitOpError() << "is for registers of 32 bits";
  if (values.empty()) {
    inlinePTX(b, op->getLoc(), Type(), {}, text, "");
    b.eraseOp(op);
    return success();
  }
  Value fields = inlinePTX(b, op->getLoc(), fieldsOf(b.getContext(), values),
                           registersOf(b, op->getLoc(), values), text,
                           outputs + "," + inputs);
  replaceByFields(op, fields, b);
  return success();
}

template <>
LogicalResult RingLowering<MmaFenceOp>::lower(MmaFenceOp op, Adaptor adaptor,
                                              ConversionPatternRewriter &b) {
  return orderAccumulators(op, adaptor.getValues(), "wgmma.fence.sync.aligned;", b);
}

template <>
LogicalResult RingLowering<MmaWaitOp>::lower(MmaWaitOp op, Adaptor adaptor,
                                             ConversionPatternRewriter &b) {
  return orderAccumulators(op, adaptor.getValues(),
                           "wgmma.wait_group.sync.aligned " +
                               Twine(op.getPending()) + ";",
                           b);
}

void tilewright::nvvm::populateWarpgroupMmaPatterns(const LLVMTypeConverter &converter,
                                                    RewritePatternSet &patterns) {
  patterns.add<RingLowering<MatrixDescriptorOp>, RingLowering<WarpgroupMmaOp>,
               RingLowering<MmaFenceOp>, RingLowering<MmaCommitOp>, RingLowering<MmaWaitOp>>(
      converter);
}
