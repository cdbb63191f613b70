// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From SPIR-V capabilities to what the manifest requires of a device, in the
// words of the runtime's Vulkan driver.

#include "tilewright/Target/SPIRV/SPIRV.h"

using namespace mlir;
using namespace tilewright;
using spirv::Capability;

static StringRef factOf(Capability capability) {
  switch (capability) {
  case Capability::Int8:
    return "feature:shaderInt8";
  case Capability::Int16:
    return "feature:shaderInt16";
  case Capability::Int64:
    return "feature:shaderInt64";
  case Capability::Float16:
    return "feature:shaderFloat16";
  case Capability::Float64:
    return "feature:shaderFloat64";
  case Capability::StorageBuffer8BitAccess:
    return "feature:storageBuffer8BitAccess";
  case Capability::StorageBuffer16BitAccess:
    return "feature:storageBuffer16BitAccess";
  case Capability::GroupNonUniform:
    return "subgroup:basic";
  case Capability::GroupNonUniformShuffle:
    return "subgroup:shuffle";
  case Capability::VulkanMemoryModel:
    return "feature:vulkanMemoryModel";
  case Capability::CooperativeMatrixKHR:
    return "feature:cooperativeMatrix";
  case Capability::BFloat16CooperativeMatrixKHR:
    return "feature:shaderBFloat16CooperativeMatrix";
  default:
    return {};
  }
}

/// "cooperative_matrix:16x16x16:f16,f16,f32,f32" of a product.
static std::string factOf(spirv::KHRCooperativeMatrixMulAddOp product) {
  using Operands = spirv::CooperativeMatrixOperandsKHR;
  Operands operands = product.getMatrixOperands().value_or(Operands::None);
  auto a = cast<spirv::CooperativeMatrixType>(product.getA().getType());
  auto b = cast<spirv::CooperativeMatrixType>(product.getB().getType());
  auto c = cast<spirv::CooperativeMatrixType>(product.getC().getType());
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](Type type, Operands isSigned) {
    if (!type.isInteger())
      os << type;
    else
      os << (bitEnumContainsAny(operands, isSigned) ? "s" : "u")
         << type.getIntOrFloatBitWidth();
  };
  os << "cooperative_matrix:" << a.getRows() << "x" << b.getColumns() << "x"
     << a.getColumns() << ":";
  print(a.getElementType(), Operands::ASigned);
  os << ",";
  print(b.getElementType(), Operands::BSigned);
  os << ",";
  print(c.getElementType(), Operands::CSigned);
  os << ",";
  print(c.getElementType(), Operands::ResultSigned);
  return text;
}

llvm::json::Object tilewright::getSPIRVRequirements(spirv::ModuleOp module) {
  llvm::json::Object required;
  if (std::optional<spirv::VerCapExtAttr> vce = module.getVceTriple())
    for (Capability capability : vce->getCapabilities())
      if (StringRef fact = factOf(capability); !fact.empty())
        required[fact] = 1;
  module.walk([&](spirv::KHRCooperativeMatrixMulAddOp product) {
    required[factOf(product)] = 1;
  });
  int64_t shared = 0;
  for (auto variable : module.getOps<spirv::GlobalVariableOp>()) {
    auto pointer = dyn_cast<spirv::PointerType>(variable.getType());
    if (!pointer || pointer.getStorageClass() != spirv::StorageClass::Workgroup)
      continue;
    auto array = dyn_cast<spirv::ArrayType>(pointer.getPointeeType());
    if (!array)
      continue;
    Type element = array.getElementType();
    int64_t bits = 0;
    if (auto vector = dyn_cast<VectorType>(element))
      bits = vector.getNumElements() *
             vector.getElementType().getIntOrFloatBitWidth();
    else
      bits = element.getIntOrFloatBitWidth();
    shared += array.getNumElements() * bits / 8;
  }
  if (shared > 0)
    required["shared_memory"] = shared;
  return required;
}
