// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel is a process of its own with files in a directory of its own, so
// that kernels assemble in parallel. What ptxas says is read off its -v output:
//
//   ptxas info    : Function properties for k0
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 40 registers, used 1 barriers, 16384 bytes smem, 416 bytes cmem[0]

#include "Ptxas.h"

#include "core/child_process.h"
#include "tilewright/Support/Files.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <cstring>

using namespace mlir;
using namespace tilewright;
namespace sys = llvm::sys;

template <typename... Args>
static llvm::Error failed(const char *format, Args... args) {
  return llvm::createStringError(std::errc::invalid_argument, format, args...);
}

llvm::Expected<std::string> tilewright::findPtxas(StringRef given) {
  if (!given.empty()) {
    if (sys::fs::can_execute(given))
      return given.str();
    return failed("'%s' is no program that can be run; --ptxas takes the path "
                  "of NVIDIA's ptxas",
                  given.str().c_str());
  }
  if (auto found = sys::findProgramByName("ptxas"))
    return *found;
  SmallVector<std::string> folders;
  if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME"))
    folders.push_back(*home);
  folders.push_back("/usr/local/cuda");
  std::string places = "on PATH";
  for (const std::string &folder : folders) {
    SmallString<128> path(folder);
    sys::path::append(path, "bin", "ptxas");
    if (sys::fs::can_execute(path))
      return std::string(path);
    places += (", at " + path).str();
  }
  return failed("ptxas was not found %s; it comes with NVIDIA's CUDA Toolkit "
                "(or the Python package nvidia-cuda-nvcc), --ptxas=PATH names "
                "it, and --emit=ptx needs none",
                places.c_str());
}

/// The number in front of `unit` in `line`, or 0.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t end = line.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef digits = line.take_front(end).rtrim();
  digits = digits.drop_front(digits.find_last_not_of("0123456789") + 1);
  int64_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

llvm::Error tilewright::parseResources(StringRef log,
                                       KernelResources &resources) {
  bool used = false;
  while (!log.empty()) {
    auto [line, rest] = log.split('\n');
    log = rest;
    if (line.contains("bytes stack frame")) {
      resources.stack = numberBefore(line, "bytes stack frame");
      resources.spillStores = numberBefore(line, "bytes spill stores");
      resources.spillLoads = numberBefore(line, "bytes spill loads");
    }
    if (!line.contains("Used ") || !line.contains(" registers"))
      continue;
    used = true;
    resources.registers = numberBefore(line, "registers");
    resources.sharedStatic = numberBefore(line, "bytes smem");
  }
  return used ? llvm::Error::success()
              : failed("it does not say what the kernel uses");
}

namespace {
/// One kernel to assemble.
struct Item {
  CompiledKernel *kernel;
  std::string chip;
  KernelResources *resources;
};
} // namespace

static llvm::Error assemble(StringRef ptxas, const Item &item, bool debugInfo,
                            bool keepCode) {
  SmallString<128> directory;
  if (std::error_code code =
          sys::fs::createUniqueDirectory("tilewright-ptxas", directory))
    return llvm::errorCodeToError(code);
  llvm::scope_exit cleanUp(
      [&] { (void)sys::fs::remove_directories(directory); });
  auto path = [&](StringRef name) { return (directory + "/" + name).str(); };
  std::string input = path("kernel.ptx"), output = path("kernel.cubin"),
              log = path("log");
  if (llvm::Error error = writeInPlace(input, item.kernel->code.bytes))
    return error;
  std::string arch = "-arch=" + item.chip;
  std::vector<std::string> command = {ptxas.str(), "-v", arch, input, "-o", output};
  if (debugInfo)
    command.push_back("-lineinfo");
  int said;
  if (std::error_code code = sys::fs::openFileForReadWrite(
          log, said, sys::fs::CD_CreateAlways, sys::fs::OF_None))
    return llvm::errorCodeToError(code);
  int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  runtime::ChildEnd end =
      runtime::runChild({command, {{nothing, 0}, {said, 1}, {said, 2}}});
  ::close(nothing);
  ::close(said);
  auto text = llvm::MemoryBuffer::getFile(log);
  StringRef words = text ? (*text)->getBuffer().trim() : StringRef();
  if (end.error)
    return failed("cannot run %s: %s", ptxas.str().c_str(),
                  std::strerror(end.error));
  if (WIFSIGNALED(end.status))
    return failed("%s ended by signal %d on the kernel for %s: %s",
                  ptxas.str().c_str(), WTERMSIG(end.status),
                  item.chip.c_str(), words.str().c_str());
  if (int code = WEXITSTATUS(end.status))
    return failed("%s refuses the kernel for %s (exit code %d): %s",
                  ptxas.str().c_str(), item.chip.c_str(), code,
                  words.str().c_str());
  if (llvm::Error error = parseResources(words, *item.resources))
    return failed("cannot read what %s says: %s", ptxas.str().c_str(),
                  llvm::toString(std::move(error)).c_str());
  if (!keepCode)
    return llvm::Error::success();
  auto bytes = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!bytes)
    return llvm::errorCodeToError(bytes.getError());
  item.kernel->cubin = (*bytes)->getBuffer().str();
  return llvm::Error::success();
}

LogicalResult
tilewright::assembleKernels(Location loc,
                            MutableArrayRef<CompiledProgram> programs,
                            const CompileOptions &options,
                            CompileObserver *observer,
                            std::vector<KernelResources> &resources) {
  std::vector<Item> items;
  for (CompiledProgram &program : programs)
    for (CompiledKernel &kernel : program.kernels)
      if (kernel.code.kind == CodeKind::PTX)
        items.push_back(
            {&kernel,
             program.target->variants.front().target.getText("chip").str(),
             nullptr});
  if (items.empty())
    return emitError(loc) << "none of the targets makes PTX, which ptxas "
                             "assembles; add one such as cuda:sm_80";
  llvm::Expected<std::string> ptxas = findPtxas(options.ptxas);
  if (!ptxas)
    return emitError(loc) << llvm::toString(ptxas.takeError());
  resources.resize(items.size());
  for (auto [item, entry] : llvm::zip_equal(items, resources)) {
    entry.program = "cuda:" + item.chip;
    entry.kernel = item.kernel->code.entry;
    entry.sharedDynamic = item.kernel->code.dynamicShared;
    item.resources = &entry;
  }
  return failableParallelForEach(
      loc.getContext(), items, [&](Item &item) -> LogicalResult {
        ObservedStep step(observer, "ptxas",
                          "ptxas " + item.kernel->code.entry);
        llvm::Error error = assemble(*ptxas, item, options.debugInfo,
                                     options.emit == EmitKind::Cubin);
        if (!error)
          return success();
        return emitError(loc) << "kernel '" << item.kernel->code.entry
                              << "': " << llvm::toString(std::move(error));
      });
}
