// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Remarks.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace tilewright;

void tilewright::remarkMissed(func::FuncOp kernel, Operation *op, StringRef category,
                              const Refusal &why) {
  auto options = remark::RemarkOpts::name(nameOf(why.getKind()))
                     .category(category)
                     .function(kernel.getSymName());
  remark::detail::InFlightRemark missed = remark::missed(op->getLoc(), options);
  missed << remark::reason("{0}", why.str());
  if (std::optional<Refusal::Amounts> amounts = why.getAmounts())
    missed << remark::metric("Needed", amounts->needed)
           << remark::metric("Available", amounts->available);
}
