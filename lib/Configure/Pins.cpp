// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Configure/Pins.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright;

LoweringConfigAttr tilewright::pinFor(DictionaryAttr byTarget, StringRef program,
                                      StringRef target) {
  LoweringConfigAttr found;
  size_t longest = 0;
  for (NamedAttribute entry : byTarget) {
    StringRef key = entry.getName();
    auto config = dyn_cast<LoweringConfigAttr>(entry.getValue());
    if (key == program)
      return config;
    StringRef rest = target;
    bool isPart = rest.consume_front(key) &&
                  (rest.empty() || rest.front() == ':' || rest.front() == '+');
    if (isPart && key.size() > longest) {
      longest = key.size();
      found = config;
    }
  }
  return found;
}

void tilewright::resolvePins(ModuleOp program, StringRef target) {
  StringRef name = program.getName().value_or("");
  program.walk([&](Operation *op) {
    auto byTarget = op->getAttrOfType<DictionaryAttr>(kConfigAttr);
    if (!byTarget)
      return;
    if (LoweringConfigAttr config = pinFor(byTarget, name, target))
      op->setAttr(kConfigAttr, config);
    else
      op->removeAttr(kConfigAttr);
  });
  auto pins = program->getAttrOfType<DictionaryAttr>(kPinsAttr);
  if (!pins)
    return;
  SmallVector<NamedAttribute> own;
  for (NamedAttribute entry : pins)
    if (auto byTarget = dyn_cast<DictionaryAttr>(entry.getValue()))
      if (LoweringConfigAttr config = pinFor(byTarget, name, target))
        own.push_back({entry.getName(), config});
  if (own.empty())
    program->removeAttr(kPinsAttr);
  else
    program->setAttr(kPinsAttr, DictionaryAttr::get(program.getContext(), own));
}

LoweringConfigAttr tilewright::getPin(func::FuncOp kernel) {
  auto program = kernel->getParentOfType<ModuleOp>();
  auto pins = program ? program->getAttrOfType<DictionaryAttr>(kPinsAttr)
                      : DictionaryAttr();
  if (!pins)
    return {};
  if (auto own = pins.getAs<LoweringConfigAttr>(kernel.getName()))
    return own;
  auto original = kernel->getAttrOfType<StringAttr>(kVariantOfAttr);
  return original ? pins.getAs<LoweringConfigAttr>(original.getValue())
                  : LoweringConfigAttr();
}

LogicalResult tilewright::checkPinnedKernels(ModuleOp program) {
  auto pins = program->getAttrOfType<DictionaryAttr>(kPinsAttr);
  if (!pins)
    return success();
  for (NamedAttribute pin : pins) {
    auto kernel = program.lookupSymbol<func::FuncOp>(pin.getName());
    if (kernel && isKernel(kernel))
      continue;
    SmallVector<StringRef> names;
    for (auto func : program.getOps<func::FuncOp>())
      if (isKernel(func))
        names.push_back(func.getName());
    return emitError(program.getLoc())
           << "a lowering config is given for kernel '" << pin.getName().getValue()
           << "', which program " << program.getName().value_or("")
           << " does not have; it has " << llvm::join(names, ", ");
  }
  return success();
}
