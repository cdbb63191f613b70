// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SPIR-V back end: which targets there are, what stages may know about
// them, and the way from thread form to words.
//
//   vulkan[:1.1|1.2|1.3][+subgroup=N][+shared_memory=BYTES][+max_threads=N]
//         [+multiprocessors=N][+f16=0][+f64=0][+i8=0][+i16=0][+i64=0][+float_controls=0]
//         [+coopmat[=MxNxK:OPERAND:ACCUMULATOR]]…
//
// +coopmat lists the shapes of cooperative matrices that kernels may use, as
// `tilewright-run --list-devices` prints them; without a shape those of halves
// that most GPUs have.
//
// Without +subgroup every kernel is compiled for subgroups of 8, 16, 32 and 64,
// guarded by the size that the device uses. Types that most devices have are on
// and can be switched off; the manifest then requires of the device what the
// kernels in fact use.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/MatrixInstruction.h"
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
  /// 0: those of the chip that stands for GPUs of which nothing is known.
  int64_t multiprocessors = 0;
  bool floatControls = true;
  SmallVector<StringRef> without; // types switched off
  SmallVector<std::string> instructions;
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
  if (vulkan.multiprocessors)
    number("multiprocessors", vulkan.multiprocessors);
  // Vulkan does not tell; 128 is what the devices with fewest registers per
  // thread at useful occupancy have.
  number("registers", 128);
  number("access_bytes", 16);
  number("index_bits", 32);
  number("max_grid_x", 65535);
  facts.set("shuffle", builder.getUnitAttr());
  facts.set("typed_shared_memory", builder.getUnitAttr());
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
  SmallVector<StringRef> instructions(vulkan.instructions.begin(),
                                      vulkan.instructions.end());
  if (!instructions.empty())
    facts.set("mma", builder.getStrArrayAttr(instructions));
  facts.set("types", builder.getStrArrayAttr(types));
  facts.set("storage", builder.getStrArrayAttr(storage));
  return TargetAttr::get(context, name, "spirv", facts.getDictionary(context));
}

/// "16x16x16:f16:f32" as an instruction's name, or nothing where no
/// accumulator of that type can hold the products.
static std::optional<std::string> instructionOf(MLIRContext *context,
                                                StringRef shape) {
  SmallVector<StringRef> parts, sizes;
  shape.split(parts, ':');
  parts.front().split(sizes, 'x');
  if (parts.size() != 3 || sizes.size() != 3)
    return std::nullopt;
  std::string name = ("coopmat.m" + sizes[0] + "n" + sizes[1] + "k" + sizes[2] +
                      "." + parts[1] + "." + parts[2])
                         .str();
  StringRef accumulators = llvm::StringSwitch<StringRef>(parts[1])
                               .Case("f16", "f16 f32")
                               .Case("bf16", "f32")
                               .Case("s8", "s32")
                               .Case("u8", "u32 s32")
                               .Default("");
  SmallVector<StringRef> allowed;
  accumulators.split(allowed, ' ');
  auto instruction = MatrixInstruction::parse(context, name);
  if (!instruction || !llvm::is_contained(allowed, parts[2]) ||
      llvm::any_of(ArrayRef<int64_t>{instruction->m, instruction->n,
                                     instruction->k},
                   [](int64_t size) {
                     return size < 8 || size > 64 || !llvm::isPowerOf2_64(size);
                   }))
    return std::nullopt;
  return name;
}

static constexpr StringLiteral kSyntax =
    "vulkan[:1.1|1.2|1.3][+subgroup=N][+shared_memory=BYTES]"
    "[+max_threads=N][+multiprocessors=N][+f16=0][+f64=0][+i8=0][+i16=0][+i64=0]"
    "[+float_controls=0][+coopmat[=MxNxK:OPERAND:ACCUMULATOR]...]";

/// Reads the version, the types and whether there are float controls.
static llvm::Error parseSwitches(const TargetSpec &spec, VulkanTarget &vulkan) {
  if (!spec.version.empty()) {
    vulkan.version = spec.version;
    if (!llvm::is_contained({"1.1", "1.2", "1.3"}, spec.version))
      return makeTargetError("target '" + spec.str() + "': no version '" + spec.version +
                             "'; accepted is " + kSyntax);
  }
  auto isOff = [&](StringRef key) -> llvm::Expected<bool> {
    auto value = getNumberFeature(spec, key, 0, 1, /*powerOf2=*/false);
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
  return llvm::Error::success();
}

/// Reads the shapes of cooperative matrices.
static llvm::Error parseInstructions(MLIRContext *context, const TargetSpec &spec,
                                     VulkanTarget &vulkan) {
  for (StringRef shape : spec.getValues("coopmat")) {
    if (vulkan.version != "1.3")
      return makeTargetError("target '" + spec.str() +
                             "': cooperative matrices need vulkan:1.3");
    SmallVector<StringRef> shapes{shape};
    if (shape.empty())
      shapes = {"16x16x16:f16:f32", "16x16x16:f16:f16"};
    for (StringRef text : shapes) {
      std::optional<std::string> name = instructionOf(context, text);
      if (!name)
        return makeTargetError(
            "target '" + spec.str() + "': '" + text +
            "' is no shape of cooperative matrices; the form is "
            "MxNxK:OPERAND:ACCUMULATOR with powers of two from 8 to 64 and "
            "f16:f32, f16:f16, bf16:f32, s8:s32, u8:u32 or u8:s32");
      if (!llvm::is_contained(vulkan.instructions, *name))
        vulkan.instructions.push_back(*name);
    }
  }
  return llvm::Error::success();
}

namespace {
class SPIRVBackend final : public TargetBackend {
public:
  StringRef getName() const override { return "spirv"; }
  StringRef getTargetName() const override { return "vulkan"; }
  StringRef getSyntax() const override { return kSyntax; }
  KernelForm getKernelForm() const override { return KernelForm::Thread; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<spirv::SPIRVDialect>();
  }

  llvm::Expected<ParsedTarget> parse(MLIRContext *context,
                                     const TargetSpec &spec) const override {
    SmallVector<StringRef> accepted{"subgroup", "shared_memory", "max_threads",
                                    "multiprocessors", "float_controls"};
    accepted.append(std::begin(kSwitches), std::end(kSwitches));
    if (llvm::Error error = checkFeatures(spec, accepted, getSyntax(), {"coopmat"}))
      return std::move(error);

    VulkanTarget vulkan;
    if (llvm::Error error = parseSwitches(spec, vulkan))
      return std::move(error);
    if (llvm::Error error = parseInstructions(context, spec, vulkan))
      return std::move(error);

    auto shared = getNumberFeature(spec, "shared_memory", 1024, 1 << 20, false);
    if (!shared)
      return shared.takeError();
    auto threads = getNumberFeature(spec, "max_threads", 1, 1024, false);
    if (!threads)
      return threads.takeError();
    auto subgroup = getNumberFeature(spec, "subgroup", 1, 128, true);
    if (!subgroup)
      return subgroup.takeError();
    auto multiprocessors = getNumberFeature(spec, "multiprocessors", 1, 1024, false);
    if (!multiprocessors)
      return multiprocessors.takeError();
    vulkan.multiprocessors = multiprocessors->value_or(0);
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
    pm.addPass(createExpandFloat8Pass());
    pm.addPass(createLowerAffinePass());
    pm.addPass(createCanonicalizePass("lower"));
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
    KernelCode code;
    FailureOr<SmallVector<uint32_t>> words =
        serializeSPIRV(kernel, options.debugInfo, &code.note);
    if (failed(words))
      return failure();

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
