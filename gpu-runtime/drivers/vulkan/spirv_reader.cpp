// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pass over the words collects declarations by id; a second step gives each
// entry point its variables. From SPIR-V 1.4 on an entry point lists every
// global it uses; before that all globals of the module are taken.
#include "spirv_reader.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace tilewright::runtime::vulkan {

namespace {

enum Op : uint32_t {
  OpEntryPoint = 15,
  OpExecutionMode = 16,
  OpCapability = 17,
  OpTypeBool = 20,
  OpTypeInt = 21,
  OpTypeFloat = 22,
  OpTypeVector = 23,
  OpTypeArray = 28,
  OpTypeStruct = 30,
  OpTypePointer = 32,
  OpConstant = 43,
  OpFunction = 54,
  OpVariable = 59,
  OpDecorate = 71,
  OpExecutionModeId = 331,
};

enum : uint32_t {
  spirvMagic = 0x07230203,
  modelGLCompute = 5,
  modeLocalSize = 17,
  modeLocalSizeId = 38,
  decorationBuiltIn = 11,
  decorationBinding = 33,
  decorationDescriptorSet = 34,
  builtInWorkgroupSize = 25,
  classUniform = 2,
  classWorkgroup = 4,
  classPushConstant = 9,
  classStorageBuffer = 12,
  capabilityExplicitLayout = 4428,
};

struct Variable {
  uint32_t id, pointerType, storageClass;
};

struct Entry {
  uint32_t function;
  std::string name;
  std::vector<uint32_t> interface;
};

struct Declarations {
  std::unordered_map<uint32_t, uint64_t> sizes;      // type -> bytes
  std::unordered_map<uint32_t, uint32_t> pointees;   // pointer type -> type
  std::unordered_map<uint32_t, uint64_t> constants;  // low 32 bits
  std::unordered_map<uint32_t, uint32_t> sets, bindings;
  std::unordered_map<uint32_t, Extent3> localSizes;  // by function
  std::unordered_map<uint32_t, Extent3> localSizeIds;
  std::vector<Variable> variables;
  std::vector<Entry> entries;
  bool sizeIsConstant = true;

  uint64_t sizeOf(uint32_t type) const {
    auto it = sizes.find(type);
    return it == sizes.end() ? 0 : it->second;
  }
  uint64_t constant(uint32_t id) const {
    auto it = constants.find(id);
    return it == constants.end() ? 0 : it->second;
  }
};

} // namespace

/// Reads a literal string of at most `count` words; false if it has no end.
static bool readString(const uint32_t *words, size_t count, std::string &text,
                       size_t &used) {
  for (size_t i = 0; i < count; ++i)
    for (unsigned shift = 0; shift < 32; shift += 8) {
      char c = static_cast<char>((words[i] >> shift) & 0xff);
      if (c == 0) {
        used = i + 1;
        return true;
      }
      text.push_back(c);
    }
  return false;
}

/// The fewest words, the opcode's among them, that a declaration has.
static size_t fewestWords(uint32_t op) {
  switch (op) {
  case OpCapability:
  case OpTypeBool:
  case OpTypeStruct:
    return 2;
  case OpExecutionMode:
  case OpTypeInt:
  case OpTypeFloat:
  case OpDecorate:
    return 3;
  case OpEntryPoint:
  case OpTypeVector:
  case OpTypeArray:
  case OpTypePointer:
  case OpConstant:
  case OpVariable:
    return 4;
  default:
    return 1;
  }
}

/// A declaration of an entry point; `w` has `n` words. False if its name has no end.
static bool declareEntry(const uint32_t *w, size_t n, Declarations &decls) {
  Entry entry;
  size_t used = 0;
  if (!readString(w + 3, n - 3, entry.name, used))
    return false;
  entry.function = w[2];
  entry.interface.assign(w + 3 + used, w + n);
  if (w[1] == modelGLCompute)
    decls.entries.push_back(std::move(entry));
  return true;
}

