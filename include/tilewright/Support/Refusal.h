// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why something is not done, as data: a kind to count by, the amounts where it is about a
// limit, and the sentence that a user reads. As with llvm::Error, true means that something
// stands against it:
//
//   static Refusal checkStages(LoweringConfigAttr config) {
//     if (config.getStages() < 2)
//       return refuse(Refused::Config, "'stages' is " + Twine(config.getStages()) +
//                                          "; a ring needs 2");
//     return {};
//   }
//
//   if (Refusal why = checkStages(config))
//     return why;

#ifndef TILEWRIGHT_SUPPORT_REFUSAL_H
#define TILEWRIGHT_SUPPORT_REFUSAL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tilewright {

/// What stands against it.
enum class Refused {
  /// The target has no such instruction, copy engine, cluster, library call.
  Target,
  /// Element types that no instruction, copy or kernel is for.
  Types,
  /// Extents: too long, too short, none.
  Extents,
  /// An extent is not known when compiling.
  DynamicExtents,
  /// How an operand, a result or a mask lies in memory, or that it does not.
  Layout,
  /// Rows that begin at no multiple of what copies want.
  Alignment,
  /// It is not the product that it would have to be.
  NotContraction,
  /// What else is in the kernel, or reads or writes the values.
  Neighbours,
  /// Tiles that are no whole instructions, boxes, parts or steps.
  Indivisible,
  /// More than the target has, in elements or bytes of a tile, in registers, in threads.
  TileSize,
  SharedMemory,
  ThreadMemory,
  Registers,
  Threads,
  /// Fields of a config that contradict each other or the kernel.
  Config,
  /// The config is another strategy's, or has a field that only others carry out.
  OtherStrategy,
  /// A lowering config is pinned on an op that would have to change.
  Pinned,
  /// It is possible, and does not pay.
  NotProfitable,
  /// Results would not be those that the program asks for.
  Numerics,
  /// The question does not arise: there is nothing to say.
  Unrelated,
};

/// As it is written in JSON and in reports: "shared_memory".
llvm::StringRef nameOf(Refused kind);

class [[nodiscard]] Refusal {
public:
  /// Nothing stands against it.
  Refusal() = default;
  Refusal(Refused kind, const llvm::Twine &why) : kind(kind), text(why.str()) {}

  explicit operator bool() const { return kind.has_value(); }
  Refused getKind() const { return *kind; }
  /// The sentence: lower case, without a full stop. Empty where nothing stands against it, or
  /// nobody has to know.
  const std::string &str() const { return text; }

  /// The same with words in front that say what it is about.
  Refusal after(const llvm::Twine &words) const {
    Refusal refusal = *this;
    refusal.text = (words + text).str();
    return refusal;
  }

  /// What would be needed of what there is so much of.
  struct Amounts {
    int64_t needed, available;
  };
  Refusal of(int64_t needed, int64_t available) const {
    Refusal refusal = *this;
    refusal.amounts = {needed, available};
    return refusal;
  }
  std::optional<Amounts> getAmounts() const { return amounts; }

private:
  std::optional<Refused> kind;
  std::optional<Amounts> amounts;
  std::string text;
};

inline Refusal refuse(Refused kind, const llvm::Twine &why) { return Refusal(kind, why); }

/// A value, or why there is none. As with llvm::Expected, true means that there is one.
template <typename T> class [[nodiscard]] OrRefusal {
public:
  OrRefusal(T value) : value(std::move(value)) {}
  OrRefusal(Refusal why) : refusal(std::move(why)) {
    assert(refusal && "neither a value nor a reason");
  }

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }
  /// Nothing where there is a value.
  const Refusal &why() const { return refusal; }

private:
  std::optional<T> value;
  Refusal refusal;
};

} // namespace tilewright

#endif
