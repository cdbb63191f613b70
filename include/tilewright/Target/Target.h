// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract that every back end under Target/ fills in, and the registry.
//
// A back end is asked three things, in this order:
//
//   1. parse     `cuda:sm_80` -> what the manifest says about the program and
//                the list of variants that every kernel of it is compiled in,
//                each a #tilewright.target and a guard;
//   2. lowering  the passes that take a module holding one kernel of one
//                variant from the form `getKernelForm()` (docs/ir.md) to the
//                target's own dialect;
//   3. emit      that module -> bytes.
//
//     // host program: compiled once, with variants[0].target on the module
//     // kernels: for each variant v
//     //   module attributes {tilewright.target = v.target} {
//     //     func.func private @main_matmul_0<v.tag>(…) attributes {tilewright.kernel, …}
//     //   }
//     backend.buildLowering(pm, v.target, options);  pm.run(module);
//     FailureOr<KernelCode> code = backend.emit(module, options);
//
// Back ends have no state: one object serves any number of threads, contexts
// and kernels at once. Everything that depends on the program is read from the
// IR: `tilewright.target` and `tilewright.fp` on the module,
// `tilewright.{kernel,access,scalars,launch,index_bits}` on the kernel.
//
// Facts of a #tilewright.target. Every back end gives those of the first block.
//
//   subgroup       i64   lanes of a subgroup (1 on CPUs)
//   max_threads    i64   threads of a block
//   shared_memory  i64   bytes of shared memory a block may use
//   registers      i64   32-bit registers a thread may use without spilling
//                        (CPUs: vector registers)
//   access_bytes   i64   widest memory access of a thread
//   index_bits     i64   bits of kernel indices (32)
//   -----
//   chip           str   cuda: "sm_90a"; cpu: "x86-64-v3", "aarch64"
//   version        str   vulkan: "1.3"
//   sm             i64   cuda: 90
//   arch_specific  unit  cuda: the `a` of sm_90a
//   vector_bytes   i64   cpu: bytes of a vector register
//   dispatch_vector_bytes  i64  cpu: of the widest of the levels that a target has,
//                          which all have the same dispatches
//   features       str   cpu: LLVM's feature list, "+avx2,+fma"
//   sve_bits       i64   cpu: bits that SVE vectors have at least
//   triple         str   LLVM's, of code and of the host program; absent: x86-64 Linux
//   mma            [str] matrix instructions, "mma.m16n8k16.f16.f32",
//                        "coopmat.m16n16k16.f16.f32"
//   wide_index     unit  kernels can compute indices with 64 bits instead
//   async_copy     unit  copies from global to shared without registers
//   shuffle        unit  subgroup shuffles
//   forward_progress  unit  blocks that have begun go on, so that others may wait for them
//   typed_shared_memory  unit  variables in shared memory have an element type: only
//                        buffers of one type can have the same bytes
//   masked_runs    unit  vector.maskedload and maskedstore of the first elements
//                        of a vector, at any element's address
//   types          [str] element types that arithmetic is done in
//   storage        [str] element types that memory can hold

