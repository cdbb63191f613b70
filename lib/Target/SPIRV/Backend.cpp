// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SPIR-V back end: which targets there are, what stages may know about
// them, and the way from thread form to words.
//
//   vulkan[:1.1|1.2|1.3][+subgroup=N][+shared_memory=BYTES][+max_threads=N]
//         [+f16=0][+f64=0][+i8=0][+i16=0][+i64=0][+float_controls=0]
//
// Without +subgroup every kernel is compiled for subgroups of 8, 16, 32 and 64,
// guarded by the size that the device uses. Types that most devices have are on
// and can be switched off; the manifest then requires of the device what the
// kernels in fact use.

#include "tilewright/Target/Passes.h"
#include "tilewright/Target/SPIRV/Passes.h"
#include "tilewright/Target/SPIRV/SPIRV.h"
#include "tilewright/Target/Target.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// What the text of a target says.
struct VulkanTarget {
  std::string version = "1.3";
  int64_t sharedMemory = 32768;
  int64_t maxThreads = 1024;
  bool floatControls = true;
  SmallVector<StringRef> without; // types switched off
};
} // namespace

static constexpr StringLiteral kSwitches[] = {"f16", "f64", "i8", "i16", "i64"};
static constexpr int64_t kSubgroups[] = {8, 16, 32, 64};

