// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers and decode functions of the bulk copies, by form.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_BULKOP_H
#define TILEWRIGHT_PTXSIM_ASYNC_BULKOP_H

#include "async/Bulk.h"
#include "decode/Program.h"

namespace tilewright::ptxsim {

class InstDecoder;

void commitBulkGroup(ExecContext &context, const Inst &inst);
void waitBulkGroup(ExecContext &context, const Inst &inst);

/// cp.async.bulk..., and cp.reduce.async.bulk..., what comes before taken.
bool decodeBulk(InstDecoder &d, bool reduces);
/// The same behind .tensor.
bool decodeBulkTensor(InstDecoder &d, bool reduces);

/// Whether the reduction has this operation on this type: the table of the ISA, which is shorter for shared memory.
bool isBulkReduction(BulkWay way, AtomicOp op, ScalarType type);
inline bool isBitwise(uint8_t op) {
  return static_cast<AtomicOp>(op) >= AtomicOp::And && static_cast<AtomicOp>(op) <= AtomicOp::Xor;
}

/// Source, destination and way of completion into inst.mode (a BulkWay). Takes .multicast::cluster.
bool takeBulkWay(InstDecoder &d, bool &multicast);
/// Takes an operand list's last ones: the mask of a multicast into the list of rows, and the cache policy.
bool takeBulkTail(InstDecoder &d, size_t next, bool multicast, bool hasPolicy);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_BULKOP_H
