// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views and DLPack tensors: which device is which, which element type is which,
// and a tensor's memory as a buffer.
#ifndef TILEWRIGHT_CORE_DLPACK_H
#define TILEWRIGHT_CORE_DLPACK_H

#include "core/dlpack_abi.h"
#include "core/view.h"

namespace tilewright::runtime {

/// What tensors of a device say where they are.
DLDevice dlpackDevice(const Device &device);

/// A view of the tensor's memory; see tilewright_view_from_dlpack for what is
/// accepted. `dtype` 0: the tensor's own. The caller makes the view's buffer
/// keep the tensor.
Status viewOfDlpack(Device &device, const DLTensor &tensor, uint64_t flags,
                    int32_t dtype, View &result);

/// `dims` and `strides` are filled, and outlive the tensor; `flags` is what the
/// versioned form says beside it.
Status describeAsDlpack(const View &view, std::vector<int64_t> &dims,
                        std::vector<int64_t> &strides, DLTensor &tensor,
                        uint64_t &flags);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_DLPACK_H
