// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiled support functions, as bytes of the compiler.

#include "llvm/ADT/ArrayRef.h"
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
EMBED(tilewright_builtins, "builtins.o")

namespace tilewright {
llvm::ArrayRef<llvm::StringRef> getHostSupportObjects();
} // namespace tilewright

llvm::ArrayRef<llvm::StringRef> tilewright::getHostSupportObjects() {
  static const llvm::StringRef objects[] = {
      {tilewright_host_support_begin,
       size_t(tilewright_host_support_end - tilewright_host_support_begin)},
      {tilewright_builtins_begin,
       size_t(tilewright_builtins_end - tilewright_builtins_begin)}};
  return objects;
}
