// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants whose values are in a file, safetensors, and not in the text:
//
//   module attributes {tilewright.parameters = "model.safetensors"} {
//     …
//     %w = arith.constant dense_resource<"layer1.weight"> : tensor<64x64xf32>
//
// A resource of which the text has no data is the tensor of that name. The compiler
// reads the file's header, and the tensors for their hashes; what it makes of the
// program does not depend on values.

#ifndef TILEWRIGHT_LIB_COMPILER_PARAMETERS_H
#define TILEWRIGHT_LIB_COMPILER_PARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <memory>

namespace tilewright {

class Parameters {
public:
  /// Finds the parameters of `module` and opens their file: `chosen`, or what the
  /// module names, in the folder of the source `name`.
  mlir::LogicalResult read(mlir::ModuleOp module, llvm::StringRef name,
                           llvm::StringRef chosen);

  bool contains(mlir::ElementsAttr constant) const;
  /// Adds the tensor's name, size and hash to its entry in a manifest.
  void describe(mlir::ElementsAttr constant, llvm::json::Object &entry);
  llvm::StringRef getBytes(mlir::ElementsAttr constant) const;
  /// Without a folder; empty: there are no parameters.
  llvm::StringRef getFileName() const { return fileName; }

private:
  struct Tensor {
    llvm::StringRef bytes; // in the mapping
    std::string sha256;    // once it was asked for
  };
  std::shared_ptr<const void> file; // keeps the mapping
  std::string fileName;
  llvm::StringMap<Tensor> tensors;
};

} // namespace tilewright

#endif
