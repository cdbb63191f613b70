// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the thread form on bare pointers. All memrefs have rank 1, so a
// memref is its pointer and an access is one getelementptr:
//
//   %v = vector.load %a[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
//
//   %p = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
//   %v = llvm.load %p {alignment = 16} : !llvm.ptr<1> -> vector<4xf32>
//
// The 32-bit index is sign-extended by getelementptr, so addresses are 64-bit
// and everything before them is not. i1 elements are bytes that are 0 or 1.

#include "Convert.h"

#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/SharedPlaces.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

static constexpr StringLiteral kSymbolAttr = "tilewright.symbol";
static constexpr StringLiteral kOffsetAttr = "tilewright.offset";

/// Static shared memory of one kernel ends here; more must be dynamic.
static constexpr int64_t kStaticSharedBytes = 48 * 1024;
/// Of allocations that do not ask for more.
static constexpr int64_t kSharedAlignment = 128;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult tilewright::nvvm::defineSharedMemory(func::FuncOp kernel) {
  struct Range {
    memref::AllocOp alloc;
    int64_t from, to;
  };
  SmallVector<Range> ranges;
  int64_t alignment = kSharedAlignment;
  WalkResult walk = kernel.walk([&](memref::AllocOp alloc) {
    auto place = alloc->getAttrOfType<IntegerAttr>(kSharedPlaceAttr);
    std::optional<int64_t> bytes = sharedBytesOf(alloc.getType());
    if (!place || !bytes) {
      alloc.emitOpError("has no place in shared memory; tilewright-place-shared-memory "
                        "gives it one");
      return WalkResult::interrupt();
    }
    ranges.push_back({alloc, place.getInt(), place.getInt() + *bytes});
    alignment = std::max<int64_t>(alignment, alloc.getAlignment().value_or(1));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (ranges.empty())
    return success();
  int64_t total = 0;
  for (const Range &range : ranges)
    total = std::max(total, range.to);
  bool dynamic = total > kStaticSharedBytes;
  // Symbols of their own tell LLVM what does not meet.
  auto byPlace = ranges;
  llvm::stable_sort(byPlace, [](const Range &a, const Range &b) { return a.from < b.from; });
  bool overlap = llvm::any_of(llvm::seq<size_t>(1, byPlace.size()), [&](size_t i) {
    return byPlace[i].from < byPlace[i - 1].to;
  });

  auto builder =
      OpBuilder::atBlockBegin(kernel->getParentOfType<ModuleOp>().getBody());
  Type i8 = builder.getI8Type();
  auto makeGlobal = [&](Location loc, StringRef name, int64_t bytes) {
    auto type = LLVM::LLVMArrayType::get(i8, bytes);
    LLVM::GlobalOp::create(
        builder, loc, type, /*isConstant=*/false,
        dynamic ? LLVM::Linkage::External : LLVM::Linkage::Internal, name,
        /*value=*/Attribute(), alignment, kSharedSpace);
  };
  std::string base = (kernel.getName() + "_shared").str();
  if (dynamic || overlap)
    makeGlobal(kernel.getLoc(), base, dynamic ? 0 : total);
  if (dynamic)
    kernel->setAttr(kDynamicSharedAttr, builder.getI64IntegerAttr(total));
  for (auto [number, range] : llvm::enumerate(ranges)) {
    std::string name = base;
    if (!dynamic && !overlap) {
      name += "_" + std::to_string(number);
      makeGlobal(range.alloc.getLoc(), name, range.to - range.from);
      range.from = 0;
    }
    range.alloc->setAttr(kSymbolAttr, FlatSymbolRefAttr::get(kernel.getContext(), name));
    range.alloc->setAttr(kOffsetAttr, builder.getI64IntegerAttr(range.from));
  }
  return success();
}

namespace {
struct AllocLowering : ConvertOpToLLVMPattern<memref::AllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::AllocOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto symbol = op->getAttrOfType<FlatSymbolRefAttr>(kSymbolAttr);
    auto offset = op->getAttrOfType<IntegerAttr>(kOffsetAttr);
    if (!symbol || !offset)
      return rewriter.notifyMatchFailure(op, "has no place in shared memory");
    auto type = LLVM::LLVMPointerType::get(getContext(), kSharedSpace);
    Value address = LLVM::AddressOfOp::create(rewriter, op.getLoc(), type,
                                              symbol.getValue());
    if (offset.getInt())
      address = LLVM::GEPOp::create(
          rewriter, op.getLoc(), type, rewriter.getI8Type(), address,
          ArrayRef<LLVM::GEPArg>{int32_t(offset.getInt())});
    rewriter.replaceOp(op, address);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The type under which elements of `type` lie in memory.
static Type getMemoryType(Type type) {
  auto i8 = IntegerType::get(type.getContext(), 8);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getElementType().isInteger(1)
               ? VectorType::get(vector.getShape(), i8)
               : type;
  return type.isInteger(1) ? i8 : type;
}

/// Pattern over the four accesses; `Op` has getIndices and a memref operand.
template <typename Op> struct AccessLowering : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  using OpAdaptor = typename Op::Adaptor;

  static constexpr bool isVector =
      std::is_same_v<Op, vector::LoadOp> || std::is_same_v<Op, vector::StoreOp>;
  static constexpr bool isStore =
      std::is_same_v<Op, memref::StoreOp> || std::is_same_v<Op, vector::StoreOp>;

  LogicalResult
  matchAndRewrite(Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value base;
    Type valueType;
    if constexpr (isVector) {
      base = adaptor.getBase();
      valueType = op.getVectorType();
    } else {
      base = adaptor.getMemref();
      valueType = op.getMemRefType().getElementType();
    }
    auto pointerType = dyn_cast<LLVM::LLVMPointerType>(base.getType());
    Type type = this->getTypeConverter()->convertType(valueType);
    if (!pointerType || !type || op.getIndices().size() > 1)
      return rewriter.notifyMatchFailure(op, "not an access of a rank-1 memref");

    Type memoryType = getMemoryType(type);
    Type elementType = memoryType;
    if (auto vector = dyn_cast<VectorType>(memoryType))
      elementType = vector.getElementType();
    Value address = base;
    if (!adaptor.getIndices().empty())
      address = LLVM::GEPOp::create(rewriter, loc, pointerType, elementType,
                                    base, adaptor.getIndices(),
                                    LLVM::GEPNoWrapFlags::inbounds);
    // The vector's own alignment is what the op says, not what LLVM assumes.
    unsigned alignment =
        llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
    // It was found for indices of 64 bits.
    bool narrowed = op.getMemRefType().getElementType().isIndex() &&
                    elementType.isInteger(32);
    if (std::optional<uint64_t> given = op.getAlignment())
      alignment = narrowed ? *given / 2 : *given;
    bool nontemporal = op.getNontemporal();
    if constexpr (isStore) {
      Value value;
      if constexpr (isVector)
        value = adaptor.getValueToStore();
      else
        value = adaptor.getValue();
      if (memoryType != type)
        value = LLVM::ZExtOp::create(rewriter, loc, memoryType, value);
      rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, value, address, alignment,
                                                 /*isVolatile=*/false,
                                                 nontemporal);
    } else {
      Value value =
          LLVM::LoadOp::create(rewriter, loc, memoryType, address, alignment,
                               /*isVolatile=*/false, nontemporal);
      if (memoryType != type)
        value = LLVM::TruncOp::create(rewriter, loc, type, value);
      rewriter.replaceOp(op, value);
    }
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Between blocks
//===----------------------------------------------------------------------===//

/// Where 32 bits of `base` are.
Value stateAddress(OpBuilder &b, Location loc, Value base, ValueRange indices) {
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI32Type(), base, indices,
                             LLVM::GEPNoWrapFlags::inbounds);
}

/// All threads of the device.
constexpr StringLiteral kDeviceScope = "device";

struct TakeNumberLowering : ConvertOpToLLVMPattern<TakeNumberOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(TakeNumberOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value one = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(1));
    Value at = stateAddress(rewriter, loc, adaptor.getCounter(), adaptor.getIndices());
    rewriter.replaceOpWithNewOp<LLVM::AtomicRMWOp>(op, LLVM::AtomicBinOp::add, at, one,
                                                   LLVM::AtomicOrdering::monotonic,
                                                   kDeviceScope);
    return success();
  }
};

