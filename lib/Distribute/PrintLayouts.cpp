// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts as pictures in text. For a value in registers, which warp, lane and
// register holds each element, "warp:lane/register"; for a buffer in shared
// memory, which bank each element begins in.
//
//   %v = vector.transfer_read … : vector<2x8xf32>  {tilewright.layouts = [#tilewright.layout<"regs=[2:1@1] lanes=[4:2@1, 2:1@0]">]}
// prints
//     |     0     1     2     3  …
//   0 | 0:0/0 0:0/1 0:1/0 0:1/1  …
//   1 | 0:4/0 0:4/1 0:5/0 0:5/1  …

#include "LayoutRules.h"
#include "tilewright/Distribute/Distribute.h"
#include "tilewright/Layout/SharedLayout.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilewright;

/// Bytes of a bank, and their number, on every GPU so far.
static constexpr int64_t kBankBytes = 4, kBanks = 32;

/// The banks of the last two dims of a buffer, at 0 along the others.
static LogicalResult printBanks(memref::AllocOp alloc, raw_ostream &os,
                                int64_t maxRows, int64_t maxColumns) {
  MemRefType type = alloc.getType();
  auto space = dyn_cast_or_null<SharedAttr>(type.getMemorySpace());
  SmallVector<int64_t> strides;
  int64_t start;
  if (!space)
    return success();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat() ||
      failed(type.getStridesAndOffset(strides, start)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return alloc.emitOpError() << "has no static layout to draw";
  layout::Swizzle swizzle = space.getElementSwizzle();
  int64_t rank = type.getRank();
  int64_t rows = rank >= 2 ? type.getDimSize(rank - 2) : 1;
  int64_t columns = rank >= 1 ? type.getDimSize(rank - 1) : 1;
  int64_t bits = type.getElementTypeBitWidth();
  os << "shared memory " << type << ", banks\n";
  for (int64_t r = 0; r < std::min(rows, maxRows); ++r) {
    os << llvm::formatv("{0,4} |", r).str();
    for (int64_t c = 0; c < std::min(columns, maxColumns); ++c) {
      int64_t offset = (rank >= 2 ? r * strides[rank - 2] : 0) +
                       (rank >= 1 ? c * strides[rank - 1] : 0);
      int64_t bank = swizzle(offset) * bits / 8 / kBankBytes % kBanks;
      os << llvm::formatv(" {0,2}", bank).str();
    }
    os << (columns > maxColumns ? " ...\n" : "\n");
  }
  os << (rows > maxRows ? " ...\n\n" : "\n");
  return success();
}

/// The layouts of an op's vector results.
static LogicalResult printVectors(Operation *op, AsmState &state,
                                  raw_ostream &os, int64_t maxRows,
                                  int64_t maxColumns) {
  auto layouts = op->getAttrOfType<ArrayAttr>(kLayoutsAttr);
  size_t number = 0;
  for (Value result : op->getResults()) {
    auto type = dyn_cast<VectorType>(result.getType());
    if (!type)
      continue;
    auto attr = layouts && number < layouts.size()
                    ? dyn_cast<LayoutAttr>(layouts[number++])
                    : LayoutAttr();
    if (!attr)
      return op->emitOpError("has a vector without a layout; "
                             "-tilewright-assign-layouts gives it one");
    layout::Result<layout::DistributedLayout> parsed =
        layout::DistributedLayout::parse(
            attr.getText().str(),
            layout::DistributedLayout::Shape(type.getShape()));
    if (!parsed)
      return op->emitOpError() << "layout \"" << attr.getText()
                               << "\": " << parsed.error();
    result.printAsOperand(os, state);
    os << " = " << op->getName() << " : " << type << "\n"
       << parsed->picture(maxRows, maxColumns) << "\n";
  }
  return success();
}

LogicalResult tilewright::printLayouts(func::FuncOp kernel, raw_ostream &os,
                                       int64_t maxRows, int64_t maxColumns) {
  os << "kernel " << kernel.getName() << "\n\n";
  AsmState state(kernel);
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return WalkResult(printBanks(alloc, os, maxRows, maxColumns));
    return WalkResult(printVectors(op, state, os, maxRows, maxColumns));
  });
  return failure(result.wasInterrupted());
}

FailureOr<std::string> tilewright::drawLayout(StringRef text, int64_t maxRows,
                                              int64_t maxColumns,
                                              std::string &error) {
  if (text.contains("strides=")) {
    auto shared = layout::SharedLayout::parse(text.str());
    if (shared)
      return shared->picture(maxRows, maxColumns);
    error = shared.error();
    return failure();
  }
  auto registers = layout::DistributedLayout::parse(text.str());
  if (registers)
    return registers->picture(maxRows, maxColumns);
  error = registers.error();
  return failure();
}
