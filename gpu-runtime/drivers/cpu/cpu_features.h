// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this processor can do, under the names that LLVM gives its features.
#ifndef TILEWRIGHT_DRIVERS_CPU_CPU_FEATURES_H
#define TILEWRIGHT_DRIVERS_CPU_CPU_FEATURES_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::runtime {

/// "avx2", "avx512bf16", …: both the processor and the system support it.
/// False for names that are not known.
bool hasCpuFeature(std::string_view name);
/// 1 for baseline x86-64, up to 4 for x86-64-v4; 0 on other processors.
int cpuLevel();
/// Bits of an SVE vector register; 0 where there are none.
int64_t sveBits();
/// The processor's name for itself.
std::string cpuName();

} // namespace tilewright::runtime

#endif // TILEWRIGHT_DRIVERS_CPU_CPU_FEATURES_H
