// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/UserNames.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

func::FuncOp tilewright::createKernel(SymbolTable &symbols, Location loc, StringRef name,
                                      ValueRange inputs, TypeRange results,
                                      ArrayRef<Attribute> access) {
  Builder b(loc.getContext());
  SmallVector<Type> arguments(inputs.getTypes());
  llvm::append_range(arguments, results);
  auto kernel = func::FuncOp::create(loc, name, b.getFunctionType(arguments, results));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, b.getUnitAttr());
  kernel->setAttr(kAccessAttr, b.getArrayAttr(access));
  symbols.insert(kernel);
  kernel.addEntryBlock();
  for (auto [argument, input] : llvm::zip(kernel.getArguments(), inputs))
    if (StringRef written = getWrittenName(input); !written.empty())
      argument.setLoc(nameLocation(argument.getLoc(), "", written));
  return kernel;
}

Value tilewright::createEmptyLike(OpBuilder &b, Location loc, Value value) {
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value),
                                 getElementTypeOrSelf(value.getType()));
}
