// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiled support functions, as bytes of the compiler.

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#define EMBED(name, file)                                                      \
  __asm__(".pushsection .rodata\n"                                             \
          ".balign 16\n" #name "_begin:\n"                                     \
          ".incbin \"" TILEWRIGHT_SUPPORT_DIR "/" file "\"\n" #name            \
          "_end:\n"                                                            \
          ".popsection\n");                                                    \
  extern "C" const char name##_begin[] __attribute__((visibility("hidden")));  \
  extern "C" const char name##_end[] __attribute__((visibility("hidden")));

EMBED(tilewright_host_support, "host_support-x86_64.o")
EMBED(tilewright_reference_support, "reference_support-x86_64.o")
EMBED(tilewright_builtins, "builtins-x86_64.o")
EMBED(tilewright_host_support_aarch64, "host_support-aarch64.o")
EMBED(tilewright_reference_support_aarch64, "reference_support-aarch64.o")
EMBED(tilewright_builtins_aarch64, "builtins-aarch64.o")

#define BYTES(name) llvm::StringRef(name##_begin, size_t(name##_end - name##_begin))

namespace tilewright {
llvm::SmallVector<llvm::StringRef> getHostSupportObjects(llvm::StringRef triple,
                                                         bool reference);
} // namespace tilewright

llvm::SmallVector<llvm::StringRef>
tilewright::getHostSupportObjects(llvm::StringRef triple, bool reference) {
  if (triple.starts_with("aarch64"))
    return {reference ? BYTES(tilewright_reference_support_aarch64)
                      : BYTES(tilewright_host_support_aarch64),
            BYTES(tilewright_builtins_aarch64)};
  return {reference ? BYTES(tilewright_reference_support)
                    : BYTES(tilewright_host_support),
          BYTES(tilewright_builtins)};
}