/// The bytes of the type that is declared; of types that have none, nothing.
static void declareSize(uint32_t op, const uint32_t *w, size_t n,
                        Declarations &decls) {
  auto saturatingMul = [](uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
  };
  switch (op) {
  case OpTypeBool:
    decls.sizes[w[1]] = 4;
    break;
  case OpTypeInt:
  case OpTypeFloat:
    decls.sizes[w[1]] = w[2] / 8;
    break;
  case OpTypeVector:
    decls.sizes[w[1]] = saturatingMul(decls.sizeOf(w[2]), w[3]);
    break;
  case OpTypeArray:
    decls.sizes[w[1]] =
        saturatingMul(decls.sizeOf(w[2]), decls.constant(w[3]));
    break;
  case OpTypeStruct: {
    uint64_t total = 0;
    for (size_t i = 2; i < n; ++i)
      if (__builtin_add_overflow(total, decls.sizeOf(w[i]), &total))
        total = UINT64_MAX;
    decls.sizes[w[1]] = total;
    break;
  }
  default:
    break;
  }
}

/// Takes one declaration; `w` has `n` words, the opcode's among them.
static bool declare(uint32_t op, const uint32_t *w, size_t n,
                    SpirvModule &module, Declarations &decls) {
  if (n < fewestWords(op))
    return false;
  switch (op) {
  case OpCapability:
    module.capabilities.push_back(w[1]);
    break;
  case OpEntryPoint:
    return declareEntry(w, n, decls);
  case OpExecutionMode:
    if (w[2] == modeLocalSize && n >= 6)
      decls.localSizes[w[1]] = {w[3], w[4], w[5]};
    break;
  case OpExecutionModeId:
    if (n >= 6 && w[2] == modeLocalSizeId)
      decls.localSizeIds[w[1]] = {w[3], w[4], w[5]};
    break;
  case OpTypePointer:
    decls.pointees[w[1]] = w[3];
    break;
  case OpConstant:
    decls.constants[w[2]] =
        w[3] | (n > 4 ? static_cast<uint64_t>(w[4]) << 32 : 0);
    break;
  case OpVariable:
    decls.variables.push_back({w[2], w[1], w[3]});
    break;
  case OpDecorate:
    if (n >= 4 && w[2] == decorationDescriptorSet)
      decls.sets[w[1]] = w[3];
    if (n >= 4 && w[2] == decorationBinding)
      decls.bindings[w[1]] = w[3];
    if (n >= 4 && w[2] == decorationBuiltIn && w[3] == builtInWorkgroupSize)
      decls.sizeIsConstant = false;
    break;
  default:
    declareSize(op, w, n, decls);
  }
  return true;
}

