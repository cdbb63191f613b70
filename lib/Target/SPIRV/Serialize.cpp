// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A spirv.module to words, validated by SPIRV-Tools in process: a module that
// the validator refuses is never written. (What is newer than the validator is,
// with a note.)

#include "tilewright/Target/SPIRV/SPIRV.h"

#include "mlir/Target/SPIRV/Serialization.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "spirv-tools/libspirv.hpp"

using namespace mlir;
using namespace tilewright;

/// The newest Vulkan whose SPIR-V this version is, and the word for it.
static spv_target_env environment(spirv::Version version) {
  if (version <= spirv::Version::V_1_3)
    return SPV_ENV_VULKAN_1_1;
  return version <= spirv::Version::V_1_5 ? SPV_ENV_VULKAN_1_2
                                          : SPV_ENV_VULKAN_1_3;
}

/// Whether the linked SPIRV-Tools know all instructions of a module, which may
/// be newer than they are (cooperative matrices).
static bool isKnown(ArrayRef<uint32_t> words) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  return tools.Disassemble(words.data(), words.size(), &text);
}

FailureOr<SmallVector<uint32_t>>
tilewright::serializeSPIRV(spirv::ModuleOp module, bool debugInfo,
                           std::string *note) {
  std::optional<spirv::VerCapExtAttr> vce = module.getVceTriple();
  if (!vce)
    return module.emitOpError("has no version and capabilities");
  SmallVector<uint32_t> words;
  spirv::SerializationOptions options;
  // Lines come with a non-semantic instruction set, which SPIR-V 1.6 (Vulkan
  // 1.3) takes everywhere.
  if (debugInfo && vce->getVersion() >= spirv::Version::V_1_6) {
    SmallVector<spirv::Capability> capabilities(vce->getCapabilities());
    SmallVector<spirv::Extension> extensions(vce->getExtensions());
    extensions.push_back(spirv::Extension::SPV_KHR_non_semantic_info);
    module.setVceTripleAttr(spirv::VerCapExtAttr::get(
        vce->getVersion(), capabilities, extensions, module.getContext()));
    options.emitDebugInfo = true;
  }
  if (failed(spirv::serialize(module, words, options)))
    return failure();

  if (!isKnown(words)) {
    if (note)
      *note = std::string("not validated: newer than the SPIRV-Tools in this "
                          "program (") +
              spvSoftwareVersionString() +
              "); a newer `spirv-val --target-env vulkan1.3` checks it";
    return words;
  }
  spvtools::SpirvTools tools(environment(vce->getVersion()));
  std::string message;
  tools.SetMessageConsumer([&](spv_message_level_t, const char *,
                               const spv_position_t &position,
                               const char *text) {
    if (message.empty())
      message = text;
  });
  if (!tools.Validate(words.data(), words.size()))
    return module.emitOpError("is not valid SPIR-V for Vulkan: ") << message;
  return words;
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

namespace {
/// Instructions of cooperative matrices, which SPIRV-Tools may be too old for: how
/// many of the first operands are a result's type and the result, and after how
/// many words the operands stop being ids.
struct NewerOpcode {
  spirv::Opcode opcode;
  unsigned types, results, ids;
};
} // namespace

static constexpr NewerOpcode kNewerOpcodes[] = {
    {spirv::Opcode::OpTypeCooperativeMatrixKHR, 0, 1, 6},
    {spirv::Opcode::OpCooperativeMatrixLoadKHR, 1, 1, 5},
    {spirv::Opcode::OpCooperativeMatrixStoreKHR, 0, 0, 4},
    {spirv::Opcode::OpCooperativeMatrixMulAddKHR, 1, 1, 5},
    {spirv::Opcode::OpCooperativeMatrixLengthKHR, 1, 1, 3}};

/// "%12 = OpCooperativeMatrixMulAddKHR %7 %9 %10 %11", aligned as SPIRV-Tools do;
/// masks and what follows them are numbers.
static std::string newerText(const NewerOpcode &newer, ArrayRef<uint32_t> operands) {
  std::string result, text = spirv::stringifyOpcode(newer.opcode).str();
  for (auto [i, word] : llvm::enumerate(operands)) {
    std::string id = (i < newer.ids ? "%" : "") + std::to_string(word);
    if (newer.results && i == newer.types)
      result = id + " = ";
    else
      text += " " + id;
  }
  constexpr size_t kIndent = 15;
  return std::string(kIndent - std::min(kIndent, result.size()), ' ') + result + text;
}

/// With instructions that SPIRV-Tools know in the place of those that they do not,
/// whose lines are written here. Empty where there are others.
static std::string disassembleNewer(ArrayRef<uint32_t> words) {
  constexpr size_t kHeader = 5;
  if (words.size() < kHeader)
    return "";
  SmallVector<uint32_t> known(words.take_front(kHeader));
  llvm::DenseMap<size_t, std::string> own;
  size_t line = 0;
  for (size_t at = kHeader; at < words.size(); ++line) {
    uint32_t count = words[at] >> 16;
    auto opcode = static_cast<spirv::Opcode>(words[at] & 0xffff);
    if (count == 0 || at + count > words.size())
      return "";
    ArrayRef<uint32_t> inst = words.slice(at, count);
    at += count;
    auto put = [&](spirv::Opcode replacement, ArrayRef<uint32_t> operands) {
      known.push_back(uint32_t(operands.size() + 1) << 16 | uint32_t(replacement));
      known.append(operands.begin(), operands.end());
    };
    if (opcode == spirv::Opcode::OpCapability && count == 2 &&
        inst[1] == uint32_t(spirv::Capability::CooperativeMatrixKHR)) {
      put(opcode, {uint32_t(spirv::Capability::Shader)});
      own[line] = std::string(15, ' ') + "OpCapability CooperativeMatrixKHR";
      continue;
    }
    const NewerOpcode *newer = llvm::find_if(
        kNewerOpcodes, [&](const NewerOpcode &n) { return n.opcode == opcode; });
    if (newer == std::end(kNewerOpcodes)) {
      known.append(inst.begin(), inst.end());
      continue;
    }
    own[line] = newerText(*newer, inst.drop_front());
    if (newer->types && count > 2)
      put(spirv::Opcode::OpUndef, inst.slice(1, 2));
    else if (newer->results && count > 1)
      put(spirv::Opcode::OpTypeStruct, inst.drop_front());
    else
      put(spirv::Opcode::OpNop, {});
  }
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text, result;
  if (!tools.Disassemble(known.data(), known.size(), &text,
                         SPV_BINARY_TO_TEXT_OPTION_INDENT |
                             SPV_BINARY_TO_TEXT_OPTION_NO_HEADER))
    return "";
  size_t number = 0;
  for (StringRef rest = text; !rest.empty(); ++number) {
    auto [first, others] = rest.split('\n');
    auto found = own.find(number);
    result += (found == own.end() ? first.str() : found->second) + "\n";
    rest = others;
  }
  return number == line ? result : "";
}

std::string tilewright::disassembleSPIRV(ArrayRef<uint32_t> words) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  if (!tools.Disassemble(words.data(), words.size(), &text,
                         SPV_BINARY_TO_TEXT_OPTION_INDENT |
                             SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
                             SPV_BINARY_TO_TEXT_OPTION_NO_HEADER)) {
    if (std::string newer = disassembleNewer(words); !newer.empty())
      return newer;
    return std::string("; newer than the SPIRV-Tools in this program (") +
           spvSoftwareVersionString() + "): use spirv-dis on --emit=spirv\n";
  }
  return text;
}
