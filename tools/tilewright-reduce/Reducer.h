// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a program as small as it gets while it stays interesting:
//   1. functions, results and ops go, ops in large groups first;
//   2. sizes shrink, element types become the plainest of their kind;
//   3. again from 1, until a round changes nothing.
// Every candidate is verified before it is asked about, so that the result is a
// valid program; the order is fixed, so that it is always the same one.

#ifndef TILEWRIGHT_TOOLS_REDUCE_REDUCER_H
#define TILEWRIGHT_TOOLS_REDUCE_REDUCER_H

#include "Edits.h"
#include "Interesting.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

class Reducer {
public:
  /// `dim`: what a ? is in runs. `keep` gets the text after each step, so that
  /// what was found is there however this ends.
  Reducer(mlir::MLIRContext &context, Interesting &interesting, int64_t dim,
          llvm::function_ref<void(llvm::StringRef)> keep)
      : context(context), interesting(interesting), dim(dim), keep(keep) {}

  /// The smallest text found; empty, with `error`, if `source` does not parse or
  /// is not interesting to begin with.
  std::string reduce(llvm::StringRef source, std::string &error);

private:
  using Module = mlir::OwningOpRef<mlir::ModuleOp>;
  Module parse(llvm::StringRef text);
  /// Takes the candidate if it is valid, new, and interesting.
  bool take(Module candidate, const llvm::Twine &what);
  bool tryEdit(llvm::function_ref<bool(mlir::ModuleOp)> edit,
               const llvm::Twine &what);
  bool tryText(const std::string &text, const llvm::Twine &what);

  bool reduceSignatures();
  bool reduceOps(Instead instead);
  bool reduceSizes();
  bool reduceTypes();

  mlir::MLIRContext &context;
  Interesting &interesting;
  int64_t dim;
  llvm::function_ref<void(llvm::StringRef)> keep;
  Module current;
  std::string text;
  llvm::StringSet<> tried;
};

#endif
