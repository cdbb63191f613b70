// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/KeptRows.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Tilewright.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tilewright;

int64_t tilewright::keptRowCopies(func::FuncOp kernel, BlockArgument argument,
                                  int64_t along, int64_t step) {
  TargetAttr target = getTarget(kernel);
  auto type = cast<ShapedType>(argument.getType());
  int64_t operand = operandNumber(argument), last = type.getRank() - 1;
  if (!target || !target.has("async_copy") || along != last ||
      !type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() < 8 ||
      getPadding(argument) || !isReadOnly(kernel, argument))
    return 0;
  int64_t size = type.isDynamicDim(last) ? promisedDivisor(kernel, operand, last)
                                         : type.getDimSize(last);
  int64_t aligned = std::gcd(size, step), bytes = type.getElementTypeBitWidth() / 8;
  if (StridedLayoutAttr view = getView(kernel, operand)) {
    auto promised = kernel->getAttrOfType<DenseI64ArrayAttr>(kAlignedAttr);
    if (view.getStrides().empty() || view.getStrides().back() != 1 || !promised ||
        !llvm::is_contained(promised.asArrayRef(), operand))
      return 0;
    aligned = std::gcd(aligned, std::max<int64_t>(1, target.getFact("access_bytes", 16) / bytes));
  }
  for (int64_t run : {16, 8, 4})
    if (run >= bytes && aligned * bytes % run == 0)
      return run;
  return 0;
}

int64_t tilewright::keptStepsAhead(int64_t bytes, int64_t steps) {
  constexpr int64_t kBytes = 64 * 1024, kMost = 8;
  return std::clamp<int64_t>(llvm::divideCeil(kBytes, std::max<int64_t>(1, bytes)), 1,
                             std::clamp<int64_t>(steps, 1, kMost));
}
