// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads ELF with every access checked; see host_elf.h.

#include "host_elf.h"

#include "core/checked.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>
#include <optional>

namespace tilewright::inspect {

using runtime::rangeFits;
using runtime::Status;

namespace {

/// More entries than any host program has; tables beyond are refused.
constexpr uint64_t kMaxEntries = 1 << 20;

class Reader {
public:
  Reader(const uint8_t *data, size_t size, HostElf &result)
      : data(data), size(size), result(result) {}

  Status run() {
    if (Status s = readHeaders())
      return s;
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type == SHT_DYNSYM)
        if (Status s = readSymbols(section))
          return s;
      if (section.sh_type == SHT_DYNAMIC)
        if (Status s = readNeeded(section))
          return s;
      if (section.sh_type == SHT_RELA)
        if (Status s = readRelocations(section))
          return s;
    }
    findExportTable();
    boundCode();
    return Status::ok();
  }

private:
  static Status corrupt(const std::string &what) {
    return runtime::corruptArtifact("host program: " + what);
  }
  template <typename T> bool load(uint64_t offset, T &value) const {
    if (!rangeFits(offset, sizeof(T), size))
      return false;
    std::memcpy(&value, data + offset, sizeof(T));
    return true;
  }
  // NUL-terminated text at a file offset.
  std::optional<std::string> text(uint64_t offset) const {
    if (offset >= size)
      return std::nullopt;
    size_t length = strnlen(reinterpret_cast<const char *>(data) + offset,
                            size - offset);
    if (offset + length == size || length > 4096)
      return std::nullopt;
    return std::string(reinterpret_cast<const char *>(data) + offset, length);
  }
  std::optional<uint64_t> offsetOf(uint64_t address) const {
    for (const Elf64_Phdr &segment : segments)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    return std::nullopt;
  }
  // Entries of a section; an error if they do not lie in the file.
  template <typename T>
  Status entries(const Elf64_Shdr &section, std::vector<T> &list) const {
    if (!rangeFits(section.sh_offset, section.sh_size, size) ||
        section.sh_size / sizeof(T) > kMaxEntries)
      return corrupt("a table lies outside the file");
    list.resize(section.sh_size / sizeof(T));
    std::memcpy(list.data(), data + section.sh_offset, list.size() * sizeof(T));
    return Status::ok();
  }

