// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses a kernel and finds its linalg ops.

#ifndef TILEWRIGHT_TEST_UNIT_ANALYSIS_FIXTURE_H
#define TILEWRIGHT_TEST_UNIT_ANALYSIS_FIXTURE_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

class AnalysisTest : public ::testing::Test {
protected:
  AnalysisTest() {
    context.loadDialect<tilewright::TilewrightDialect, mlir::func::FuncDialect,
                        mlir::linalg::LinalgDialect, mlir::arith::ArithDialect,
                        mlir::tensor::TensorDialect>();
  }

  mlir::func::FuncOp parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    return module ? *module->getOps<mlir::func::FuncOp>().begin() : mlir::func::FuncOp();
  }
  /// Op number `number` of the kernel `text`.
  mlir::linalg::LinalgOp parseOp(llvm::StringRef text, unsigned number = 0) {
    llvm::SmallVector<mlir::linalg::LinalgOp> ops;
    if (mlir::func::FuncOp kernel = parse(text))
      kernel.walk([&](mlir::linalg::LinalgOp op) { ops.push_back(op); });
    return number < ops.size() ? ops[number] : mlir::linalg::LinalgOp();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

#endif
