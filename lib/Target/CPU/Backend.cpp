// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU back end: block form with flattened arguments to object code that is
// linked into the host program.

#include "Chips.h"
#include "Instructions.h"
#include "MaskedAccess.h"
#include "MoveBits.h"
#include "StreamStores.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Target/CPU/Passes.h"
#include "tilewright/Target/LLVMEmit.h"
#include "tilewright/Target/Passes.h"
#include "tilewright/Target/Target.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// As on GPUs: the schedule has decided about unrolling and vectors.
static constexpr StringLiteral kPipeline =
    "function(sroa,simplifycfg,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate<header-duplication>,licm),gvn,"
    "instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// `best`: of the target's chips, which all have the dispatches that are good for it.
static TargetAttr makeTarget(MLIRContext *context, const Chip &chip,
                             StringRef name, const Chip &best) {
  Builder builder(context);
  NamedAttrList facts;
  auto number = [&](StringRef key, int64_t value) {
    facts.set(key, builder.getI64IntegerAttr(value));
  };
  int64_t vectorBytes = chip.getVectorBytes();
  facts.set("chip", builder.getStringAttr(chip.level));
  std::string features;
  for (const std::string &feature : chip.features)
    features += (features.empty() ? "+" : ",+") + feature;
  facts.set("features", builder.getStringAttr(features));
  if (chip.isArm())
    facts.set("triple", builder.getStringAttr(chip.getTriple()));
  if (chip.sveBits)
    number("sve_bits", chip.sveBits);
  number("subgroup", 1);
  number("max_threads", 1);
  number("shared_memory", 0);
  // What processors of the level have at least, or nearly all of them: caches of a
  // core, and what a kernel may keep beside its operands.
  SmallVector<StringRef> instructions = getPanelInstructions(chip);
  bool hasTiles = llvm::any_of(instructions, [](StringRef name) {
    return name.starts_with("amx.");
  });
  number("l1_bytes", chip.sveBits ? 64 * 1024 : hasTiles ? 48 * 1024 : 32 * 1024);
  number("l2_bytes", hasTiles                           ? 2048 * 1024
                     : chip.sveBits || chip.hasAvx512() ? 1024 * 1024
                     : chip.isArm()                     ? 512 * 1024
                                                        : 256 * 1024);
  number("thread_memory", 1024 * 1024);
  number("registers", chip.getVectorRegisters());
  // What NEON and SVE store past caches is not known to be faster.
  if (!chip.isArm())
    number("pipelined_rows", 1);
  number("access_bytes", vectorBytes);
  number("vector_bytes", vectorBytes);
  number("dispatch_vector_bytes", best.getVectorBytes());
  number("index_bits", 64);
  number("calls_libraries", 1);
  StringRef types[] = {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1"};
  facts.set("types", builder.getStrArrayAttr(types));
  facts.set("storage", builder.getStrArrayAttr(types));
  if (!instructions.empty())
    facts.set("panel_mma", builder.getStrArrayAttr(instructions));
  return TargetAttr::get(context, name, "cpu", facts.getDictionary(context));
}

/// f16 and bf16 as f32 around each op: the code generator would take vectors of
/// them apart. The casts have `contract`, so canonicalization keeps f32 between ops.
static void addSmallFloats(OpPassManager &pm, TargetAttr target) {
  arith::ArithEmulateUnsupportedFloatsOptions options;
  options.sourceTypeStrs.push_back("bf16");
  if (!target.getText("features").contains("+avx512fp16"))
    options.sourceTypeStrs.push_back("f16");
  options.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(options));
  math::MathExtendToSupportedTypesOptions math;
  pm.addPass(math::createMathExtendToSupportedTypes(math));
}

/// `sve=256`: the length that vectors have at least.
static llvm::Error readSveLength(const TargetSpec &spec, const TargetFeature &feature,
                                 Chip &chip) {
  int64_t bits;
  if (StringRef(feature.value).getAsInteger(10, bits) || !isSveLength(bits))
    return makeTargetError("target '" + spec.str() +
                           "': 'sve' needs the bits that vectors have at least: "
                           "sve=128, 256, 512, 1024 or 2048");
  chip.sveBits = bits;
  return llvm::Error::success();
}

