// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-opt: every pass and stage, one at a time, on textual IR.

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "RegisterRooms.inc"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<tilewright::TilewrightDialect>();
  mlir::registerAllPasses();
  registerRooms();
  return mlir::failed(mlir::MlirOptMain(
      argc, argv, "Tilewright's passes and stages, and upstream's\n", registry));
}
