// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One opened CUDA driver library with its own table of functions. A process may
// hold several: the real libcuda.so.1 and the PTX simulator's.
#ifndef TILEWRIGHT_DRIVERS_CUDA_CUDA_LIBRARY_H
#define TILEWRIGHT_DRIVERS_CUDA_CUDA_LIBRARY_H

#include "core/driver.h"
#include "cuda_api.h"

#include <memory>
#include <string>

namespace tilewright::cuda {

using runtime::Status;

/// The functions of cuda_symbols.def, and cuInit done. Thread-safe; never
/// unloaded, because CUDA's own threads live in it.
class CudaLibrary {
public:
  /// `path`: the library to open; empty: libcuda.so.1. `wantSimulator`: only Tilewright's PTX simulator will do.
  /// Errors are Unavailable and say what was tried.
  static Status open(const std::string &path, bool wantSimulator,
                     std::shared_ptr<CudaLibrary> &result);

#define TW_CUDA_SYMBOL(NAME, VERSION, PARAMETERS)                              \
  CUresult(*NAME) PARAMETERS = nullptr;
#include "cuda_symbols.def"

  bool isSimulator = false;
  /// The simulator's own: see ptxsim/driver/Extensions.h. Null on a GPU.
  int (*ptxsimBeginUse)(unsigned long long address, size_t bytes,
                        void *stream) = nullptr;
  int (*ptxsimPoison)(unsigned long long address, size_t bytes,
                      void *stream) = nullptr;
  void (*ptxsimSetDeadline)(unsigned long long nanoseconds) = nullptr;
  void (*ptxsimCancel)(void *context) = nullptr;
  int version = 0; // 1000 * major + 10 * minor

  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string resultName(CUresult result) const;

private:
  Status load(const std::string &path, bool wantSimulator);
  Status initialize();
};

/// Whether the context is unusable after this error.
bool isSticky(CUresult result);

/// "12.8".
std::string versionName(int version);

} // namespace tilewright::cuda

#endif // TILEWRIGHT_DRIVERS_CUDA_CUDA_LIBRARY_H