static TargetAttr makeTarget(MLIRContext *context, StringRef name,
                             const VulkanTarget &vulkan, int64_t subgroup) {
  Builder builder(context);
  NamedAttrList facts;
  auto number = [&](StringRef key, int64_t value) {
    facts.set(key, builder.getI64IntegerAttr(value));
  };
  facts.set("version", builder.getStringAttr(vulkan.version));
  number("subgroup", subgroup);
  number("max_threads", vulkan.maxThreads);
  number("shared_memory", vulkan.sharedMemory);
  // Vulkan does not tell; 128 is what the devices with fewest registers per
  // thread at useful occupancy have.
  number("registers", 128);
  number("access_bytes", 16);
  number("index_bits", 32);
  number("max_grid_x", 65535);
  facts.set("shuffle", builder.getUnitAttr());
  if (vulkan.floatControls)
    facts.set("float_controls", builder.getUnitAttr());
  SmallVector<StringRef> types, storage;
  for (StringRef type :
       {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1"}) {
    // bf16 is held in i16, and i1 in memory in i8.
    StringRef holder = type == "bf16" ? "i16" : type;
    if (llvm::is_contained(vulkan.without, holder))
      continue;
    types.push_back(type);
    if (type != "i1")
      storage.push_back(type);
  }
  facts.set("types", builder.getStrArrayAttr(types));
  facts.set("storage", builder.getStrArrayAttr(storage));
  return TargetAttr::get(context, name, "spirv", facts.getDictionary(context));
}

/// The positive integer value of feature `key`, if it was given.
static llvm::Expected<std::optional<int64_t>>
getNumber(const TargetSpec &spec, StringRef key, int64_t least, int64_t most,
          bool powerOf2) {
  std::optional<StringRef> text = spec.getFeature(key);
  if (!text)
    return std::nullopt;
  int64_t value;
  if (text->getAsInteger(10, value) || value < least || value > most ||
      (powerOf2 && !llvm::isPowerOf2_64(value)))
    return makeTargetError("target '" + spec.str() + "': '" + key +
                           "' must be a" +
                           (powerOf2 ? " power of two" : " number") + " from " +
                           llvm::Twine(least) + " to " + llvm::Twine(most));
  return value;
}

namespace {
class SPIRVBackend final : public TargetBackend {
public:
  StringRef getName() const override { return "spirv"; }
  StringRef getTargetName() const override { return "vulkan"; }
  StringRef getSyntax() const override {
    return "vulkan[:1.1|1.2|1.3][+subgroup=N][+shared_memory=BYTES]"
           "[+max_threads=N][+f16=0][+f64=0][+i8=0][+i16=0][+i64=0]"
           "[+float_controls=0]";
  }
  KernelForm getKernelForm() const override { return KernelForm::Thread; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<spirv::SPIRVDialect>();
  }

  llvm::Expected<ParsedTarget> parse(MLIRContext *context,
                                     const TargetSpec &spec) const override {
    SmallVector<StringRef> accepted{"subgroup", "shared_memory", "max_threads",
                                    "float_controls"};
    accepted.append(std::begin(kSwitches), std::end(kSwitches));
    if (llvm::Error error = checkFeatures(spec, accepted, getSyntax()))
      return std::move(error);

    VulkanTarget vulkan;
    if (!spec.version.empty()) {
      vulkan.version = spec.version;
      if (!llvm::is_contained({"1.1", "1.2", "1.3"}, spec.version))
        return makeTargetError("target '" + spec.str() + "': no version '" +
                               spec.version + "'; accepted is " + getSyntax());
    }
    auto isOff = [&](StringRef key) -> llvm::Expected<bool> {
      auto value = getNumber(spec, key, 0, 1, /*powerOf2=*/false);
      if (!value) {
        if (spec.getFeature(key) != StringRef())
          return value.takeError();
        llvm::consumeError(value.takeError()); // "+f16" switches on
        return false;
      }
      return *value && **value == 0;
    };
    for (StringRef key : kSwitches) {
      llvm::Expected<bool> off = isOff(key);
      if (!off)
        return off.takeError();
      if (*off)
        vulkan.without.push_back(key);
    }
    llvm::Expected<bool> noControls = isOff("float_controls");
    if (!noControls)
      return noControls.takeError();
    vulkan.floatControls = !*noControls;

    auto shared = getNumber(spec, "shared_memory", 1024, 1 << 20, false);
    if (!shared)
      return shared.takeError();
    auto threads = getNumber(spec, "max_threads", 1, 1024, false);
    if (!threads)
      return threads.takeError();
    auto subgroup = getNumber(spec, "subgroup", 1, 128, true);
    if (!subgroup)
      return subgroup.takeError();
    vulkan.sharedMemory = shared->value_or(vulkan.sharedMemory);
    vulkan.maxThreads = threads->value_or(vulkan.maxThreads);

    ParsedTarget target;
    target.name = spec.str();
    target.backend = getName();
    target.driver = "vulkan";
    target.required["vulkan"] = 10 + (vulkan.version.back() - '0');
    if (*subgroup) {
      target.required["subgroup"] = **subgroup;
      target.variants.push_back(
          {makeTarget(context, target.name, vulkan, **subgroup), true, ""});
      return target;
    }
    for (int64_t size : kSubgroups)
      target.variants.push_back(
          {makeTarget(context, target.name, vulkan, size),
           llvm::json::Array{"eq", llvm::json::Array{"device", "subgroup_size"},
                             size},
           "_sg" + std::to_string(size)});
    return target;
  }

  void buildLowering(OpPassManager &pm, TargetAttr,
                     const BackendOptions &) const override {
    pm.addPass(createExpandMathPass());
    pm.addPass(createLowerAffinePass());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    pm.addPass(createConvertToSPIRVPass());
    pm.addPass(createCSEPass()); // addresses
  }

  FailureOr<KernelCode> emit(ModuleOp module,
                             const BackendOptions &options) const override {
    auto kernels = module.getOps<spirv::ModuleOp>();
    if (kernels.empty() || std::next(kernels.begin()) != kernels.end())
      return module.emitOpError("must hold one spirv.module");
    spirv::ModuleOp kernel = *kernels.begin();
    auto functions = kernel.getOps<spirv::FuncOp>();
    if (functions.empty())
      return kernel.emitOpError("has no function");
    spirv::FuncOp entry = *functions.begin();
    FailureOr<SmallVector<uint32_t>> words =
        serializeSPIRV(kernel, options.debugInfo);
    if (failed(words))
      return failure();

    KernelCode code;
    code.kind = CodeKind::SPIRV;
    code.entry = entry.getName().str();
    for (uint32_t word : *words)
      for (int shift = 0; shift < 32; shift += 8)
        code.bytes.push_back(static_cast<char>(word >> shift));
    if (options.keepText)
      code.assembly = disassembleSPIRV(*words);
    if (auto launch = entry->getAttrOfType<LaunchAttr>(kLaunchAttr))
      code.subgroup = launch.getSubgroup();
    code.required = getSPIRVRequirements(kernel);
    return code;
  }
};
} // namespace

namespace tilewright {
std::unique_ptr<TargetBackend> createSPIRVBackend() {
  return std::make_unique<SPIRVBackend>();
}
} // namespace tilewright