#ifndef TILEWRIGHT_TARGET_TARGET_H
#define TILEWRIGHT_TARGET_TARGET_H

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilewright {

class CompileObserver;

/// One way in which every kernel of a program is compiled.
struct TargetVariant {
  TargetAttr target;
  /// Manifest expression (docs/abi.md) or `true`; ANDed with whatever guards
  /// the kernel has itself. The first variant whose guard holds is run.
  llvm::json::Value guard = true;
  /// Appended to the kernel's name to name this variant's entry point
  /// ("_sg32"); empty where there is only one.
  std::string tag;
};

/// A target that was understood.
struct ParsedTarget {
  /// Normalised text, the manifest's "target".
  std::string name;
  /// Of TargetBackend::getName().
  std::string backend;
  /// The manifest's "driver": cuda, vulkan or cpu.
  std::string driver;
  /// The manifest's "reference".
  bool reference = false;
  /// The manifest's "requires".
  llvm::json::Object required;
  /// In the order in which the runtime tries them; never empty.
  std::vector<TargetVariant> variants;
};

/// Which form of docs/ir.md a back end's lowering starts from.
enum class KernelForm {
  Thread, // what one thread does
  Block,  // what one block does, arguments flattened (CPU)
  None,   // no kernels: the whole input module is compiled (cpu-reference)
};

enum class CodeKind { PTX, SPIRV, Object };

/// The extension of a file of this kind: ptx, spv, o.
llvm::StringRef getExtension(CodeKind kind);

struct BackendOptions {
  /// -g: line tables for the kernel's locations.
  bool debugInfo = false;
  /// Also fill KernelCode::assembly and KernelCode::llvm.
  bool keepText = false;
  /// Null: nobody looks on.
  CompileObserver *observer = nullptr;
};

/// One compiled variant of one kernel.
struct KernelCode {
  CodeKind kind = CodeKind::PTX;
  std::string entry;
  std::string bytes;
  /// With keepText: readable code (PTX itself is not repeated), and LLVM IR
  /// where the target goes through it.
  std::string assembly;
  std::string llvm;
  /// The variant's "shared": dynamic shared memory in bytes.
  int64_t dynamicShared = 0;
  /// The variant's "subgroup"; 0: any.
  int64_t subgroup = 0;
  /// What a user should know about this code; empty: nothing.
  std::string note;
  /// What lowering says to --explain.
  std::vector<std::string> explanation;
  /// Joined into the program's "requires" (numbers: the largest).
  llvm::json::Object required;
};

class TargetBackend {
public:
  virtual ~TargetBackend();

  /// The room's name, as in #tilewright.target: nvvm, spirv, cpu, reference.
  virtual llvm::StringRef getName() const = 0;
  /// NAME of the target text: cuda, vulkan, cpu, cpu-reference.
  virtual llvm::StringRef getTargetName() const = 0;
  /// What parse accepts, for --help and errors: "cuda:sm_75...sm_121[a|f]".
  virtual llvm::StringRef getSyntax() const = 0;
  virtual KernelForm getKernelForm() const = 0;

  /// Loads into `registry` what lowering and emission use beyond the
  /// dialects of their input.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// Errors name what is accepted.
  virtual llvm::Expected<ParsedTarget> parse(mlir::MLIRContext *context,
                                             const TargetSpec &spec) const = 0;

  /// Adds to `pm`, a pass manager on builtin.module, the way from the kernel
  /// form to the target form, for a module that holds one kernel.
  virtual void buildLowering(mlir::OpPassManager &pm, TargetAttr target,
                             const BackendOptions &options) const = 0;

  /// Encodes a module in target form. Failures have been reported as
  /// diagnostics at the kernel.
  virtual mlir::FailureOr<KernelCode>
  emit(mlir::ModuleOp module, const BackendOptions &options) const = 0;
};

/// The back ends of one compiler. Immutable once built: safe to share.
class TargetRegistry {
public:
  void add(std::unique_ptr<TargetBackend> backend);

  /// By target text ("cuda") or by room ("nvvm"); null where unknown.
  const TargetBackend *lookupTarget(llvm::StringRef name) const;
  const TargetBackend *lookupBackend(llvm::StringRef name) const;
  const TargetBackend *lookup(TargetAttr target) const {
    return target ? lookupBackend(target.getBackend()) : nullptr;
  }
  llvm::ArrayRef<std::unique_ptr<TargetBackend>> getBackends() const {
    return backends;
  }

  void registerDialects(mlir::DialectRegistry &registry) const;

  /// Understands one target, or a comma list of different ones. The context
  /// must have the tilewright dialect.
  llvm::Expected<ParsedTarget> parse(mlir::MLIRContext *context,
                                     llvm::StringRef text) const;
  llvm::Expected<std::vector<ParsedTarget>>
  parseList(mlir::MLIRContext *context, llvm::StringRef text) const;

  /// All accepted target texts, for --help: "cuda:…, vulkan…".
  std::string getSyntax() const;

private:
  llvm::Expected<ParsedTarget> parse(mlir::MLIRContext *context,
                                     const TargetSpec &spec) const;
  std::vector<std::unique_ptr<TargetBackend>> backends;
};

/// Every back end that this build has (library TilewrightTargets).
TargetRegistry createTargetRegistry();

/// For parse: an error unless each of `spec`'s features is one of `accepted`,
/// given once; those of `repeated` may be given with several values.
llvm::Error checkFeatures(const TargetSpec &spec,
                          llvm::ArrayRef<llvm::StringRef> accepted,
                          llvm::StringRef syntax,
                          llvm::ArrayRef<llvm::StringRef> repeated = {});

/// The number that feature `key` of a target gives, from `least` to `most`, if it was given.
llvm::Expected<std::optional<int64_t>>
getNumberFeature(const TargetSpec &spec, llvm::StringRef key, int64_t least, int64_t most,
                 bool powerOf2 = false);

/// The one kernel of a module in kernel form, or null with an error emitted.
mlir::FunctionOpInterface getOnlyKernel(mlir::ModuleOp module);

} // namespace tilewright

#endif
