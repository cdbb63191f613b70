// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings of shared-memory stages between warps that copy and warps that
// multiply, and what they become in thread form: barriers in memory, copies by
// tensor maps, asynchronous matrix products. RingOps.td says how they go
// together.

#ifndef TILEWRIGHT_DIALECT_RINGS_H
#define TILEWRIGHT_DIALECT_RINGS_H

#include "tilewright/Dialect/Tilewright.h"

#define GET_OP_CLASSES
#include "tilewright/Dialect/RingOps.h.inc"

#endif
