// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `configure` and `tile` know about a kernel in program form: its ops and loop
// classes, which strategy it is for, and what is assumed of what is not known.

#ifndef TILEWRIGHT_CONFIGURE_KERNELINFO_H
#define TILEWRIGHT_CONFIGURE_KERNELINFO_H

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Analysis/KernelLoops.h"

namespace tilewright {

class KernelInfo : public KernelLoops {
public:
  /// Analyses a kernel in program form; emits an error that names the op and
  /// the reason where it is none.
  static mlir::FailureOr<KernelInfo> get(mlir::func::FuncOp kernel);

  /// That of a pinned config where it serves the root, else by the shapes.
  Strategy strategy = Strategy::Streaming;
};

} // namespace tilewright

#endif
