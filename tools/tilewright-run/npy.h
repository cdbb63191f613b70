// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npy files, versions 1 to 3
// (numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
//
// Reading: f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8, b1, V1, V2, in either byte order
// and either array order. The file does not know bf16, f8 and index; `wanted`
// does: V2 and u2 become bf16 or f16, V1 and u1 become f8, integers become
// signless integers of their width.
//
// Writing: bf16 as u2 and f8 as u1 (words of their bits), i1 as b1, i4 and i2 as i1,
// index as i8.
#ifndef TILEWRIGHT_RUN_NPY_H
#define TILEWRIGHT_RUN_NPY_H

#include "host_tensor.h"

#include <string>

namespace tilewright::run {

/// `what` names the file in messages. Throws RunError.
HostTensor parseNpy(const std::string &what, const std::string &bytes,
                    tw_dtype wanted);
std::string formatNpy(const HostTensor &tensor);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_NPY_H
