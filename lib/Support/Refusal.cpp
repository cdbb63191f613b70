// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Support/Refusal.h"

#include "llvm/Support/ErrorHandling.h"

using namespace tilewright;

llvm::StringRef tilewright::nameOf(Refused kind) {
  switch (kind) {
  case Refused::Target:
    return "target";
  case Refused::Types:
    return "types";
  case Refused::Extents:
    return "extents";
  case Refused::DynamicExtents:
    return "dynamic_extents";
  case Refused::Layout:
    return "layout";
  case Refused::Alignment:
    return "alignment";
  case Refused::NotContraction:
    return "not_contraction";
  case Refused::Neighbours:
    return "neighbours";
  case Refused::Indivisible:
    return "indivisible";
  case Refused::TileSize:
    return "tile_size";
  case Refused::SharedMemory:
    return "shared_memory";
  case Refused::ThreadMemory:
    return "thread_memory";
  case Refused::Registers:
    return "registers";
  case Refused::Threads:
    return "threads";
  case Refused::Config:
    return "config";
  case Refused::OtherStrategy:
    return "other_strategy";
  case Refused::Pinned:
    return "pinned";
  case Refused::NotProfitable:
    return "not_profitable";
  case Refused::Numerics:
    return "numerics";
  case Refused::Unrelated:
    return "unrelated";
  }
  llvm_unreachable("every kind has a name");
}
