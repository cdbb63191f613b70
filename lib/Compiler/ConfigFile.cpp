// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConfigFile.h"

#include "tilewright/Configure/Pins.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tilewright;
namespace json = llvm::json;

static FileLineColLoc locationOf(Operation *op) {
  return op->getLoc()->findInstanceOf<FileLineColLoc>();
}

/// Whether a program may be called `name` and `rest` ("cuda", "_sm_80"): a target's text with
/// underscores for what no symbol has, and what its features and variants append.
static bool mayBeProgram(MLIRContext *context, StringRef name, StringRef rest,
                         const TargetRegistry &registry) {
  auto parsed = [&](const llvm::Twine &text) -> std::optional<ParsedTarget> {
    llvm::Expected<ParsedTarget> target = registry.parse(context, text.str());
    if (target)
      return std::move(*target);
    llvm::consumeError(target.takeError());
    return std::nullopt;
  };
  if (std::optional<ParsedTarget> plain = parsed(name))
    if (llvm::is_contained(llvm::map_range(plain->variants, [](const TargetVariant &variant) {
          return StringRef(variant.tag);
        }), rest))
      return true;
  SmallVector<StringRef> parts;
  rest.drop_front().split(parts, '_');
  for (size_t count = parts.size(); count; --count)
    for (StringRef between : {"_", "-", "."})
      if (parsed(name + ":" + llvm::join(ArrayRef(parts).take_front(count), between)))
        return true;
  return false;
}

/// What is wrong with the name of a target that a config is for, which may be a target, a part
/// of one ("cuda"), or the name of a program ("cuda_sm_80"); empty: nothing.
static std::string whyNoTarget(MLIRContext *context, StringRef key,
                               const TargetRegistry &registry) {
  StringRef name = key.take_until([](char c) { return c == ':' || c == '+' || c == '_'; });
  if (!registry.lookupTarget(name))
    return "names the target '" + key.str() + "'; known are " + registry.getSyntax();
  StringRef rest = key.drop_front(name.size());
  if (rest.empty())
    return "";
  if (rest.front() == '_')
    return mayBeProgram(context, name, rest, registry)
               ? ""
               : "is for no target: '" + key.str() +
                     "' names no program; that of cuda:sm_80, say, is 'cuda_sm_80'";
  llvm::Expected<ParsedTarget> target = registry.parse(context, key);
  return target ? "" : "is for no target: " + llvm::toString(target.takeError());
}

/// The configs of one kernel or op, by target; null with an error.
static DictionaryAttr readTargets(MLIRContext *context, StringRef of,
                                  const json::Value &value,
                                  const TargetRegistry &registry,
                                  std::string &error) {
  const json::Object *byTarget = value.getAsObject();
  if (!byTarget) {
    error = "'" + of.str() + "' is no object of configs by target";
    return {};
  }
  if (byTarget->empty()) {
    error = "'" + of.str() + "' has configs for no target";
    return {};
  }
  SmallVector<NamedAttribute> entries;
  for (const auto &[target, given] : *byTarget) {
    StringRef key = target;
    if (std::string why = whyNoTarget(context, key, registry); !why.empty()) {
      error = "'" + of.str() + "' " + why;
      return {};
    }
    std::optional<StringRef> text = given.getAsString();
    Attribute parsed = text ? parseAttribute(*text, context) : Attribute();
    auto config = dyn_cast_or_null<LoweringConfigAttr>(parsed);
    if (!config) {
      error = "'" + of.str() + "' has for '" + key.str() +
              "' no text \"#tilewright.lowering_config<…>\" as --list-configs prints "
              "it";
      return {};
    }
    entries.push_back({StringAttr::get(context, key), config});
  }
  return DictionaryAttr::get(context, entries);
}

/// Puts `configs` on the one structured op at `place`, "LINE" or "LINE:COLUMN".
static LogicalResult pinOp(ModuleOp module, StringRef place, DictionaryAttr configs,
                           std::string &error) {
  unsigned line = 0, column = 0;
  auto [first, second] = place.split(':');
  if (first.getAsInteger(10, line) ||
      (!second.empty() && second.getAsInteger(10, column))) {
    error = "'" + place.str() + "' is neither a kernel nor LINE or LINE:COLUMN";
    return failure();
  }
  SmallVector<Operation *> found;
  module.walk([&](linalg::LinalgOp op) {
    FileLineColLoc loc = locationOf(op);
    if (loc && loc.getLine() == line && (!column || loc.getColumn() == column))
      found.push_back(op);
  });
  if (found.size() == 1) {
    found.front()->setAttr(kConfigAttr, configs);
    return success();
  }
  error = "the source has " + std::to_string(found.size()) +
          " structured ops at '" + place.str() + "'; name one";
  return failure();
}

LogicalResult tilewright::applyConfigFile(ModuleOp module, StringRef text,
                                          const TargetRegistry &registry,
                                          std::string &error) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed) {
    error = llvm::toString(parsed.takeError());
    return failure();
  }
  const json::Object *root = parsed->getAsObject();
  if (!root) {
    error = "is no object of kernels or source ops";
    return failure();
  }
  SmallVector<NamedAttribute> kernels;
  for (const auto &[of, value] : *root) {
    StringRef name = of;
    DictionaryAttr configs =
        readTargets(module.getContext(), name, value, registry, error);
    if (!configs)
      return failure();
    if (!name.empty() && llvm::isDigit(name.front())) {
      if (failed(pinOp(module, name, configs, error)))
        return failure();
    } else {
      kernels.push_back({StringAttr::get(module.getContext(), name), configs});
    }
  }
  if (!kernels.empty())
    module->setAttr(kPinsAttr, DictionaryAttr::get(module.getContext(), kernels));
  return success();
}

LogicalResult tilewright::checkPinTargets(ModuleOp module, const TargetRegistry &registry) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    auto byTarget = op->getAttrOfType<DictionaryAttr>(kConfigAttr);
    if (byTarget && byTarget.empty())
      return op->emitOpError("has lowering configs for no target");
    for (NamedAttribute entry : byTarget ? byTarget.getValue() : ArrayRef<NamedAttribute>()) {
      if (std::string why = whyNoTarget(op->getContext(), entry.getName(), registry);
          !why.empty())
        return op->emitOpError("a lowering config ") << why;
      if (!isa<LoweringConfigAttr>(entry.getValue()))
        return op->emitOpError("has for target '")
               << entry.getName().getValue() << "' no lowering config";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

SmallVector<FileLineColLoc> tilewright::findPinned(ModuleOp module) {
  SmallVector<FileLineColLoc> found;
  module.walk([&](Operation *op) {
    if (FileLineColLoc loc = locationOf(op); loc && op->hasAttr(kConfigAttr))
      found.push_back(loc);
  });
  return found;
}

LogicalResult tilewright::keepsPinned(ModuleOp module,
                                      ArrayRef<FileLineColLoc> before) {
  SmallVector<FileLineColLoc> now = findPinned(module);
  LogicalResult result = success();
  for (FileLineColLoc loc : before)
    if (!llvm::is_contained(now, loc))
      result = emitError(loc)
               << "the lowering config of this op is lost, since the op itself is "
                  "folded into others, or unused; give the config of the kernel by "
                  "--config";
  return result;
}
