// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of `--target=`, taken apart but not judged:
//
//   NAME[:VERSION](+FEATURE[=VALUE])*      cuda:sm_90a
//                                          vulkan:1.3+subgroup=32
//                                          vulkan+coopmat=16x16x16:f16:f32
//                                          cpu:x86-64-v3+avx512f
//
// Which names, versions and features exist is known by the back ends.

#ifndef TILEWRIGHT_TARGET_TARGETSPEC_H
#define TILEWRIGHT_TARGET_TARGETSPEC_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tilewright {

struct TargetFeature {
  std::string name;
  std::string value; // empty: none given
};

struct TargetSpec {
  std::string name;
  std::string version; // empty: none given
  llvm::SmallVector<TargetFeature> features;

  /// The value of feature `key` ("" where it has none), or nothing.
  std::optional<llvm::StringRef> getFeature(llvm::StringRef key) const;

  /// All values of a feature that may be given several times, in order.
  llvm::SmallVector<llvm::StringRef> getValues(llvm::StringRef key) const;

  /// The text again, features sorted by name.
  std::string str() const;
};

/// Parses one target. The error names the text and what is wrong with it.
llvm::Expected<TargetSpec> parseTargetSpec(llvm::StringRef text);

/// Parses `a,b,c`; a target that is named twice is an error.
llvm::Expected<llvm::SmallVector<TargetSpec>>
parseTargetSpecs(llvm::StringRef text);

/// An error with a message, which is how this folder reports bad target text.
llvm::Error makeTargetError(const llvm::Twine &message);

} // namespace tilewright

#endif