namespace {
class CPUBackend final : public TargetBackend {
public:
  StringRef getName() const override { return "cpu"; }
  StringRef getTargetName() const override { return "cpu"; }
  StringRef getSyntax() const override {
    return "cpu[:native|x86-64-v3|x86-64-v4|aarch64|cortex-a72|neoverse-n1|"
           "neoverse-v1|neoverse-n2|neoverse-v2|a64fx][+FEATURE...][+sve=BITS]";
  }
  KernelForm getKernelForm() const override { return KernelForm::Block; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }

  llvm::Expected<ParsedTarget> parse(MLIRContext *context,
                                     const TargetSpec &spec) const override {
    ParsedTarget target;
    target.name = spec.str();
    target.backend = getName();
    target.driver = "cpu";
    Chip named;
    if (isLevel(spec.version))
      named.level = spec.version;
    else if (std::optional<Chip> processor = getArmProcessor(spec.version))
      named = *processor;
    for (const TargetFeature &feature : spec.features) {
      if (named.isArm() && feature.name == "sve") {
        if (llvm::Error error = readSveLength(spec, feature, named))
          return error;
      } else if (!feature.value.empty() || !isFeature(named, feature.name)) {
        return makeTargetError("target '" + spec.str() + "': no " +
                               (named.isArm() ? "AArch64" : "x86") +
                               " processor has a feature '" + feature.name +
                               "'; accepted is " + getSyntax());
      }
      if (!llvm::is_contained(named.features, feature.name))
        named.features.push_back(feature.name);
    }
    // Instructions on tiles are of no use without the tiles.
    if (llvm::any_of(named.features,
                     [](StringRef name) { return name.starts_with("amx-"); }) &&
        !llvm::is_contained(named.features, "amx-tile"))
      named.features.push_back("amx-tile");
    llvm::sort(named.features);
    for (const std::string &feature : named.features)
      target.required["feature:" + feature] = 1;
    if (named.sveBits)
      target.required["sve_bits"] = named.sveBits;
    // A plain `cpu` runs on both levels, the better one first.
    SmallVector<Chip> chips;
    if (spec.version.empty()) {
      for (const char *level : {"x86-64-v4", "x86-64-v3"})
        chips.push_back({level, named.features});
      target.required["x86-64-v3"] = 1;
      for (const Chip &chip : chips)
        target.variants.push_back(
            {makeTarget(context, chip, target.name, chips.front()),
             llvm::json::Array{"device", chip.level},
             "_v" + chip.level.substr(chip.level.size() - 1)});
      return target;
    }
    if (spec.version == "native") {
      std::optional<Chip> chip = getNativeChip();
      if (!chip)
        return makeTargetError("target '" + spec.str() +
                               "': this machine has neither x86-64-v3 nor "
                               "x86-64-v4");
      // The artifact names what it needs, not where it was made.
      target.name = "cpu:" + chip->level;
      for (const std::string &feature : chip->features) {
        target.name += "+" + feature;
        target.required["feature:" + feature] = 1;
      }
      chips.push_back(*chip);
    } else if (!named.level.empty()) {
      chips.push_back(named);
    } else {
      return makeTargetError("target '" + spec.str() + "': unknown processor '" +
                             spec.version + "'; accepted is " + getSyntax());
    }
    target.required[chips.front().level] = 1;
    target.variants.push_back(
        {makeTarget(context, chips.front(), target.name, chips.front()), true, ""});
    return target;
  }

