// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicted times of a program on a chip that is not here: the model is Python's
// (docs/predicting.md), so this runs the tilewright-sweep beside this program, as it
// runs the compiler for a .mlir.
#ifndef TILEWRIGHT_RUN_PREDICT_H
#define TILEWRIGHT_RUN_PREDICT_H

#include "options.h"

namespace tilewright::run {

/// True where it could be predicted; standard output and errors are those of
/// tilewright-sweep. Throws RunError where there is none, or no Python.
bool predict(const Options &options);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_PREDICT_H