static SpirvEntryPoint resolve(const Entry &entry, const Declarations &decls,
                               const SpirvModule &module) {
  uint32_t version = module.version;
  // With explicit layouts the Workgroup variables are aliases of one memory.
  bool aliased = std::find(module.capabilities.begin(),
                           module.capabilities.end(),
                           capabilityExplicitLayout) !=
                 module.capabilities.end();
  SpirvEntryPoint result;
  result.name = entry.name;
  if (decls.sizeIsConstant) {
    if (auto it = decls.localSizes.find(entry.function);
        it != decls.localSizes.end())
      result.localSize = it->second;
    if (auto it = decls.localSizeIds.find(entry.function);
        it != decls.localSizeIds.end())
      for (int i = 0; i < 3; ++i)
        result.localSize[i] =
            static_cast<uint32_t>(decls.constant(it->second[i]));
  }
  for (const Variable &variable : decls.variables) {
    if (version >= 14 && std::find(entry.interface.begin(),
                                   entry.interface.end(),
                                   variable.id) == entry.interface.end())
      continue;
    if (variable.storageClass == classWorkgroup) {
      auto pointee = decls.pointees.find(variable.pointerType);
      uint64_t bytes = pointee == decls.pointees.end()
                           ? 0
                           : decls.sizeOf(pointee->second);
      if (aliased)
        result.sharedBytes = std::max(result.sharedBytes, bytes);
      else if (__builtin_add_overflow(result.sharedBytes, bytes,
                                      &result.sharedBytes))
        result.sharedBytes = UINT64_MAX;
    }
    if (variable.storageClass == classPushConstant)
      result.usesPushConstants = true;
    if (variable.storageClass != classStorageBuffer &&
        variable.storageClass != classUniform)
      continue;
    auto set = decls.sets.find(variable.id);
    auto binding = decls.bindings.find(variable.id);
    SpirvBinding b;
    b.set = set == decls.sets.end() ? 0 : set->second;
    b.binding = binding == decls.bindings.end() ? 0 : binding->second;
    b.isUniform = variable.storageClass == classUniform;
    bool known = std::any_of(
        result.bindings.begin(), result.bindings.end(),
        [&](const SpirvBinding &other) {
          return other.set == b.set && other.binding == b.binding;
        });
    if (!known) // aliases of one binding count once
      result.bindings.push_back(b);
  }
  return result;
}

const SpirvEntryPoint *SpirvModule::find(const std::string &name) const {
  for (const SpirvEntryPoint &entry : entryPoints)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

Status readSpirv(const uint8_t *bytes, size_t size, SpirvModule &result) {
  if (!bytes || size < 20 || size % 4 != 0)
    return corruptArtifact("not a SPIR-V module: " + std::to_string(size) +
                           " bytes; a multiple of 4, at least 20, is expected");
  SpirvModule module;
  module.words.resize(size / 4);
  std::memcpy(module.words.data(), bytes, size);
  const std::vector<uint32_t> &words = module.words;
  if (words[0] != spirvMagic)
    return corruptArtifact("not a SPIR-V module: it does not begin with the "
                           "little-endian magic number 0x07230203");
  uint32_t major = (words[1] >> 16) & 0xff, minor = (words[1] >> 8) & 0xff;
  module.version = 10 * major + minor;

  Declarations decls;
  bool inFunctions = false;
  for (size_t at = 5; at < words.size();) {
    uint32_t op = words[at] & 0xffff;
    size_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at)
      return corruptArtifact("SPIR-V is malformed at word " +
                             std::to_string(at) + ": an instruction of " +
                             std::to_string(count) + " words with " +
                             std::to_string(words.size() - at) + " left");
    inFunctions |= op == OpFunction;
    if (!inFunctions && !declare(op, &words[at], count, module, decls))
      return corruptArtifact("SPIR-V is malformed at word " +
                             std::to_string(at) + ": opcode " +
                             std::to_string(op) + " is too short or unended");
    at += count;
  }
  if (!inFunctions)
    return corruptArtifact("SPIR-V is truncated: it has no function");
  for (const Entry &entry : decls.entries)
    module.entryPoints.push_back(resolve(entry, decls, module));
  result = std::move(module);
  return Status::ok();
}