  Status readHeaders() {
    if (!load(0, header) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
      return corrupt("not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
      return corrupt("expected 64-bit little-endian ELF");
    result.machine = header.e_machine == EM_X86_64    ? "x86-64"
                     : header.e_machine == EM_AARCH64 ? "AArch64"
                     : header.e_machine == EM_RISCV
                         ? "RISC-V"
                         : "machine " + std::to_string(header.e_machine);
    segments.resize(header.e_phnum);
    for (size_t i = 0; i < segments.size(); ++i)
      if (!load(header.e_phoff + i * sizeof(Elf64_Phdr), segments[i]))
        return corrupt("the program headers lie outside the file");
    sections.resize(header.e_shnum);
    for (size_t i = 0; i < sections.size(); ++i)
      if (!load(header.e_shoff + i * sizeof(Elf64_Shdr), sections[i]))
        return corrupt("the section headers lie outside the file");
    return Status::ok();
  }

  // Text number `index` of the string table that `section` is linked to.
  std::optional<std::string> linkedText(const Elf64_Shdr &section,
                                        uint64_t index) const {
    if (section.sh_link >= sections.size() ||
        index >= sections[section.sh_link].sh_size)
      return std::nullopt;
    return text(sections[section.sh_link].sh_offset + index);
  }

  Status readSymbols(const Elf64_Shdr &section) {
    std::vector<Elf64_Sym> symbols;
    if (Status s = entries(section, symbols))
      return s;
    for (size_t i = 1; i < symbols.size(); ++i) {
      std::optional<std::string> name = linkedText(section, symbols[i].st_name);
      if (!name)
        return corrupt("the name of symbol " + std::to_string(i) +
                       " lies outside the file");
      bool undefined = symbols[i].st_shndx == SHN_UNDEF;
      (undefined ? result.imports : result.exports).push_back(*name);
      if (!undefined)
        starts.push_back(symbols[i].st_value);
    }
    return Status::ok();
  }

  Status readNeeded(const Elf64_Shdr &section) {
    std::vector<Elf64_Dyn> list;
    if (Status s = entries(section, list))
      return s;
    for (const Elf64_Dyn &entry : list) {
      if (entry.d_tag == DT_NULL)
        break;
      if (entry.d_tag != DT_NEEDED)
        continue;
      std::optional<std::string> name = linkedText(section, entry.d_un.d_val);
      if (!name)
        return corrupt("the name of a needed library lies outside the file");
      result.needed.push_back(*name);
    }
    return Status::ok();
  }

  Status readRelocations(const Elf64_Shdr &section) {
    std::vector<Elf64_Rela> list;
    if (Status s = entries(section, list))
      return s;
    uint32_t relative = header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE
                        : header.e_machine == EM_RISCV ? R_RISCV_RELATIVE
                                                       : R_X86_64_RELATIVE;
    for (const Elf64_Rela &entry : list)
      if (ELF64_R_TYPE(entry.r_info) == relative)
        pointers[entry.r_offset] = entry.r_addend;
    return Status::ok();
  }

  // `count` pairs of name and address at `address`.
  std::optional<std::vector<NamedCode>> named(uint64_t address,
                                              uint32_t count) const {
    std::vector<NamedCode> list;
    for (uint32_t i = 0; i < count; ++i, address += 16) {
      auto name = pointers.find(address), code = pointers.find(address + 8);
      if (name == pointers.end() || code == pointers.end())
        return std::nullopt;
      std::optional<uint64_t> offset = offsetOf(name->second);
      std::optional<std::string> read = offset ? text(*offset) : std::nullopt;
      if (!read || read->empty() || !offsetOf(code->second))
        return std::nullopt;
      list.push_back({*read, code->second, 0});
    }
    return list;
  }

  void findExportTable() {
    for (const auto &[address, target] : pointers) {
      auto second = pointers.find(address + 8);
      std::optional<uint64_t> offset = offsetOf(address - 16);
      uint32_t head[4];
      if (address < 16 || second == pointers.end() || !offset ||
          !load(*offset, head) || head[0] == 0 || head[0] > 1000 ||
          head[1] + uint64_t(head[2]) == 0 || head[1] > kMaxEntries ||
          head[2] > kMaxEntries || head[3] != 0)
        continue;
      auto functions = named(target, head[1]);
      auto kernels = named(second->second, head[2]);
      if (!functions || !kernels)
        continue;
      result.interfaceVersion = head[0];
      result.functions = std::move(*functions);
      result.kernels = std::move(*kernels);
      return;
    }
  }

  // Code ends where the next named code begins, or the section ends: what lies
  // between are the functions that only it calls.
  void boundCode() {
    for (const auto *list : {&result.functions, &result.kernels})
      for (const NamedCode &code : *list)
        starts.push_back(code.begin);
    for (auto *list : {&result.functions, &result.kernels})
      for (NamedCode &code : *list) {
        code.end = UINT64_MAX;
        for (const Elf64_Shdr &section : sections)
          if (code.begin >= section.sh_addr && section.sh_flags & SHF_EXECINSTR &&
              code.begin - section.sh_addr < section.sh_size)
            code.end = section.sh_addr + section.sh_size;
        for (uint64_t start : starts)
          if (start > code.begin)
            code.end = std::min(code.end, start);
        if (code.end == UINT64_MAX)
          code.end = code.begin;
      }
  }

  const uint8_t *data;
  size_t size;
  HostElf &result;
  Elf64_Ehdr header;
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;
  std::map<uint64_t, uint64_t> pointers; // where ─▶ to what
  std::vector<uint64_t> starts;
};

} // namespace

Status readHostElf(const uint8_t *data, size_t size, HostElf &result) {
  HostElf read;
  if (Status s = Reader(data, size, read).run())
    return s;
  result = std::move(read);
  return Status::ok();
}

} // namespace tilewright::inspect