struct PublishLowering : ConvertOpToLLVMPattern<PublishOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(PublishOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value at =
        stateAddress(rewriter, op.getLoc(), adaptor.getStates(), adaptor.getIndices());
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, adaptor.getState(), at, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariantGroup=*/false, LLVM::AtomicOrdering::release,
        kDeviceScope);
    return success();
  }
};

struct ObserveLowering : ConvertOpToLLVMPattern<ObserveOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(ObserveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value at =
        stateAddress(rewriter, op.getLoc(), adaptor.getStates(), adaptor.getIndices());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
        op, rewriter.getI32Type(), at, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false, /*isInvariantGroup=*/false,
        LLVM::AtomicOrdering::acquire, kDeviceScope);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

struct AsyncCopyRunLowering : ConvertOpToLLVMPattern<AsyncCopyRunOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(AsyncCopyRunOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = cast<MemRefType>(op.getSource().getType()).getElementType();
    int64_t size = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    int64_t bytes = op.getCount() * size;
    // Not `inbounds`: where nothing is valid, nothing is read.
    auto address = [&](Value base, Value index) -> Value {
      return LLVM::GEPOp::create(rewriter, loc, base.getType(), element, base,
                                 ArrayRef<LLVM::GEPArg>{index});
    };
    Value valid = adaptor.getValid();
    if (valid) {
      Type i32 = rewriter.getI32Type();
      if (valid.getType() != i32)
        valid = LLVM::TruncOp::create(rewriter, loc, i32, valid);
      if (size != 1)
        valid = LLVM::MulOp::create(
            rewriter, loc, valid,
            LLVM::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(size)));
    }
    // What other blocks read as well is kept where all of them look for it;
    // the first-level cache takes copies of 16 bytes past itself.
    NVVM::CpAsyncOp::create(rewriter, loc,
                            address(adaptor.getDest(), adaptor.getTo()),
                            address(adaptor.getSource(), adaptor.getFrom()),
                            int32_t(bytes),
                            bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                        : NVVM::LoadCacheModifierKind::CA,
                            valid);
    rewriter.eraseOp(op);
    return success();
  }
};

struct AsyncCommitLowering : ConvertOpToLLVMPattern<AsyncCommitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(AsyncCommitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct AsyncWaitLowering : ConvertOpToLLVMPattern<AsyncWaitOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(AsyncWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(
        op, uint32_t(op.getPending()));
    return success();
  }
};
} // namespace

void tilewright::nvvm::populateMemoryPatterns(const LLVMTypeConverter &converter,
                                              RewritePatternSet &patterns) {
  // Above upstream's patterns, which expect descriptors.
  PatternBenefit benefit = 10;
  patterns.add<AllocLowering, AccessLowering<memref::LoadOp>,
               AccessLowering<memref::StoreOp>, AccessLowering<vector::LoadOp>,
               AccessLowering<vector::StoreOp>, AsyncCopyRunLowering,
               AsyncCommitLowering, AsyncWaitLowering, TakeNumberLowering, PublishLowering,
               ObserveLowering>(converter, benefit);
}
