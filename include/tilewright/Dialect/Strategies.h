// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stages behind `configure` ask of a kernel's strategy: questions with an answer for
// each, so that none of them lists names. Which configs there are, and what they mean for
// tiles, is lib/Configure's.

#ifndef TILEWRIGHT_DIALECT_STRATEGIES_H
#define TILEWRIGHT_DIALECT_STRATEGIES_H

#include "tilewright/Dialect/Tilewright.h"

namespace tilewright {

struct StrategyTraits {
  /// Threads share each sum of a product: its operands stay in the layouts in which they
  /// are read, and their products are reduced.
  bool sharesSums = false;
  /// A product is vectorized as any other reduction.
  bool reducesProducts = false;
  /// `tile` writes vectors, or loops of threads: `vectorize` finds nothing to do.
  bool isVectorized = false;
  /// A product's result becomes an operand of the next one, in registers where an
  /// instruction takes it from there; operands outlive loops around the products.
  bool chainsProducts = false;
  /// Later stages take the loops of CPUs apart, so that they have no edges to peel.
  bool ownsLoops = false;
  /// A kernel passes over its results once: nobody finds them in a cache.
  bool passesOnce = false;
  /// Threads exchange values through memory that others of the block have written.
  bool exchangesInMemory = false;
};

/// Those of a kernel's, or an op's, config; of null none is so.
inline StrategyTraits traitsOf(LoweringConfigAttr config) {
  StrategyTraits traits;
  if (!config)
    return traits;
  switch (config.getStrategy()) {
  case Strategy::MatrixUnit:
  case Strategy::WarpSpecialized:
  case Strategy::SimtContraction:
    break;
  case Strategy::SkinnyContraction:
    traits.sharesSums = true;
    break;
  case Strategy::Reduction:
    traits.reducesProducts = traits.passesOnce = true;
    break;
  case Strategy::Streaming:
    traits.passesOnce = true;
    break;
  case Strategy::Attention:
    traits.isVectorized = traits.chainsProducts = traits.ownsLoops = true;
    break;
  case Strategy::Irregular:
    traits.isVectorized = traits.exchangesInMemory = traits.passesOnce = true;
    break;
  }
  return traits;
}

} // namespace tilewright

#endif
