// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parser and printer of target text, `NAME[:VERSION](+FEATURE[=VALUE])*`.

#include "tilewright/Target/TargetSpec.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tilewright;
using llvm::StringRef;

llvm::Error tilewright::makeTargetError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Words of target text: letters, digits, and `-_.`, starting with neither of
/// the latter.
static bool isWord(StringRef text) {
  return !text.empty() && llvm::isAlnum(text.front()) &&
         llvm::all_of(text, [](char c) {
           return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.';
         });
}

/// Values are words with `:` between them.
static bool isValue(StringRef text) {
  llvm::SmallVector<StringRef> words;
  text.split(words, ':');
  return llvm::all_of(words, isWord);
}

std::optional<StringRef> TargetSpec::getFeature(StringRef key) const {
  for (const TargetFeature &feature : features)
    if (feature.name == key)
      return StringRef(feature.value);
  return std::nullopt;
}

llvm::SmallVector<StringRef> TargetSpec::getValues(StringRef key) const {
  llvm::SmallVector<StringRef> values;
  for (const TargetFeature &feature : features)
    if (feature.name == key)
      values.push_back(feature.value);
  return values;
}

std::string TargetSpec::str() const {
  std::string text = name;
  if (!version.empty())
    text += ":" + version;
  llvm::SmallVector<const TargetFeature *> sorted;
  for (const TargetFeature &feature : features)
    sorted.push_back(&feature);
  llvm::stable_sort(sorted, [](const TargetFeature *a, const TargetFeature *b) {
    return a->name < b->name;
  });
  for (const TargetFeature *feature : sorted) {
    text += "+" + feature->name;
    if (!feature->value.empty())
      text += "=" + feature->value;
  }
  return text;
}

llvm::Expected<TargetSpec> tilewright::parseTargetSpec(StringRef text) {
  auto fail = [&](const llvm::Twine &why) {
    return makeTargetError("target '" + text + "': " + why +
                           "; the form is NAME[:VERSION](+FEATURE[=VALUE])*");
  };
  if (text.empty())
    return fail("a name is missing");
  llvm::SmallVector<StringRef> parts;
  text.split(parts, '+');
  TargetSpec spec;
  auto [name, version] = parts.front().split(':');
  if (!isWord(name))
    return fail("'" + name + "' is not a name");
  if (parts.front().contains(':') && !isWord(version))
    return fail("'" + version + "' is not a version");
  spec.name = name.str();
  spec.version = version.str();
  for (StringRef part : llvm::drop_begin(parts)) {
    auto [key, value] = part.split('=');
    if (!isWord(key))
      return fail("'" + part + "' is not a feature");
    if (part.contains('=') && !isValue(value))
      return fail("feature '" + key + "' has no usable value");
    if (llvm::is_contained(spec.getValues(key), value))
      return fail("feature '" + part + "' is given twice");
    spec.features.push_back({key.str(), value.str()});
  }
  return spec;
}

llvm::Expected<llvm::SmallVector<TargetSpec>>
tilewright::parseTargetSpecs(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  llvm::SmallVector<TargetSpec> specs;
  for (StringRef part : parts) {
    llvm::Expected<TargetSpec> spec = parseTargetSpec(part.trim());
    if (!spec)
      return spec.takeError();
    for (const TargetSpec &other : specs)
      if (other.str() == spec->str())
        return makeTargetError("target '" + spec->str() + "' is given twice");
    specs.push_back(std::move(*spec));
  }
  return specs;
}
