// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry point, its execution modes, and the version, capabilities and
// extensions of the module.
//
// The version is the newest that the Vulkan version takes (1.1 -> 1.3, 1.2 ->
// 1.5, 1.3 -> 1.6) and the capabilities are read off the finished module, so
// that it asks for what it uses and nothing else. (Upstream's
// spirv-update-vce picks versions that are too old for some decorations.)
//
// Memory model: GLSL450. All that kernels need is that a workgroup barrier
// orders accesses to shared memory and buffers between the threads of a block.
// There GLSL450 says the same as the Vulkan model, which would ask every access
// to be marked non-private and is an optional feature of Vulkan 1.2. Kernels with
// cooperative matrices use the Vulkan model, which drivers expect with them.

#include "KernelEmitter.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;
using spirv::Capability;

/// Calls `visit` with the scalar types inside `type`.
static void forEachScalar(Type type, llvm::function_ref<void(Type)> visit) {
  if (auto pointer = dyn_cast<spirv::PointerType>(type))
    return forEachScalar(pointer.getPointeeType(), visit);
  if (auto array = dyn_cast<spirv::RuntimeArrayType>(type))
    return forEachScalar(array.getElementType(), visit);
  if (auto array = dyn_cast<spirv::ArrayType>(type))
    return forEachScalar(array.getElementType(), visit);
  if (auto vector = dyn_cast<VectorType>(type))
    return visit(vector.getElementType());
  if (auto matrix = dyn_cast<spirv::CooperativeMatrixType>(type))
    return visit(matrix.getElementType());
  if (auto structure = dyn_cast<spirv::StructType>(type)) {
    for (Type member : structure.getElementTypes())
      forEachScalar(member, visit);
    return;
  }
  visit(type);
}

static std::optional<Capability> capabilityOf(Type scalar) {
  if (scalar.isInteger(8))
    return Capability::Int8;
  if (scalar.isInteger(16))
    return Capability::Int16;
  if (scalar.isInteger(64))
    return Capability::Int64;
  if (scalar.isF16())
    return Capability::Float16;
  if (scalar.isF64())
    return Capability::Float64;
  return std::nullopt;
}

/// False where the target lists its `key`s (types, storage) without `name`.
static bool offers(TargetAttr target, StringRef key, StringRef name) {
  auto list = target.getFacts().getAs<ArrayAttr>(key);
  return !list ||
         llvm::is_contained(list, StringAttr::get(target.getContext(), name));
}

/// The launch fits the target.
static LogicalResult checkLaunch(func::FuncOp kernel, LaunchAttr launch, TargetAttr target) {
  if (launch.getThreads() > target.getFact("max_threads", 1024))
    return kernel.emitOpError("has blocks of ")
           << launch.getThreads() << " threads; target " << target.getName()
           << " takes " << target.getFact("max_threads", 1024);

  if (launch.getSubgroup() != target.getFact("subgroup", launch.getSubgroup()))
    return kernel.emitOpError("is distributed over subgroups of ")
           << launch.getSubgroup() << "; target " << target.getName() << " has "
           << target.getFact("subgroup");
  return success();
}

namespace {
/// What a module has to declare.
struct Needs {
  llvm::SetVector<Capability> capabilities;
  llvm::SetVector<spirv::Extension> extensions;
  llvm::SmallSetVector<int32_t, 4> floatWidths;
  bool hasMatrices = false;
};
} // namespace

