// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who a thread is, and how threads meet: ids, barriers, shuffles.
//
// Lane and subgroup come from SubgroupLocalInvocationId and SubgroupId, never
// from the invocation index: Vulkan does not promise that consecutive
// invocations share a subgroup. (The runtime asks for the kernel's subgroup
// size and for full subgroups, so that the numbers cover the block.)
//
//   %y, %ok = gpu.shuffle xor %x, %mask, %width : f32
// becomes
//   %y = spirv.GroupNonUniformShuffleXor <Subgroup> %x, %mask : f32
//
// Values that are not of 32 bits are shuffled as words: shuffling other types
// is an optional feature (shaderSubgroupExtendedTypes).

#include "KernelEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

void KernelEmitter::emitBarrier() {
  // Like gpu.barrier (and CUDA's): also orders the block's global accesses.
  spirv::ControlBarrierOp::create(b, loc, spirv::Scope::Workgroup,
                                  spirv::Scope::Workgroup,
                                  spirv::MemorySemantics::AcquireRelease |
                                      spirv::MemorySemantics::WorkgroupMemory |
                                      spirv::MemorySemantics::UniformMemory);
}

Outcome KernelEmitter::emitShuffle(gpu::ShuffleOp op) {
  int64_t subgroup = target.getFact("subgroup");
  APInt width;
  if (!matchPattern(op.getWidth(), m_ConstantInt(&width)) ||
      width.getSExtValue() != subgroup) {
    op.emitOpError("has a width other than the constant ")
        << subgroup << ", the target's subgroup size";
    return Outcome::Failed;
  }
  if (op.getMode() != gpu::ShuffleMode::XOR &&
      op.getMode() != gpu::ShuffleMode::IDX) {
    op.emitOpError("has a mode other than xor and idx");
    return Outcome::Failed;
  }
  SmallVector<Type> types;
  if (failed(appendPartTypes(op, op.getValue().getType(), types)))
    return Outcome::Failed;

  Value offset = part(op.getOffset());
  auto shuffle = [&](Value value) {
    if (op.getMode() == gpu::ShuffleMode::XOR)
      return make<spirv::GroupNonUniformShuffleXorOp>(spirv::Scope::Subgroup,
                                                      value, offset);
    return make<spirv::GroupNonUniformShuffleOp>(spirv::Scope::Subgroup, value,
                                                 offset);
  };

  Type type = types.front();
  unsigned bits = type.getIntOrFloatBitWidth();
  Parts source = parts(op.getValue()), result;
  if (bits == 32) {
    for (Value value : source)
      result.push_back(shuffle(value));
  } else if (bits == 1) {
    for (Value value : source) {
      Value word = select(value, constant(b.getI32Type(), 1),
                          constant(b.getI32Type(), 0));
      result.push_back(
          make<spirv::INotEqualOp>(shuffle(word), constant(b.getI32Type(), 0)));
    }
  } else if (bits * source.size() % 32 == 0) {
    Parts words = toWords(source);
    for (Value &word : words)
      word = shuffle(word);
    result = fromWords(words, type);
  } else {
    Type narrow = b.getIntegerType(bits);
    for (Value value : source) {
      Value word =
          make<spirv::UConvertOp>(b.getI32Type(), bitcast(value, narrow));
      result.push_back(
          bitcast(make<spirv::UConvertOp>(narrow, shuffle(word)), type));
    }
  }
  setParts(op.getShuffleResult(), result);
  setParts(op.getValid(), constant(b.getI1Type(), 1));
  return Outcome::Done;
}

Outcome KernelEmitter::emitSubgroup(Operation *op) {
  auto dimension = [](gpu::Dimension dim) { return static_cast<int64_t>(dim); };
  auto setIndex = [&](Value word) {
    setParts(op->getResult(0),
             convertInteger(word, indexType(), /*isSigned=*/false));
    return Outcome::Done;
  };
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);

  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return setIndex(
        builtin(spirv::BuiltIn::WorkgroupId, dimension(id.getDimension())));
  if (auto dim = dyn_cast<gpu::GridDimOp>(op))
    return setIndex(
        builtin(spirv::BuiltIn::NumWorkgroups, dimension(dim.getDimension())));
  if (isa<gpu::LaneIdOp>(op))
    return setIndex(builtin(spirv::BuiltIn::SubgroupLocalInvocationId, -1));
  if (isa<gpu::SubgroupIdOp>(op))
    return setIndex(builtin(spirv::BuiltIn::SubgroupId, -1));
  if (isa<gpu::ThreadIdOp>(op)) {
    op->emitOpError("says nothing about lanes in Vulkan; use gpu.subgroup_id "
                    "and gpu.lane_id");
    return Outcome::Failed;
  }
  if (isa<gpu::BarrierOp>(op)) {
    emitBarrier();
    return Outcome::Done;
  }
  if (auto barrier = dyn_cast<BarrierOp>(op)) {
    if (barrier.getArrive() || !launch ||
        barrier.getThreads() != static_cast<uint64_t>(launch.getThreads())) {
      op->emitOpError("names some of the block's threads, and Vulkan has "
                      "barriers of whole blocks only; do not specialise warps "
                      "for this target");
      return Outcome::Failed;
    }
    emitBarrier();
    return Outcome::Done;
  }
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
    return emitShuffle(shuffle);
  return Outcome::Unknown;
}
