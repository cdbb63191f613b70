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

EMBED(tilewright_host_support, "host_support.o")
EMBED(tilewright_reference_support, "reference_support.o")
EMBED(tilewright_builtins, "builtins.o")

#define BYTES(name) llvm::StringRef(name##_begin, size_t(name##_end - name##_begin))

namespace tilewright {
llvm::SmallVector<llvm::StringRef> getHostSupportObjects(bool reference);
} // namespace tilewright

llvm::SmallVector<llvm::StringRef>
tilewright::getHostSupportObjects(bool reference) {
  return {reference ? BYTES(tilewright_reference_support)
                    : BYTES(tilewright_host_support),
          BYTES(tilewright_builtins)};
}
