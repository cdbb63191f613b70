// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in memory, copies by tensor maps and asynchronous products of
// warpgroups: what rings are made of on sm_90. Where NVVM has no operation that
// says all, PTX is written as it is. Everything here clobbers memory: what the
// copy engine writes, and who waits for it, LLVM does not see.

#include "Convert.h"

#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

static Value createI32(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc,
                                  builder.getI32IntegerAttr(value));
}

static Value toI32(OpBuilder &builder, Location loc, Value value) {
  Type i32 = builder.getI32Type();
  return value.getType() == i32
             ? value
             : LLVM::TruncOp::create(builder, loc, i32, value).getResult();
}

/// Where element `index` of shared memory `base` is.
static Value elementAddress(OpBuilder &builder, Location loc, Type element,
                            Value base, Value index) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// A shared address as instructions take it.
static Value sharedAddress(OpBuilder &builder, Location loc, Value pointer) {
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}

static Value inlinePTX(OpBuilder &builder, Location loc, Type result,
                       ValueRange operands, const Twine &text,
                       const Twine &constraints) {
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, result ? TypeRange(result) : TypeRange(), operands,
      text.str(),
      (constraints + (constraints.isTriviallyEmpty() ? "" : ",") + "~{memory}")
          .str(),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
      /*operand_attrs=*/ArrayAttr());
  return result ? op.getResult(0) : Value();
}

namespace {

template <typename Op> struct RingLowering : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  using Adaptor = typename Op::Adaptor;

  static Value barrierAddress(OpBuilder &b, Location loc, Value base,
                              Value index) {
    return elementAddress(b, loc, b.getI64Type(), base, index);
  }

  LogicalResult
  matchAndRewrite(Op op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return lower(op, adaptor, rewriter);
  }
  static LogicalResult lower(Op op, Adaptor adaptor,
                             ConversionPatternRewriter &b);
};

} // namespace

//===----------------------------------------------------------------------===//
// Barriers in memory
//===----------------------------------------------------------------------===//

template <>
LogicalResult
RingLowering<MbarrierInitOp>::lower(MbarrierInitOp op, Adaptor adaptor,
                                    ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  if (TargetAttr target = getTarget(op);
      target && target.getFact("sm", 90) < 90)
    return op.emitOpError()
           << "is for copies by tensor maps, which " << target.getName()
           << " does not have; they begin with sm_90";
  NVVM::MBarrierInitOp::create(
      b, loc, barrierAddress(b, loc, adaptor.getBarriers(), adaptor.getIndex()),
      createI32(b, loc, op.getArrivals()), /*predicate=*/Value());
  b.eraseOp(op);
  return success();
}

template <>
LogicalResult
RingLowering<MbarrierFenceOp>::lower(MbarrierFenceOp op, Adaptor,
                                     ConversionPatternRewriter &b) {
  b.replaceOpWithNewOp<NVVM::FenceMbarrierInitOp>(op);
  return success();
}

