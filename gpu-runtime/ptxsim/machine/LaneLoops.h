// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers from functions over one lane: `binary<&add>` evaluates `add(a, b, inst)` for every active lane. The loop over
// all 32 lanes has no branches, so the compiler can vectorise it.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_LANELOOPS_H
#define TILEWRIGHT_PTXSIM_MACHINE_LANELOOPS_H

#include "machine/State.h"

namespace tilewright::ptxsim {

template <typename Callable> inline void overLanes(uint32_t mask, Callable callable) {
  if (mask == ~0u) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      callable(lane);
    return;
  }
  forEachLane(mask, callable);
}

template <uint64_t (*Function)(uint64_t, const Inst &)> void unary(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  overLanes(context.mask, [=, &inst](unsigned lane) { d[lane] = Function(a[lane], inst); });
}

template <uint64_t (*Function)(uint64_t, uint64_t, const Inst &)>
void binary(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  const uint64_t *b = context.row(inst.src[1]);
  overLanes(context.mask, [=, &inst](unsigned lane) { d[lane] = Function(a[lane], b[lane], inst); });
}

template <uint64_t (*Function)(uint64_t, uint64_t, uint64_t, const Inst &)>
void ternary(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  const uint64_t *b = context.row(inst.src[1]);
  const uint64_t *c = context.row(inst.src[2]);
  overLanes(context.mask, [=, &inst](unsigned lane) { d[lane] = Function(a[lane], b[lane], c[lane], inst); });
}

template <uint64_t (*Function)(uint64_t, uint64_t, uint64_t, uint64_t, const Inst &)>
void quaternary(ExecContext &context, const Inst &inst) {
  uint64_t *d = context.row(inst.dst[0]);
  const uint64_t *a = context.row(inst.src[0]);
  const uint64_t *b = context.row(inst.src[1]);
  const uint64_t *c = context.row(inst.src[2]);
  const uint64_t *e = context.row(inst.src[3]);
  overLanes(context.mask,
            [=, &inst](unsigned lane) { d[lane] = Function(a[lane], b[lane], c[lane], e[lane], inst); });
}

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_LANELOOPS_H
