// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TuningFile.h"

#include "tilewright/Configure/Tuning.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tilewright;
namespace json = llvm::json;

/// The config, or the reason why there is none as a string: an old database is
/// no error, the kernel gets its default and a remark.
static Attribute readConfig(MLIRContext *context, StringRef text) {
  std::string reason;
  ScopedDiagnosticHandler quiet(context, [&](Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return success();
  });
  if (auto config =
          dyn_cast_or_null<LoweringConfigAttr>(parseAttribute(text, context)))
    return config;
  return StringAttr::get(
      context, "this compiler does not understand '" + text + "': " +
                   (reason.empty() ? "it is no lowering config" : reason));
}

/// Null where a member is missing.
static DictionaryAttr readRecord(MLIRContext *context,
                                 const json::Object &record, int64_t number) {
  std::optional<StringRef> target = record.getString("target");
  std::optional<StringRef> config = record.getString("config");
  const json::Object *problem = record.getObject("problem");
  const json::Array *shape = record.getArray("shape");
  if (!target || !config || !problem || !shape)
    return {};
  Builder b(context);
  SmallVector<NamedAttribute> strings;
  for (const auto &[name, value] : *problem) {
    std::optional<StringRef> text = value.getAsString();
    if (!text)
      return {};
    strings.push_back(b.getNamedAttr(StringRef(name), b.getStringAttr(*text)));
  }
  SmallVector<int64_t> extents;
  for (const json::Value &value : *shape) {
    std::optional<int64_t> extent = value.getAsInteger();
    if (!extent)
      return {};
    extents.push_back(*extent);
  }
  return b.getDictionaryAttr(
      {b.getNamedAttr("target", b.getStringAttr(*target)),
       b.getNamedAttr("record", b.getI64IntegerAttr(number)),
       b.getNamedAttr("problem", b.getDictionaryAttr(strings)),
       b.getNamedAttr("shape", b.getDenseI64ArrayAttr(extents)),
       b.getNamedAttr("config", readConfig(context, *config))});
}

LogicalResult tilewright::applyTuningFile(ModuleOp module, StringRef text,
                                          StringRef chip, std::string &error) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed) {
    error = llvm::toString(parsed.takeError());
    return failure();
  }
  const json::Object *root = parsed->getAsObject();
  const json::Array *records = root ? root->getArray("records") : nullptr;
  if (!records || root->getInteger("schema") != 1) {
    error = "is no tuning database of schema 1, as 'tilewright-sweep best' "
            "writes it";
    return failure();
  }
  SmallVector<Attribute> own;
  llvm::StringMap<std::string> chips; // by target
  for (auto [number, value] : llvm::enumerate(*records)) {
    const json::Object *record = value.getAsObject();
    DictionaryAttr read = record
                              ? readRecord(module.getContext(), *record, number)
                              : DictionaryAttr();
    if (!read) {
      error =
          "record " + std::to_string(number) +
          " lacks target, problem, shape or config, or has one of another type";
      return failure();
    }
    std::string ofChip = record->getString("chip").value_or("").str();
    if (!chip.empty() && ofChip != chip)
      continue;
    auto target = read.getAs<StringAttr>("target").getValue();
    auto [known, isNew] = chips.try_emplace(target, ofChip);
    if (!isNew && known->second != ofChip) {
      error = "has records of '" + known->second + "' and '" + ofChip +
              "' for " + target.str() + "; name one by --tuning-chip";
      return failure();
    }
    own.push_back(read);
  }
  if (own.empty() && !chip.empty()) {
    error = "has no records of chip '" + chip.str() + "'";
    return failure();
  }
  if (!own.empty())
    module->setAttr(kTuningAttr, ArrayAttr::get(module.getContext(), own));
  return success();
}
