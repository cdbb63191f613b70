// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One --arg of a kernel in PTX:
//
//   1000xf32=random:1, @x.npy    a buffer; the kernel gets its address
//   1000xf32=undefined           a buffer that nothing has written
//   f32=2                        a scalar
//   struct:{f32:1.5,2xi32:3 4,[1000xf32=random]}
//                                a structure by value, laid out as in C;
//                                between brackets a buffer, of which the
//                                structure holds the address
//   bytes:00ff7f80, bytes:@file  these bytes
//
//   tensormap:box=64x64:swizzle=128:256x320xf16=random
//                                a buffer and the tensor map that describes
//                                it (cuTensorMapEncodeTiled), by value; box,
//                                swizzle (32, 64, 128), fill=nan in any order;
//                                by=address: the map is in device memory
//   tensormap:box=128x64:lower=-1x-1:upper=-1x-1:steps=1x1:2x16x16x64xf16=random
//                                of images (cuTensorMapEncodeIm2col): pixels and
//                                channels of a box, and along the dims of space the
//                                corners, and steps from window to window (1)
//
// Further kinds of by-value arguments go beside the last two: a word, a colon,
// and what makes the bytes.
#ifndef TILEWRIGHT_RUN_KERNEL_ARGUMENT_H
#define TILEWRIGHT_RUN_KERNEL_ARGUMENT_H

#include "host_tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::run {

struct KernelBuffer {
  HostTensor value;
  bool isUndefined = false;
  /// Where in the argument's bytes its address goes.
  size_t offset = 0;
};

/// What of a tensor map is not the buffer's: the box by dims, outermost first.
struct MapOptions {
  std::vector<int32_t> box;
  /// Of images; the corners are empty for other maps.
  std::vector<int32_t> lower, upper, steps;
  unsigned swizzle = 0;
  bool fillsNaN = false;
  /// The kernel gets the address of the map.
  bool isByAddress = false;
};

struct KernelArgument {
  /// What the kernel gets, addresses aside.
  std::vector<uint8_t> bytes;
  std::vector<KernelBuffer> buffers;
  /// The bytes are a tensor map of the buffer.
  std::optional<MapOptions> map;
  /// "f32", "buffer", "struct": for messages.
  std::string kind;
};

/// Reads the text of argument number `index`. Throws RunError.
KernelArgument parseKernelArgument(const std::string &text, size_t index);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_KERNEL_ARGUMENT_H
