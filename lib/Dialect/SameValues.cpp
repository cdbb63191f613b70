// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SameValues.h.

#include "tilewright/Dialect/SameValues.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace tilewright;

bool SameValues::areSame(Value x, Value y, Decide decide) {
  if (auto known = answers.find({x, y}); known != answers.end())
    return known->second;
  if (std::optional<bool> known = decide(x, y))
    return answers[{x, y}] = *known;
  auto one = dyn_cast<OpResult>(x), other = dyn_cast<OpResult>(y);
  bool areEqual = one && other && one.getResultNumber() == other.getResultNumber() &&
                  one.getOwner()->getNumRegions() == 0 &&
                  OperationEquivalence::isEquivalentTo(
                      one.getOwner(), other.getOwner(),
                      [&](Value a, Value b) { return success(areSame(a, b, decide)); },
                      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
  return answers[{x, y}] = areEqual;
}
