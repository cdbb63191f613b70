// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The implementations behind the exported functions, declared from the table of functions.

#ifndef TILEWRIGHT_PTXSIM_DRIVER_API_H
#define TILEWRIGHT_PTXSIM_DRIVER_API_H

#include "driver/Cuda.h"

namespace tilewright::ptxsim::api {

#define PTXSIM_API_NONE(name, symbol, version, params, args) CUresult symbol params;
#include "driver/Implemented.def"

} // namespace tilewright::ptxsim::api

#endif // TILEWRIGHT_PTXSIM_DRIVER_API_H
