// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structural checks of an ELF shared object; see elf.h.

#include "core/elf.h"

#include "core/checked.h"

#include <cstring>
#include <elf.h>
#include <string>

namespace tilewright::runtime {

namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char *kMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char *kMachineName = "AArch64";
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
constexpr const char *kMachineName = "RISC-V";
#else
#error "name this machine's ELF number"
#endif

Status corrupt(const std::string &message) {
  return corruptArtifact("not a loadable ELF shared object: " + message);
}

} // namespace

Status verifyHostElf(const uint8_t *data, size_t size) {
  Elf64_Ehdr header;
  if (size < sizeof(header))
    return corrupt(std::to_string(size) + " bytes are too short");
  std::memcpy(&header, data, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return corrupt("it does not start with 7f 45 4c 46");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return corrupt("expected 64-bit little-endian");
  if (header.e_type != ET_DYN)
    return corrupt("type " + std::to_string(header.e_type) +
                   "; expected a shared object (3)");
  if (header.e_machine != kMachine)
    return unsupported("the host program is for ELF machine " +
                       std::to_string(header.e_machine) + "; this machine is " +
                       kMachineName + " (" + std::to_string(kMachine) + ")");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      !rangeFits(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), size))
    return corrupt("the program headers lie outside the file");
  bool hasDynamic = false, hasLoad = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, data + header.e_phoff + i * sizeof(segment),
                sizeof(segment));
    std::string where = "segment " + std::to_string(i);
    if (segment.p_type == PT_NULL)
      continue;
    if (!rangeFits(segment.p_offset, segment.p_filesz, size))
      return corrupt(where + " lies outside the file");
    if (segment.p_type == PT_LOAD) {
      hasLoad = true;
      if (segment.p_filesz > segment.p_memsz)
        return corrupt(where + " is larger in the file than in memory");
      if (segment.p_vaddr + segment.p_memsz < segment.p_vaddr ||
          segment.p_memsz > (uint64_t(1) << 40))
        return corrupt(where + " has an impossible size");
      if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
        return corrupt(where + " is both writable and executable");
    }
    if (segment.p_type == PT_INTERP)
      return corrupt("it names a program interpreter");
    hasDynamic |= segment.p_type == PT_DYNAMIC;
  }
  if (!hasLoad || !hasDynamic)
    return corrupt("it has no loadable or no dynamic segment");
  if (header.e_shnum) {
    if (header.e_shentsize != sizeof(Elf64_Shdr) ||
        !rangeFits(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), size))
      return corrupt("the section headers lie outside the file");
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, data + header.e_shoff + i * sizeof(section),
                  sizeof(section));
      if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS &&
          !rangeFits(section.sh_offset, section.sh_size, size))
        return corrupt("section " + std::to_string(i) +
                       " lies outside the file");
    }
  }
  return Status::ok();
}

} // namespace tilewright::runtime
