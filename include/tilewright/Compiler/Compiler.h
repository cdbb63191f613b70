// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as a library: text and options in, bytes or diagnostics out.
//
//   CompileOptions options;
//   options.targets = "cuda:sm_80,vulkan,cpu";
//   CompileResult result = compile(source, "matmul.mlir", options);
//   if (result.succeeded) write(result.outputs[0].bytes);
//
// Nothing is kept between calls except a KernelCache that the caller gives.
// Calls may run at the same time, also with one cache. Kernels are compiled in
// parallel. Input and options determine every byte of the output.

#ifndef TILEWRIGHT_COMPILER_COMPILER_H
#define TILEWRIGHT_COMPILER_COMPILER_H

#include "tilewright/Compiler/Explanation.h"
#include "tilewright/Compiler/Watch.h"
#include "tilewright/Stages/Stages.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

/// What the outputs are. Raw kinds give one output per kernel variant.
enum class EmitKind {
  Artifact,      // the .tw container
  Manifest,      // its manifest, JSON
  MLIR,          // the IR after the last stage
  LLVM,          // LLVM IR of host programs and of kernels that go through it
  PTX,           // text
  SPIRV,         // words
  SPIRVAssembly, // text
  Assembly,      // of host programs and CPU kernels
  Cubin,         // machine code of CUDA kernels, by NVIDIA's ptxas
  Object,        // one relocatable object: the artifact, host programs, CPU kernels
  Header,        // C functions with types, over the runtime's C API
  Loops,         // the program as loops over memrefs, MLIR
};

/// What EmitKind::Loops makes of structured ops.
enum class LoopKind { Affine, SCF };

/// Compiled kernels by content: a kernel whose IR, target and options were seen
/// before is not compiled again. Thread-safe.
class KernelCache {
public:
  std::optional<KernelCode> lookup(llvm::StringRef key);
  void insert(llvm::StringRef key, const KernelCode &code);
  size_t size();

private:
  std::mutex mutex;
  llvm::StringMap<KernelCode> codes;
};

struct CompileOptions {
  std::string targets = "cuda:sm_80,cuda:sm_90a,vulkan,cpu";
  EmitKind emit = EmitKind::Artifact;
  /// Whether cf.assert of the program is checked.
  bool asserts = true;
  /// The shared library that computes products of f32 and f64 on CPUs; empty: none.
  std::string externalBlas;
  /// Out of contract, ftz, tf32 (written into the IR as `tilewright.fp`).
  std::vector<std::string> fp;
  /// Out of matrix-unit (`tilewright.require`).
  std::vector<std::string> require;
  /// Lowering configs by kernel or source op, and by target, JSON (docs/programs.md);
  /// and the name of the file for diagnostics.
  std::string configs, configsName;
  /// A tuning database, JSON (docs/sweeping.md), with its name for diagnostics, and
  /// the chip whose records are taken where it has several.
  std::string tuning, tuningName, tuningChip;
  /// The parameter file; empty: the one that the module names.
  std::string parameters;
  /// Parameters go into the artifact. For EmitKind::Object they always do.
  bool embedParameters = false;
  bool debugInfo = false;
  /// Stop after this stage and return the IR, whatever `emit` says.
  std::optional<Stage> stopAfter;
  /// The source is the IR after the stage before this one, for these targets;
  /// behind stage place, `placed` is the IR after that stage.
  std::optional<Stage> startAt;
  std::string placed;
  /// Called with the IR after each stage.
  std::function<void(Stage, llvm::StringRef text)> onStage;
  /// Fill CompileResult::explanation.
  bool explain = false;
  /// Fill CompileResult::configs and stop after configure.
  bool listConfigs = false;
  LoopKind loops = LoopKind::Affine;
  /// What C names of Object and Header begin with; empty: the source's name
  /// without folder and extension.
  std::string symbolPrefix;
  /// Fill CompileResult::resources, by running ptxas.
  bool resources = false;
  /// Path of ptxas, for Cubin and `resources`; empty: on PATH, in CUDA_HOME, in
  /// /usr/local/cuda. No other kind of output depends on it.
  std::string ptxas;
  /// Compile kernels in parallel.
  bool parallel = true;
  KernelCache *cache = nullptr;
  /// Printing, timing, tracing, reproducers.
  WatchOptions watch;
};

struct CompileOutput {
  /// Relative to the output directory, "cuda_sm_80/main_matmul_0.ptx"; empty
  /// for kinds with one output.
  std::string path;
  std::string bytes;
};

/// What a CUDA kernel takes of the machine, as ptxas says; bytes.
struct KernelResources {
  std::string program, kernel;
  int64_t registers = 0;
  int64_t stack = 0, spillStores = 0, spillLoads = 0;
  int64_t sharedStatic = 0, sharedDynamic = 0;
};

struct CompileResult {
  bool succeeded = false;
  /// Errors, warnings and remarks as text with source lines.
  std::string diagnostics;
  std::vector<CompileOutput> outputs;
  std::vector<KernelExplanation> explanation;
  /// With explain: the fused groups, one entry per target with kernels.
  std::vector<ProgramExplanation> programs;
  /// With listConfigs: one entry per kernel, best config first.
  std::vector<KernelExplanation> configs;
  /// With `resources` or Cubin: one entry per CUDA kernel variant.
  std::vector<KernelResources> resources;
  /// As `watch` asks: a table, and JSON for ui.perfetto.dev.
  std::string timing, trace;
};

/// Compiles one program. `name` is the source's name in diagnostics.
CompileResult compile(llvm::StringRef source, llvm::StringRef name,
                      const CompileOptions &options);

/// "0.1.0"
std::string getVersion();

/// The matrix instructions of a comma list of targets, a line each: the target, the
/// name that lowering configs give, and a remark on emulated ones. Nothing, and the
/// reason in `error`, for a list that is not understood.
std::optional<std::string> listInstructions(llvm::StringRef targets,
                                            std::string &error);

/// The ops of tensor programs that are compiled, a line each: its name, and how
/// (kernel, host, rewritten, converted).
std::string listOps();

/// For --help: the accepted targets, and what there is to know about them.
std::string getTargetSyntax(llvm::StringRef separator = ", ");

} // namespace tilewright

#endif
