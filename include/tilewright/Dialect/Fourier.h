// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright.fft, which the stage `input` says by structured ops (PrepareFourier.cpp).

#ifndef TILEWRIGHT_DIALECT_FOURIER_H
#define TILEWRIGHT_DIALECT_FOURIER_H

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "tilewright/Dialect/FourierOp.h.inc"

#endif
