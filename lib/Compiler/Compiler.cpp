// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of one compilation:
//   1. parse; the stages up to normalize, on the whole input;
//   2. one program per target variant; the stages up to place on each;
//      here the host program and the dispatches of each target are read off;
//   3. the stages up to distribute on each program's kernels;
//   4. every kernel of every program to code, in parallel, each in a module of
//      its own; the host programs beside them;
//   5. package.

#include "tilewright/Compiler/Compiler.h"

#include "Compilation.h"
#include "Embed.h"
#include "Explain.h"
#include "Ptxas.h"
#include "tilewright/Target/Reference/Loops.h"
#include "tilewright/Target/Reference/Reference.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tilewright;

std::optional<KernelCode> KernelCache::lookup(StringRef key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = codes.find(key);
  return it == codes.end() ? std::nullopt : std::optional(it->second);
}
void KernelCache::insert(StringRef key, const KernelCode &code) {
  std::lock_guard<std::mutex> lock(mutex);
  codes.try_emplace(key, code);
}
size_t KernelCache::size() {
  std::lock_guard<std::mutex> lock(mutex);
  return codes.size();
}

std::string tilewright::getTargetSyntax(StringRef separator) {
  TargetRegistry registry = createTargetRegistry();
  return llvm::join(llvm::map_range(registry.getBackends(),
                                    [](const auto &backend) {
                                      return backend->getSyntax();
                                    }),
                    separator);
}

std::string tilewright::toText(Operation *op, bool debugInfo) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Stages and pass managers have verified it. The printer's own verifier would keep the
  // diagnostics that other threads give meanwhile to itself.
  OpPrintingFlags flags;
  flags.assumeVerified();
  if (debugInfo)
    flags.enableDebugInfo();
  op->print(os, flags);
  os << "\n";
  return text;
}

LogicalResult Compilation::emitLoops() {
  if (failed(runStage(Stage::Input)) ||
      failed(lowerToLoops(*module, options.loops == LoopKind::Affine)))
    return failure();
  result.outputs.push_back({"", toText(*module, options.debugInfo)});
  return success();
}

/// Signatures are all that it says, so no code is generated.
LogicalResult Compilation::emitHeader() {
  std::vector<CompiledProgram> programs(1);
  CompiledProgram &program = programs.front();
  program.target = jobs.front().target;
  program.names = &names;
  for (auto func : jobs.front().hostForm->getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal() && !isKernel(func))
      program.host.functions.push_back(
          {func.getName().str(), func.getFunctionType()});
  declareSubBytes(program.host);
  return package(module->getLoc(), programs, parameters, options, prefix,
                 result.outputs);
}

LogicalResult Compilation::run(StringRef source, StringRef name) {
  prefix = asCName(options.symbolPrefix.empty() ? llvm::sys::path::stem(name)
                                                : options.symbolPrefix);
  DialectRegistry dialects;
  registerInputDialects(dialects);
  registry.registerDialects(dialects);
  registerHostDialects(dialects);
  registerReferenceDialects(dialects);
  MLIRContext owned(dialects,
                    options.parallel && !options.watch.needsOneThread()
                        ? MLIRContext::Threading::ENABLED
                        : MLIRContext::Threading::DISABLED);
  context = &owned;
  context->loadDialect<TilewrightDialect>();
  // Errors quote the source; the op's generic form would be pages of IR.
  context->printOpOnDiagnostic(false);
  // Whatever refers to the context goes before it does.
  struct Release {
    Compilation &owner;
    ~Release() {
      owner.jobs.clear();
      owner.module = nullptr;
      owner.targets.clear();
    }
  } release{*this};

  llvm::SourceMgr sources;
  std::unique_ptr<llvm::MemoryBuffer> text =
      llvm::MemoryBuffer::getMemBufferCopy(source, name);
  if (!text)
    llvm::report_bad_alloc_error("no memory for a copy of the source");
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  llvm::raw_string_ostream diagnostics(result.diagnostics);
  SourceMgrDiagnosticHandler handler(sources, context, diagnostics);
  // In front of it: what is returned as failure goes on to the one before.
  ScopedDiagnosticHandler writtenNames(context, [](Diagnostic &diagnostic) {
    useWrittenNames(diagnostic);
    return failure();
  });

  // What only a crash leaves behind is the input; passes and kernels have
  // reproducers of their own, which are smaller.
  LogicalResult compiled = watcher.guard(
      UnknownLoc::get(context),
      "tilewright-compile -o /dev/null --target=" + options.targets,
      [&] { return source.str(); }, [&] { return compileAll(sources); },
      /*onFailure=*/false);
  if (watcher.hasCrashed()) {
    // In whatever state it is, nobody walks it any more.
    module.release();
    for (Job &job : jobs)
      job.hostForm.release();
  }
  std::string unknown = succeeded(compiled) ? watcher.unknownNames() : "";
  if (!unknown.empty()) {
    diagnostics << "error: cannot print the IR around " << unknown << "\n";
    return failure();
  }
  result.trace = watcher.takeTrace();
  result.timing = watcher.takeTiming();
  return compiled;
}

LogicalResult Compilation::compileAll(llvm::SourceMgr &sources) {
  ObservedStep whole(&watcher, kSharedStep, "compile");
  if (failed(parse(sources)))
    return failure();
  if (options.emit == EmitKind::Loops)
    return emitLoops();
  for (Stage stage : getStages()) {
    if (options.startAt && stage < *options.startAt)
      continue;
    bool stop = false;
    if (failed(runStage(stage)) || failed(afterStage(stage, stop)))
      return failure();
    if (stop)
      return success();
    if (stage == Stage::Place && options.emit == EmitKind::Header)
      return emitHeader();
  }
  if (options.emit == EmitKind::MLIR) {
    result.outputs.push_back({"", toText(*module, options.debugInfo)});
    return success();
  }
  std::vector<CompiledProgram> programs(jobs.size());
  for (auto [job, program] : llvm::zip_equal(jobs, programs))
    if (failed(compileProgram(job, program)))
      return failure();
  if ((options.resources || options.emit == EmitKind::Cubin) &&
      failed(assembleKernels(module->getLoc(), programs, options, &watcher,
                             result.resources)))
    return failure();
  for (const CompiledProgram &program : programs)
    for (ProgramExplanation &explained : result.programs)
      if (explained.target == program.target->name)
        explainCode(program, explained);
  ObservedStep step(&watcher, kSharedStep, "package");
  return package(module->getLoc(), programs, parameters, options, prefix,
                 result.outputs);
}

CompileResult tilewright::compile(StringRef source, StringRef name,
                                  const CompileOptions &options) {
  CompileResult result;
  result.succeeded = succeeded(Compilation(options, result).run(source, name));
  if (!result.succeeded)
    result.outputs.clear();
  if (!result.succeeded && result.diagnostics.empty())
    result.diagnostics = "error: compilation failed without a diagnostic\n";
  return result;
}
