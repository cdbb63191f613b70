// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module on a device: parsed, checked against it, its variables placed in device memory, its kernels decoded.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_LOADEDMODULE_H
#define TILEWRIGHT_PTXSIM_MACHINE_LOADEDMODULE_H

#include "decode/Decoder.h"
#include "machine/DeviceMemory.h"
#include "machine/Options.h"
#include "parser/Parser.h"

#include <map>
#include <memory>
#include <string>

namespace tilewright::ptxsim {

class LoadedModule {
public:
  enum class Failure : uint8_t { None, InvalidPtx, TooNew, WrongTarget, OutOfMemory };

  /// Null after an error, described in `error` and classified in `failure`. `memory` must outlive the module.
  static std::unique_ptr<LoadedModule> load(std::string text, DeviceMemory &memory, const MachineOptions &options,
                                            const void *owner, Diagnostic &error, Failure &failure);
  ~LoadedModule();

  const Module &module() const { return *parsed; }
  /// Null when there is no kernel of this name.
  const Program *kernel(std::string_view name) const;
  const std::map<std::string, std::unique_ptr<Program>, std::less<>> &kernels() const { return programs; }
  /// False when there is no such variable in global or constant memory.
  bool variable(std::string_view name, uint64_t &address, uint64_t &size) const;

private:
  LoadedModule(DeviceMemory &memory) : memory(memory) {}
  bool placeVariables(const void *owner);
  bool initialise(const Variable &variable, uint64_t address, Diagnostic &error);

  DeviceMemory &memory;
  std::unique_ptr<Module> parsed;
  VariableAddresses addresses;
  std::map<std::string, std::unique_ptr<Program>, std::less<>> programs;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_LOADEDMODULE_H