/// Of its types, its buffers' elements and its ops.
static Needs collectNeeds(spirv::ModuleOp module, int64_t version) {
  Needs needs;
  needs.capabilities.insert(Capability::Shader);
  auto addType = [&](Type type) {
    needs.hasMatrices |= isa<spirv::CooperativeMatrixType>(type);
    forEachScalar(type, [&](Type scalar) {
      if (scalar.isBF16()) { // as a component only
        needs.capabilities.insert(Capability::BFloat16TypeKHR);
        needs.capabilities.insert(Capability::BFloat16CooperativeMatrixKHR);
        needs.extensions.insert(spirv::Extension::SPV_KHR_bfloat16);
        return;
      }
      if (std::optional<Capability> needed = capabilityOf(scalar))
        needs.capabilities.insert(*needed);
      if (isa<FloatType>(scalar))
        needs.floatWidths.insert(scalar.getIntOrFloatBitWidth());
    });
  };
  module.walk([&](Operation *op) {
    if (auto variable = dyn_cast<spirv::GlobalVariableOp>(op)) {
      addType(variable.getType());
      auto pointer = cast<spirv::PointerType>(variable.getType());
      if (pointer.getStorageClass() == spirv::StorageClass::StorageBuffer)
        forEachScalar(pointer, [&](Type scalar) {
          if (scalar.getIntOrFloatBitWidth() == 16)
            needs.capabilities.insert(Capability::StorageBuffer16BitAccess);
          if (scalar.getIntOrFloatBitWidth() == 8) {
            needs.capabilities.insert(Capability::StorageBuffer8BitAccess);
            if (version < 12)
              needs.extensions.insert(spirv::Extension::SPV_KHR_8bit_storage);
          }
        });
      if (StringRef name = variable.getBuiltIn().value_or("");
          name.starts_with("Subgroup"))
        needs.capabilities.insert(Capability::GroupNonUniform);
    }
    if (isa<spirv::GroupNonUniformShuffleOp,
            spirv::GroupNonUniformShuffleXorOp>(op)) {
      needs.capabilities.insert(Capability::GroupNonUniform);
      needs.capabilities.insert(Capability::GroupNonUniformShuffle);
    }
    for (Type type : op->getResultTypes())
      addType(type);
  });
  if (needs.hasMatrices) {
    needs.capabilities.insert(Capability::VulkanMemoryModel);
    needs.capabilities.insert(Capability::CooperativeMatrixKHR);
    needs.extensions.insert(spirv::Extension::SPV_KHR_cooperative_matrix);
  }
  return needs;
}

LogicalResult KernelEmitter::declareEntryPoint() {
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!launch)
    return kernel.emitOpError("has no tilewright.launch, which says how many "
                              "threads a block has");
  if (failed(checkLaunch(kernel, launch, target)))
    return failure();

  // SPIR-V 1.4 and later list every variable, earlier ones the inputs only.
  SmallVector<Attribute> variables;
  for (spirv::GlobalVariableOp variable : interface) {
    auto pointer = cast<spirv::PointerType>(variable.getType());
    if (version >= 12 ||
        pointer.getStorageClass() == spirv::StorageClass::Input)
      variables.push_back(FlatSymbolRefAttr::get(variable.getSymNameAttr()));
  }

  OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
  Location at = kernel.getLoc();
  spirv::EntryPointOp::create(end, at, spirv::ExecutionModel::GLCompute,
                              function, variables);
  spirv::ExecutionModeOp::create(
      end, at, function, spirv::ExecutionMode::LocalSize,
      {static_cast<int32_t>(launch.getThreads()), 1, 1});

  Needs needs = collectNeeds(module, version);
  if (needs.hasMatrices)
    useVulkanMemoryModel();

  // NaN, infinities and signed zeros mean what arith says, and operations round
  // to nearest even (without this, conversions to f16 may truncate).
  if (target.has("float_controls") && !needs.floatWidths.empty()) {
    needs.capabilities.insert(Capability::SignedZeroInfNanPreserve);
    needs.capabilities.insert(Capability::RoundingModeRTE);
    if (version < 12)
      needs.extensions.insert(spirv::Extension::SPV_KHR_float_controls);
    SmallVector<int32_t> widths = needs.floatWidths.takeVector();
    llvm::sort(widths);
    for (int32_t width : widths)
      for (auto mode : {spirv::ExecutionMode::SignedZeroInfNanPreserve,
                        spirv::ExecutionMode::RoundingModeRTE})
        spirv::ExecutionModeOp::create(end, at, function, mode, {width});
  }

  for (auto [capability, key, name] :
       {std::tuple(Capability::Int8, "types", "i8"),
        {Capability::Int16, "types", "i16"},
        {Capability::Int64, "types", "i64"},
        {Capability::Float16, "types", "f16"},
        {Capability::Float64, "types", "f64"},
        {Capability::StorageBuffer8BitAccess, "storage", "i8"},
        {Capability::StorageBuffer16BitAccess, "storage", "i16"}})
    if (needs.capabilities.contains(capability) && !offers(target, key, name))
      return kernel.emitOpError("needs ")
             << name << " as one of the target's " << key << "; "
             << target.getName() << " lacks it";

  auto spirvVersion = version == 11   ? spirv::Version::V_1_3
                      : version == 12 ? spirv::Version::V_1_5
                                      : spirv::Version::V_1_6;
  SmallVector<Capability> sorted = needs.capabilities.takeVector();
  llvm::sort(sorted);
  module.setVceTripleAttr(spirv::VerCapExtAttr::get(
      spirvVersion, sorted, needs.extensions.getArrayRef(), module.getContext()));
  return success();
}
