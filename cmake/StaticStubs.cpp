// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What keeps a static compiler small. lld's archive holds link-time optimisation,
// which we never use; it asks for every target that LLVM was built with, and for
// Polly, which Debian's LLVM has as an extension. Functions that do nothing stand
// for them here: the linker then leaves those archives alone. Targets that we use
// (X86, AArch64, NVPTX) are not in the list; one missing from it only costs size.
//
// And what keeps it quick: static programs hand their unwind tables to the
// unwinder, which sorts all of them at the first exception (0.1 s for LLVM's).
// Without that (the linker's --wrap) it finds the sorted table in the file.

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

#define NO_TARGET(name)                                                        \
  extern "C" void LLVMInitialize##name##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##name##Target() {}                            \
  extern "C" void LLVMInitialize##name##TargetMC() {}                          \
  extern "C" void LLVMInitialize##name##AsmPrinter() {}                        \
  extern "C" void LLVMInitialize##name##AsmParser() {}

NO_TARGET(AMDGPU)
NO_TARGET(ARM)
NO_TARGET(AVR)
NO_TARGET(BPF)
NO_TARGET(Hexagon)
NO_TARGET(Lanai)
NO_TARGET(LoongArch)
NO_TARGET(M68k)
NO_TARGET(MSP430)
NO_TARGET(Mips)
NO_TARGET(PowerPC)
NO_TARGET(RISCV)
NO_TARGET(SPIRV)
NO_TARGET(Sparc)
NO_TARGET(SystemZ)
NO_TARGET(VE)
NO_TARGET(WebAssembly)
NO_TARGET(XCore)
NO_TARGET(Xtensa)

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "none", [](llvm::PassBuilder &) {}};
}

extern "C" void __wrap___register_frame_info(const void *, void *) {}
extern "C" void *__wrap___deregister_frame_info(const void *) { return nullptr; }
