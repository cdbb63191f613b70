// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of attributes whose text is a list of keys: `<key = value, key = [1, 2], …>`.

#ifndef TILEWRIGHT_LIB_DIALECT_ATTRIBUTETEXT_H
#define TILEWRIGHT_LIB_DIALECT_ATTRIBUTETEXT_H

#include "mlir/IR/OpImplementation.h"

namespace tilewright {

/// `[1, 2]`.
inline mlir::ParseResult parseArray(mlir::AsmParser &parser,
                                    llvm::SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(
      mlir::AsmParser::Delimiter::Square,
      [&] { return parser.parseInteger(values.emplace_back()); });
}

/// `, key = [1, 2]`; nothing where there are no values.
inline void printArray(mlir::AsmPrinter &printer, llvm::StringRef key,
                       llvm::ArrayRef<int64_t> values) {
  if (values.empty())
    return;
  printer << ", " << key << " = [";
  llvm::interleaveComma(values, printer);
  printer << "]";
}

/// `true` or `false`.
inline mlir::ParseResult parseFlag(mlir::AsmParser &parser, bool &value) {
  llvm::StringRef word;
  if (parser.parseOptionalKeyword(&word, {"true", "false"}))
    return parser.emitError(parser.getCurrentLocation()) << "expected true or false";
  value = word == "true";
  return mlir::success();
}

} // namespace tilewright

#endif
