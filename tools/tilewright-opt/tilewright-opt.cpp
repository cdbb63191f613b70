// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-opt: every pass and stage, one at a time, on textual IR.

#include "../tilewright-compile/Limits.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"

#include "RegisterPasses.inc"

using namespace llvm;

static cl::opt<double> timeout(
    "timeout", cl::init(0), cl::value_desc("seconds"),
    cl::desc("Give up after so many seconds, with an error and no output"));

static cl::opt<std::string> maxMemory(
    "max-memory", cl::value_desc("size"),
    cl::desc("Give up where more memory is taken than that (500M, 4G), "
             "with an error and no output"));

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<tilewright::TilewrightDialect>();
  mlir::registerAllPasses();
  registerPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Tilewright's passes and stages, and upstream's\n", registry);
  std::optional<uint64_t> maxBytes = parseMemorySize(maxMemory);
  if ((!maxBytes && !maxMemory.empty()) || timeout < 0) {
    errs() << "tilewright-opt: error: --max-memory takes a size such as 500M "
              "or 4G, "
              "--timeout a number of seconds\n";
    return 1;
  }
  Limits limits("tilewright-opt", timeout, maxBytes.value_or(0));
  return mlir::failed(mlir::MlirOptMain(argc, argv, input, output, registry));
}
