// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#include "Interesting.h"

#include "core/child_process.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>

using namespace mlir;

static volatile std::sig_atomic_t interrupted = 0;

void interrupt() { interrupted = 1; }
bool isInterrupted() { return interrupted; }

Interesting::~Interesting() {
  if (!folder.empty())
    llvm::sys::fs::remove_directories(folder);
}

std::string Interesting::path(StringRef name) {
  SmallString<128> result;
  if (folder.empty()) {
    if (llvm::sys::fs::createUniqueDirectory("tilewright-reduce", result))
      return "";
    folder = result.str().str();
  }
  result = folder;
  llvm::sys::path::append(result, name);
  return result.str().str();
}

Interesting::Ended Interesting::run(StringRef program,
                                    ArrayRef<std::string> arguments) {
  Ended ended;
  std::string output = path("output");
  std::vector<std::string> command = {program.str()};
  llvm::append_range(command, arguments);
  int said;
  if (std::error_code code = llvm::sys::fs::openFileForReadWrite(
          output, said, llvm::sys::fs::CD_CreateAlways, llvm::sys::fs::OF_None)) {
    ended.code = -1;
    ended.output = "cannot write '" + output + "': " + code.message();
    return ended;
  }
  int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  tilewright::runtime::ChildEnd end = tilewright::runtime::runChild(
      {command, {{nothing, 0}, {said, 1}, {said, 2}}, question.seconds});
  ::close(nothing);
  ::close(said);
  if (end.error) {
    ended.code = -1;
    ended.output = std::strerror(end.error);
    return ended;
  }
  ended.timedOut = end.timedOut;
  ended.code = WIFSIGNALED(end.status) ? -2 : WEXITSTATUS(end.status);
  if (auto file = llvm::MemoryBuffer::getFile(output))
    ended.output = (*file)->getBuffer().str();
  return ended;
}

Interesting::Ended Interesting::compile(StringRef input, StringRef output) {
  std::vector<std::string> arguments = {input.str(), "-o", output.str()};
  if (!question.target.empty())
    arguments.push_back("--target=" + question.target);
  llvm::append_range(arguments, question.compileArguments);
  return run(question.compiler, arguments);
}

/// "7x16xf32=int:-3:3:1": small integers, so that sums are exact.
static std::string inputFor(Type type, int64_t dim, size_t seed) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    for (int64_t size : shaped.getShape())
      os << (ShapedType::isDynamic(size) ? dim : size) << "x";
    bool boolean = shaped.getElementType().isInteger(1);
    os << shaped.getElementType() << (boolean ? "=int:0:1:" : "=int:-3:3:")
       << seed;
    return text;
  }
  os << type << "=" << (type.isInteger(1) ? 1 : dim);
  return text;
}

std::string Interesting::whyNotDiffering(ModuleOp module, StringRef input) {
  func::FuncOp function;
  for (auto func : module.getOps<func::FuncOp>())
    if (!function && func.isPublic() && !func.isExternal())
      function = func;
  if (!function)
    return "there is no public function";
  std::string artifact = path("reduced.tw");
  Ended compiled = compile(input, artifact);
  if (compiled.code != 0)
    return "it does not compile: " + compiled.output;
  std::vector<std::string> arguments = {artifact,
                                        "--function=" + function.getName().str(),
                                        "--device=" + question.device,
                                        "--check=" + question.check};
  for (auto [seed, type] : llvm::enumerate(function.getArgumentTypes()))
    arguments.push_back("--input=" + inputFor(type, question.dim, seed));
  llvm::append_range(arguments, question.runArguments);
  Ended ran = run(question.runner, arguments);
  if (ran.timedOut)
    return "the run does not end within " + std::to_string(question.seconds) +
           " s";
  // 2 says as well that nothing could be checked, a result without error bounds say.
  if (ran.code == 2 && StringRef(ran.output).contains("MISMATCH"))
    return "";
  std::string what = ran.code == 2
                         ? "the run checks nothing"
                         : "the run ends with exit code " + std::to_string(ran.code) +
                               ", not 2 (a difference)";
  return what + (ran.output.empty() ? "" : ":\n" + ran.output);
}

std::string Interesting::whyNot(ModuleOp module, StringRef text) {
  std::string reason = ask(module, text);
  // What an interrupt has ended says nothing about the program.
  return isInterrupted() ? "interrupted" : reason;
}

std::string Interesting::ask(ModuleOp module, StringRef text) {
  std::string input = path("reduced.mlir");
  {
    std::error_code code;
    llvm::raw_fd_ostream os(input, code);
    if (code)
      return "cannot write '" + input + "': " + code.message();
    os << text;
  }
  if (question.kind == Question::Differs)
    return whyNotDiffering(module, input);
  if (question.kind == Question::Script) {
    Ended ended = run(question.text, {input});
    return ended.code == 0 ? ""
                           : "the script ends with exit code " +
                                 std::to_string(ended.code) + "\n" + ended.output;
  }
  Ended ended = compile(input, path("reduced.tw"));
  if (ended.code == -1)
    return "cannot run " + question.compiler + ": " + ended.output;
  std::string what = ended.timedOut     ? "the compiler does not end in time"
                     : ended.code == -2 ? "the compiler crashes"
                     : ended.code       ? "the compiler says:\n" + ended.output
                                        : "the compiler succeeds";
  bool good = false;
  switch (question.kind) {
  case Question::Fails:
    good = ended.code > 0 && StringRef(ended.output).contains(question.text);
    break;
  case Question::Crashes:
    good = ended.code == -2 && !ended.timedOut;
    break;
  case Question::Hangs:
    good = ended.timedOut;
    break;
  default:
    break;
  }
  return good ? "" : what;
}