  void buildLowering(OpPassManager &pm, TargetAttr target,
                     const BackendOptions &options) const override {
    pm.addPass(createCallLibrariesPass());
    int64_t registers = target.getFact("registers", 16);
    pm.addNestedPass<func::FuncOp>(createFuseRowLoopsPass({registers}));
    KeepComputedRowsPassOptions keep;
    keep.bytes = target.getFact("l2_bytes", 256 * 1024) / 2;
    pm.addNestedPass<func::FuncOp>(createKeepComputedRowsPass(keep));
    pm.addNestedPass<func::FuncOp>(
        createPipelineRowsPass({target.getFact("pipelined_rows", 0) != 0, registers}));
    pm.addNestedPass<func::FuncOp>(createPrefetchRowsPass({keep.bytes}));
    pm.addNestedPass<func::FuncOp>(createPrefetchEpiloguesPass());
    pm.addNestedPass<func::FuncOp>(createReadPaddingPass());
    // Of tiles yet, so that what computes functions and extrema sees f32.
    addSmallFloats(pm, target);
    pm.addPass(createCanonicalizePass("lower"));
    pm.addNestedPass<func::FuncOp>(createCarrySinglesPass());
    if (target.getText("triple").empty())
      pm.addNestedPass<func::FuncOp>(createDivideRowsPass());
    pm.addPass(createCanonicalizePass("lower"));
    pm.addNestedPass<func::FuncOp>(createFlattenArgumentsPass());
    pm.addNestedPass<func::FuncOp>(createReadRunsPass());
    pm.addNestedPass<func::FuncOp>(createLowerTilesPass());
    pm.addNestedPass<func::FuncOp>(createUnrollVectorsPass());
    pm.addNestedPass<func::FuncOp>(createScanVectorsPass());
    // What NEON and SVE store past caches is not known to be faster.
    if (target.getText("triple").empty())
      pm.addNestedPass<func::FuncOp>(createStreamStoresPass());
    if (target.getText("triple").empty()) {
      if (target.getFact("vector_bytes", 32) == 64)
        pm.addNestedPass<func::FuncOp>(createAvx512MathPass());
      else
        pm.addNestedPass<func::FuncOp>(createAvx2MathPass());
    }
    pm.addPass(createExpandMathPass());
    pm.addPass(createExpandFloat8Pass());
    addSmallFloats(pm, target);
    pm.addPass(createFoldExactCastsPass());
    pm.addPass(createConvertToCPUPass());
    pm.addPass(createConvertVectorToSCFPass());
    pm.addPass(memref::createExpandStridedMetadataPass());
    pm.addPass(createLowerAffinePass());
    arith::ArithExpandOpsPassOptions expansions;
    expansions.includeBf16 = true;
    pm.addPass(arith::createArithExpandOpsPass(expansions));
    // Processors of Arm divide integers in one instruction, some of them vectors, too.
    if (target.getText("triple").empty())
      pm.addPass(createDivideVectorsPass({target.getFact("vector_bytes", 32) == 64}));
    pm.addPass(createCanonicalizePass("lower"));
    pm.addPass(createCSEPass());
    pm.addPass(createSCFToControlFlowPass());
    pm.addPass(createConvertIndexToLLVMPass());
    ConvertVectorToLLVMPassOptions vectors;
    vectors.reassociateFPReductions = true;
    pm.addPass(createConvertVectorToLLVMPass(vectors));
    pm.addPass(createConvertMathToLLVMPass());
    pm.addPass(createFinalizeMemRefToLLVMConversionPass());
    pm.addPass(createArithToLLVMConversionPass());
    pm.addPass(createConvertControlFlowToLLVMPass());
    pm.addPass(createConvertFuncToLLVMPass());
    pm.addPass(createUBToLLVMConversionPass());
    pm.addPass(createReconcileUnrealizedCastsPass());
    pm.addPass(createCSEPass());
    if (options.debugInfo)
      pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  }

  FailureOr<KernelCode> emit(ModuleOp module,
                             const BackendOptions &options) const override;
};
} // namespace

/// The code generator would turn `inside ? a[i] : 0` into a branch per element.
static void keepSelects(llvm::Module &module) {
  llvm::MDNode *unpredictable = llvm::MDNode::get(module.getContext(), {});
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (isa<llvm::SelectInst>(instruction))
          instruction.setMetadata(llvm::LLVMContext::MD_unpredictable,
                                  unpredictable);
}

/// The smallest elements whose accesses the processor masks, in bits.
static unsigned getMaskedBits(const Chip &chip, int64_t vectorBytes) {
  if (chip.isArm())
    return chip.sveBits > 128 ? 8 : 128;
  return vectorBytes >= 64 ? 8 : 32;
}

