// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets say of their matrix units, for people and for tests that go
// through all of it.

#include "tilewright/Compiler/Compiler.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Target.h"

#include "llvm/Support/Error.h"

using namespace mlir;
using namespace tilewright;

std::optional<std::string> tilewright::listInstructions(StringRef targets,
                                                        std::string &error) {
  TargetRegistry registry = createTargetRegistry();
  DialectRegistry dialects;
  registry.registerDialects(dialects);
  MLIRContext context(dialects, MLIRContext::Threading::DISABLED);
  context.loadDialect<TilewrightDialect>();
  llvm::Expected<std::vector<ParsedTarget>> parsed =
      registry.parseList(&context, targets);
  if (!parsed) {
    error = llvm::toString(parsed.takeError());
    return std::nullopt;
  }
  std::string text;
  for (const ParsedTarget &target : *parsed) {
    bool any = false;
    for (StringRef fact : {"warpgroup_mma", "mma", "mma_emulated", "panel_mma"})
      if (auto names = target.variants.empty()
                           ? ArrayAttr()
                           : target.variants.front().target.getFacts().getAs<ArrayAttr>(fact))
        for (auto name : names.getAsRange<StringAttr>()) {
          any = true;
          text += target.name + " " + name.getValue().str() +
                  (fact != "mma_emulated" ? "" : " emulated: only where a config asks for it") + "\n";
        }
    if (!any)
      text += target.name + " none\n";
  }
  return text;
}
