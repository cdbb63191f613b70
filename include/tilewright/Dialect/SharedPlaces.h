// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the buffers of a kernel lie in shared memory: written by
// tilewright-place-shared-memory, read by tilewright-place-barriers, back ends and reports.

#ifndef TILEWRIGHT_DIALECT_SHAREDPLACES_H
#define TILEWRIGHT_DIALECT_SHAREDPLACES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace tilewright {

/// On a memref.alloc of a kernel in thread form: its offset in bytes (i64). Ranges of
/// two buffers meet only if the buffers are never alive together.
inline constexpr llvm::StringLiteral kSharedPlaceAttr = "tilewright.shared_place";
/// On a kernel in thread form: the bytes of shared memory that all of its buffers take
/// (i64). None: it has no buffer.
inline constexpr llvm::StringLiteral kSharedBytesAttr = "tilewright.shared_bytes";

/// On a memref.alloc in shared memory: that many steps of a loop have their tiles there (i64),
/// and the schedule that fills them says when threads meet.
inline constexpr llvm::StringLiteral kStagesAttr = "tilewright.stages";

/// Buffers of so many bytes share none with each other: a barrier costs more than they do.
inline constexpr int64_t kUnsharedBytes = 256;

/// Bytes of a buffer; none if its size is dynamic or its elements have none.
std::optional<int64_t> sharedBytesOf(mlir::MemRefType type);

} // namespace tilewright

#endif
