// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kind of image a program gave us. PTX text is taken as it is; a cubin has no PTX and is refused.

#include "driver/State.h"

#include <cstring>

namespace tilewright::ptxsim {

CUresult extractPtx(const void *image, std::string &text, std::string &why) {
  const char *bytes = static_cast<const char *>(image);
  uint32_t magic;
  std::memcpy(&magic, bytes, sizeof(magic));
  if (magic == 0x464c457f) {
    why = "the image is a cubin (machine code); the simulator runs PTX";
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  if (magic == 0xba55ed50) {
    why = "fatbins are not supported yet";
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  text.assign(bytes);
  return CUDA_SUCCESS;
}

} // namespace tilewright::ptxsim
