// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in memory, copies by tensor maps, threads with roles and blocks of clusters: what
// rings are made of on sm_90. What multiplies out of them is in ConvertWarpgroupMma.cpp.

#include "Convert.h"
#include "RingLowering.h"
#include "core/tensor_map_limits.h"

#include "tilewright/Dialect/Clusters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

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
  if (rank < 1 || rank > tensor_map::kMaxDims)
    return op.emitOpError() << "has " << rank << " coordinates; tensor maps have 1 to "
                            << tensor_map::kMaxDims;
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
               RingLowering<SetRegistersOp>>(converter);
}