/// Vectors of a fixed length then are SVE vectors, under predicates of that length:
/// longer registers do not matter. LLVM's most is 16 x 128 bits.
static void setSveLength(llvm::Module &module, int64_t bits) {
  llvm::Attribute range = llvm::Attribute::getWithVScaleRangeArgs(
      module.getContext(), unsigned(bits / 128), 16);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(range);
}

/// Whether there are vectors of several registers, but not of two, four, … of them, with which
/// LLVM's code generator would compute as with the next power of two.
static bool hasOddVectors(const llvm::Module &module, unsigned registerBits) {
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType())) {
        unsigned bits = type->getNumElements() * type->getScalarSizeInBits();
        if (bits > registerBits && bits % registerBits == 0 && !llvm::isPowerOf2_32(bits))
          return true;
      }
  return false;
}

FailureOr<KernelCode> CPUBackend::emit(ModuleOp module,
                                       const BackendOptions &options) const {
  FunctionOpInterface kernel = getOnlyKernel(module);
  if (!kernel)
    return failure();
  TargetAttr target = getTarget(module);
  if (!target || target.getText("chip").empty())
    return module.emitError() << "'" << kTargetAttr
                              << "' must name a 'chip', such as \"x86-64-v3\"";
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    if (func.isExternal())
      continue;
    if (func == kernel)
      func.setVisibility_(LLVM::Visibility::Hidden);
    else
      func.setLinkage(LLVM::Linkage::Internal);
  }
  LLVMTargetOptions llvmOptions;
  Chip chip{target.getText("chip").str(), {}, target.getFact("sve_bits", 0)};
  llvmOptions.triple = chip.getTriple().str();
  llvmOptions.cpu = chip.getProcessor().str();
  llvmOptions.features = target.getText("features").str();
  llvmOptions.positionIndependent = true;
  llvmOptions.vectorBits = 8 * target.getFact("vector_bytes");
  readFloatOptions(module, llvmOptions);
  Location loc = kernel->getLoc();
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(loc, llvmOptions);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir =
      translateToLLVM(module, context, *machine, llvmOptions);
  if (!ir)
    return failure();
  if (chip.sveBits)
    setSveLength(*ir, chip.sveBits);
  std::string pipeline = kPipeline.str();
  // Register tiles of three vectors are AVX-512's alone (lib/Configure/Cpu/EnumerateCpu.cpp).
  if (chip.hasAvx512() && hasOddVectors(*ir, llvmOptions.vectorBits))
    pipeline = "function(scalarizer<load-store;min-bits=" +
               std::to_string(llvmOptions.vectorBits) + ">)," + pipeline;
  if (failed(runLLVMPasses(loc, *ir, *machine, pipeline)))
    return failure();
  if (!chip.isArm())
    guardStreamedStores(*ir, unsigned(target.getFact("vector_bytes", 32)));
  moveBf16AsIntegers(*ir);
  convertHalvesBySingles(*ir);
  keepSelects(*ir);
  if (chip.sveBits > 128)
    maskOddStores(*ir);
  unsigned maskedBits = getMaskedBits(chip, target.getFact("vector_bytes"));
  if (!chip.isArm() && llvmOptions.vectorBits == 256)
    splitMaskedLoads(*ir, unsigned(llvmOptions.vectorBits), maskedBits);
  lowerMaskedAccesses(*ir, maskedBits);

  KernelCode code;
  code.kind = CodeKind::Object;
  code.entry = kernel.getName();
  if (options.keepText) {
    code.llvm = printLLVM(*ir);
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*ir);
    FailureOr<std::string> text = generateCode(
        loc, *copy, *machine, llvm::CodeGenFileType::AssemblyFile);
    if (failed(text))
      return failure();
    code.assembly = std::move(*text);
  }
  FailureOr<std::string> object =
      generateCode(loc, *ir, *machine, llvm::CodeGenFileType::ObjectFile);
  if (failed(object))
    return failure();
  code.bytes = std::move(*object);
  return code;
}

namespace tilewright {
std::unique_ptr<TargetBackend> createCPUBackend() {
  return std::make_unique<CPUBackend>();
}
} // namespace tilewright