const char *factOfCapability(uint32_t capability, const char *&name) {
  switch (capability) {
#define TW_CAPABILITY(VALUE, NAME, FACT)                                       \
  case VALUE:                                                                  \
    name = #NAME;                                                              \
    return FACT;
    TW_CAPABILITY(6, Kernel, "feature:OpenCL kernels")
    TW_CAPABILITY(9, Float16, "feature:shaderFloat16")
    TW_CAPABILITY(10, Float64, "feature:shaderFloat64")
    TW_CAPABILITY(11, Int64, "feature:shaderInt64")
    TW_CAPABILITY(12, Int64Atomics, "feature:shaderBufferInt64Atomics")
    TW_CAPABILITY(22, Int16, "feature:shaderInt16")
    TW_CAPABILITY(39, Int8, "feature:shaderInt8")
    TW_CAPABILITY(61, GroupNonUniform, "subgroup:basic")
    TW_CAPABILITY(62, GroupNonUniformVote, "subgroup:vote")
    TW_CAPABILITY(63, GroupNonUniformArithmetic, "subgroup:arithmetic")
    TW_CAPABILITY(64, GroupNonUniformBallot, "subgroup:ballot")
    TW_CAPABILITY(65, GroupNonUniformShuffle, "subgroup:shuffle")
    TW_CAPABILITY(66, GroupNonUniformShuffleRelative,
                  "subgroup:shuffle_relative")
    TW_CAPABILITY(67, GroupNonUniformClustered, "subgroup:clustered")
    TW_CAPABILITY(68, GroupNonUniformQuad, "subgroup:quad")
    TW_CAPABILITY(4428, WorkgroupMemoryExplicitLayoutKHR,
                  "feature:workgroupMemoryExplicitLayout")
    TW_CAPABILITY(4429, WorkgroupMemoryExplicitLayout8BitAccessKHR,
                  "feature:workgroupMemoryExplicitLayout8BitAccess")
    TW_CAPABILITY(4430, WorkgroupMemoryExplicitLayout16BitAccessKHR,
                  "feature:workgroupMemoryExplicitLayout16BitAccess")
    TW_CAPABILITY(4433, StorageBuffer16BitAccess,
                  "feature:storageBuffer16BitAccess")
    TW_CAPABILITY(4434, UniformAndStorageBuffer16BitAccess,
                  "feature:uniformAndStorageBuffer16BitAccess")
    TW_CAPABILITY(4435, StoragePushConstant16, "feature:storagePushConstant16")
    TW_CAPABILITY(4441, VariablePointersStorageBuffer,
                  "feature:variablePointersStorageBuffer")
    TW_CAPABILITY(4442, VariablePointers, "feature:variablePointers")
    TW_CAPABILITY(4448, StorageBuffer8BitAccess,
                  "feature:storageBuffer8BitAccess")
    TW_CAPABILITY(4449, UniformAndStorageBuffer8BitAccess,
                  "feature:uniformAndStorageBuffer8BitAccess")
    TW_CAPABILITY(4450, StoragePushConstant8, "feature:storagePushConstant8")
    TW_CAPABILITY(5116, BFloat16TypeKHR, "feature:shaderBFloat16Type")
    TW_CAPABILITY(5118, BFloat16CooperativeMatrixKHR,
                  "feature:shaderBFloat16CooperativeMatrix")
    TW_CAPABILITY(5345, VulkanMemoryModel, "feature:vulkanMemoryModel")
    TW_CAPABILITY(5346, VulkanMemoryModelDeviceScope,
                  "feature:vulkanMemoryModelDeviceScope")
    TW_CAPABILITY(5347, PhysicalStorageBufferAddresses,
                  "feature:bufferDeviceAddress")
    TW_CAPABILITY(6016, DotProductInputAll, "feature:shaderIntegerDotProduct")
    TW_CAPABILITY(6017, DotProductInput4x8Bit,
                  "feature:shaderIntegerDotProduct")
    TW_CAPABILITY(6018, DotProductInput4x8BitPacked,
                  "feature:shaderIntegerDotProduct")
    TW_CAPABILITY(6019, DotProduct, "feature:shaderIntegerDotProduct")
    TW_CAPABILITY(6022, CooperativeMatrixKHR, "feature:cooperativeMatrix")
    TW_CAPABILITY(6033, AtomicFloat32AddEXT,
                  "feature:shaderBufferFloat32AtomicAdd")
    TW_CAPABILITY(6034, AtomicFloat64AddEXT,
                  "feature:shaderBufferFloat64AtomicAdd")
#undef TW_CAPABILITY
  default:
    name = "";
    return nullptr;
  }
}

} // namespace tilewright::runtime::vulkan