template <>
LogicalResult
RingLowering<MbarrierArriveOp>::lower(MbarrierArriveOp op, Adaptor adaptor,
                                      ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  Value address = sharedAddress(
      b, loc,
      barrierAddress(b, loc, adaptor.getBarriers(), adaptor.getIndex()));
  if (op.getAfterCopies() && (op.getBlock() || op.getBytes()))
    return op.emitOpError() << "follows this thread's copies at its own block's barrier, "
                               "and expects no bytes";
  if (op.getAfterCopies()) {
    inlinePTX(b, loc, Type(), {address},
              "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r");
  } else if (op.getBlock()) {
    if (op.getBytes())
      return op.emitOpError() << "expects bytes at another block's barrier";
    inlinePTX(b, loc, Type(), {address, toI32(b, loc, adaptor.getBlock())},
              "{ .reg .b32 there; mapa.shared::cluster.u32 there, $0, $1; "
              "mbarrier.arrive.shared::cluster.b64 _, [there]; }",
              "r,r");
  } else if (std::optional<int64_t> bytes = op.getBytes())
    inlinePTX(b, loc, Type(), {address, createI32(b, loc, *bytes)},
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r");
  else
    inlinePTX(b, loc, Type(), {address},
              "mbarrier.arrive.shared::cta.b64 _, [$0];", "r");
  b.eraseOp(op);
  return success();
}

template <>
LogicalResult
RingLowering<MbarrierWaitOp>::lower(MbarrierWaitOp op, Adaptor adaptor,
                                    ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  Value address = sharedAddress(
      b, loc,
      barrierAddress(b, loc, adaptor.getBarriers(), adaptor.getIndex()));
  inlinePTX(b, loc, Type(), {address, toI32(b, loc, adaptor.getParity())},
            "{ .reg .pred done; again: "
            "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
            "@!done bra again; }",
            "r,r");
  b.eraseOp(op);
  return success();
}

template <>
LogicalResult RingLowering<ElectOp>::lower(ElectOp op, Adaptor,
                                           ConversionPatternRewriter &b) {
  b.replaceOpWithNewOp<NVVM::ElectSyncOp>(op, b.getI1Type(), Value());
  return success();
}

template <>
LogicalResult RingLowering<WarpBarrierOp>::lower(WarpBarrierOp op, Adaptor,
                                                 ConversionPatternRewriter &b) {
  Value all = LLVM::ConstantOp::create(b, op.getLoc(), b.getI32IntegerAttr(-1));
  b.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, all);
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The innermost dim comes first.
static void appendCoordinates(OpBuilder &b, Location loc, ValueRange coordinates,
                              SmallVectorImpl<Value> &operands, std::string &text,
                              std::string &constraints) {
  for (auto [number, coordinate] : llvm::enumerate(llvm::reverse(coordinates))) {
    text += (number ? ", $" : "$") + std::to_string(operands.size());
    constraints += ",r";
    operands.push_back(toI32(b, loc, coordinate));
  }
}

template <>
LogicalResult RingLowering<TensorCopyOp>::lower(TensorCopyOp op,
                                                Adaptor adaptor,
                                                ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  Type element = cast<MemRefType>(op.getDest().getType()).getElementType();
  size_t rank = op.getCoordinates().size();
  if (rank < 1 || rank > 5)
    return op.emitOpError()
           << "has " << rank << " coordinates; tensor maps have 1 to 5";
  SmallVector<Value> operands = {
      sharedAddress(b, loc,
                    elementAddress(b, loc, element, adaptor.getDest(),
                                   adaptor.getOffset())),
      adaptor.getMap(),
      sharedAddress(
          b, loc,
          barrierAddress(b, loc, adaptor.getBarriers(), adaptor.getBarrier()))};
  std::string text =
      "cp.async.bulk.tensor." + std::to_string(rank) +
      "d.shared::cluster.global." + (op.getOffsets().empty() ? "tile" : "im2col") +
      ".mbarrier::complete_tx::bytes [$0], [$1, {";
  std::string constraints = "r,l,r";
  appendCoordinates(b, loc, adaptor.getCoordinates(), operands, text, constraints);
  text += "}], [$2]";
  // Of images: the innermost first as well, in 16 bits each.
  for (auto [number, offset] : llvm::enumerate(llvm::reverse(adaptor.getOffsets()))) {
    text += (number ? ", $" : ", {$") + std::to_string(operands.size());
    constraints += ",h";
    operands.push_back(
        LLVM::TruncOp::create(b, loc, b.getI16Type(), toI32(b, loc, offset)));
  }
  if (!op.getOffsets().empty())
    text += "}";
  if (Value blocks = adaptor.getBlocks()) {
    text.insert(text.find(" "), ".multicast::cluster");
    text += ", $" + std::to_string(operands.size());
    constraints += ",h";
    operands.push_back(LLVM::TruncOp::create(b, loc, b.getI16Type(), blocks));
  }
  inlinePTX(b, loc, Type(), operands, text + ";", constraints);
  b.eraseOp(op);
  return success();
}

template <>
LogicalResult
RingLowering<TensorStoreOp>::lower(TensorStoreOp op, Adaptor adaptor,
                                   ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  Type element = cast<MemRefType>(op.getSource().getType()).getElementType();
  SmallVector<Value> operands = {
      adaptor.getMap(),
      sharedAddress(b, loc,
                    elementAddress(b, loc, element, adaptor.getSource(),
                                   adaptor.getOffset()))};
  std::string text = "cp.async.bulk.tensor." +
                     std::to_string(op.getCoordinates().size()) +
                     "d.global.shared::cta.tile.bulk_group [$0, {";
  std::string constraints = "l,r";
  appendCoordinates(b, loc, adaptor.getCoordinates(), operands, text, constraints);
  inlinePTX(b, loc, Type(), operands, text + "}], [$1];", constraints);
  b.eraseOp(op);
  return success();
}

template <>
LogicalResult RingLowering<StoreCommitOp>::lower(StoreCommitOp op, Adaptor,
                                                 ConversionPatternRewriter &b) {
  b.replaceOpWithNewOp<NVVM::CpAsyncBulkCommitGroupOp>(op);
  return success();
}

template <>
LogicalResult RingLowering<StoreWaitOp>::lower(StoreWaitOp op, Adaptor,
                                               ConversionPatternRewriter &b) {
  b.replaceOpWithNewOp<NVVM::CpAsyncBulkWaitGroupOp>(
      op, b.getI32IntegerAttr(op.getPending()), /*read=*/b.getUnitAttr());
  return success();
}

template <>
LogicalResult RingLowering<ProxyFenceOp>::lower(ProxyFenceOp op, Adaptor,
                                                ConversionPatternRewriter &b) {
  inlinePTX(b, op.getLoc(), Type(), {}, "fence.proxy.async.shared::cta;", "");
  b.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Threads of a warpgroup, blocks of a cluster
//===----------------------------------------------------------------------===//

template <>
LogicalResult RingLowering<GroupBarrierOp>::lower(GroupBarrierOp op, Adaptor adaptor,
                                                  ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  NVVM::BarrierOp::create(b, loc, TypeRange(), toI32(b, loc, adaptor.getId()),
                          createI32(b, loc, op.getThreads()),
                          NVVM::BarrierReductionAttr(), Value());
  b.eraseOp(op);
  return success();
}

template <>
LogicalResult RingLowering<ClusterRankOp>::lower(ClusterRankOp op, Adaptor,
                                                 ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  Value rank = NVVM::ClusterId::create(b, loc, b.getI32Type());
  b.replaceOpWithNewOp<arith::IndexCastUIOp>(op, b.getIndexType(), rank);
  return success();
}

template <>
LogicalResult RingLowering<ClusterBarrierOp>::lower(ClusterBarrierOp op, Adaptor,
                                                    ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  NVVM::ClusterArriveOp::create(b, loc, /*aligned=*/b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, /*aligned=*/b.getUnitAttr());
  b.eraseOp(op);
  return success();
}

template <>
LogicalResult RingLowering<ClusterArriveOp>::lower(ClusterArriveOp op, Adaptor,
                                                   ConversionPatternRewriter &b) {
  b.replaceOpWithNewOp<NVVM::ClusterArriveOp>(op, /*aligned=*/b.getUnitAttr());
  return success();
}

template <>
LogicalResult RingLowering<ClusterWaitOp>::lower(ClusterWaitOp op, Adaptor,
                                                 ConversionPatternRewriter &b) {
  b.replaceOpWithNewOp<NVVM::ClusterWaitOp>(op, /*aligned=*/b.getUnitAttr());
  return success();
}

/// The base address is mapped, not each element's: what differs are constants.
template <>
LogicalResult RingLowering<ClusterLoadOp>::lower(ClusterLoadOp op, Adaptor adaptor,
                                                 ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  auto cluster = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  auto type = cast<VectorType>(op.getType());
  Value there = NVVM::MapaOp::create(b, loc, cluster, adaptor.getMemory(),
                                     toI32(b, loc, adaptor.getBlock()));
  Value from = elementAddress(b, loc, type.getElementType(), there, adaptor.getIndex());
  b.replaceOpWithNewOp<LLVM::LoadOp>(op, type, from,
                                     type.getNumElements() *
                                         type.getElementTypeBitWidth() / 8);
  return success();
}

template <>
LogicalResult RingLowering<ClusterStoreOp>::lower(ClusterStoreOp op, Adaptor adaptor,
                                                  ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  auto cluster = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  Value here = elementAddress(b, loc, adaptor.getValue().getType(),
                              adaptor.getMemory(), adaptor.getIndex());
  Value there = NVVM::MapaOp::create(b, loc, cluster, here,
                                     toI32(b, loc, adaptor.getBlock()));
  b.replaceOpWithNewOp<LLVM::StoreOp>(op, adaptor.getValue(), there);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

template <>
LogicalResult
RingLowering<SetRegistersOp>::lower(SetRegistersOp op, Adaptor,
                                    ConversionPatternRewriter &b) {
  // What a thread of the launch has: the registers of a multiprocessor, evenly.
  constexpr int64_t kRegisters = 65536;
  auto func = op->getParentOfType<FunctionOpInterface>();
  auto launch = func->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!launch)
    return op.emitOpError() << "needs '" << kLaunchAttr << "' of its kernel";
  int64_t before = kRegisters / launch.getThreads() / 8 * 8;
  NVVM::SetMaxRegisterOp::create(b, op.getLoc(), uint32_t(op.getCount()),
                                 int64_t(op.getCount()) > before
                                     ? NVVM::SetMaxRegisterAction::increase
                                     : NVVM::SetMaxRegisterAction::decrease);
  b.eraseOp(op);
  return success();
}

void tilewright::nvvm::populateRingPatterns(const LLVMTypeConverter &converter,
                                            RewritePatternSet &patterns) {
  patterns.add<RingLowering<ElectOp>, RingLowering<MbarrierInitOp>, RingLowering<MbarrierFenceOp>,
               RingLowering<MbarrierArriveOp>, RingLowering<MbarrierWaitOp>,
               RingLowering<WarpBarrierOp>, RingLowering<TensorCopyOp>,
               RingLowering<TensorStoreOp>,
               RingLowering<StoreCommitOp>, RingLowering<StoreWaitOp>,
               RingLowering<ProxyFenceOp>, RingLowering<GroupBarrierOp>,
               RingLowering<ClusterRankOp>, RingLowering<ClusterBarrierOp>,
               RingLowering<ClusterArriveOp>, RingLowering<ClusterWaitOp>,
               RingLowering<ClusterStoreOp>, RingLowering<ClusterLoadOp>,
               RingLowering<MatrixDescriptorOp>,
               RingLowering<WarpgroupMmaOp>, RingLowering<MmaFenceOp>,
               RingLowering<MmaCommitOp>, RingLowering<MmaWaitOp>,
               RingLowering<SetRegistersOp>>(converter);
}
