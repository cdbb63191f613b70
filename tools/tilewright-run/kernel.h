// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel of a PTX file, of whatever origin, launched as the command line
// says:
//
//   tilewright-run saxpy.ptx --device=ptxsim --entry=saxpy --grid=4 --block=256
//       --arg=1000xf32=random:1 --arg=1000xf32=random:2 --arg=f32=2 --arg=i32=1000
//
// Arguments come in the kernel's order; kernel_argument.h has their syntax.
#ifndef TILEWRIGHT_RUN_KERNEL_H
#define TILEWRIGHT_RUN_KERNEL_H

#include "host_tensor.h"
#include "options.h"
#include "trace.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::run {

/// What is left when the kernel has run.
struct KernelRun {
  std::string device, description;
  /// Every buffer, in the order of the arguments.
  std::vector<HostTensor> buffers;
  /// Index of each buffer among the arguments.
  std::vector<size_t> argument;
};

/// Whether the program is a PTX file: named so.
bool isKernelFile(const std::string &path);

/// "4", "4,2", "4x2x1": an extent, 1 where it ends early. Throws RunError.
std::array<uint32_t, 3> parseExtent(const std::string &text,
                                    const std::string &option);

/// Loads, uploads, launches, waits, downloads. Throws RunError.
KernelRun runKernel(const Options &options, Trace &trace);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_KERNEL_H
