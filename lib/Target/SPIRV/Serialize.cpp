// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A spirv.module to words, validated by SPIRV-Tools in process: a module that
// the validator refuses is never written. (What is newer than the validator is,
// with a note.)

#include "tilewright/Target/SPIRV/SPIRV.h"

#include "mlir/Target/SPIRV/Serialization.h"
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

std::string tilewright::disassembleSPIRV(ArrayRef<uint32_t> words) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  if (!tools.Disassemble(words.data(), words.size(), &text,
                         SPV_BINARY_TO_TEXT_OPTION_INDENT |
                             SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
                             SPV_BINARY_TO_TEXT_OPTION_NO_HEADER))
    return std::string("; newer than the SPIRV-Tools in this program (") +
           spvSoftwareVersionString() + "): use spirv-dis on --emit=spirv\n";
  return text;
}
