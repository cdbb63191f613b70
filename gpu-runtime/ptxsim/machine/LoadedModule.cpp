// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading, in this order: parse, check the target, place variables, decode kernels, write initial values.

#include "machine/LoadedModule.h"
#include "decode/Decoder.h"

#include <cstring>

namespace tilewright::ptxsim {

std::unique_ptr<LoadedModule> LoadedModule::load(std::string text, DeviceMemory &memory, const MachineOptions &options,
                                                 const void *owner, Diagnostic &error, Failure &failure) {
  failure = Failure::InvalidPtx;
  std::unique_ptr<LoadedModule> result(new LoadedModule(memory));
  result->parsed = parseModule(std::move(text), error);
  if (!result->parsed)
    return nullptr;
  if (!checkModuleTarget(*result->parsed, options.computeCapability, error)) {
    failure = result->parsed->version > newestPtx ? Failure::TooNew : Failure::WrongTarget;
    return nullptr;
  }
  if (!result->placeVariables(owner)) {
    failure = Failure::OutOfMemory;
    error = {1, "device memory is used up"};
    return nullptr;
  }
  DecodeOptions decodeOptions;
  decodeOptions.computeCapability = options.computeCapability;
  decodeOptions.fastPaths = options.fastPaths;
  for (const auto &function : result->parsed->functions) {
    if (!function->isEntry || !function->hasBody)
      continue;
    auto program = decodeKernel(*result->parsed, *function, result->addresses, decodeOptions, error);
    if (!program)
      return nullptr;
    result->programs[function->name] = std::move(program);
  }
  for (size_t i = 0; i < result->parsed->variables.size(); ++i)
    if (result->addresses[i] != 0 && !result->initialise(result->parsed->variables[i], result->addresses[i], error))
      return nullptr;
  failure = Failure::None;
  return result;
}

LoadedModule::~LoadedModule() {
  for (uint64_t address : addresses)
    if (address != 0)
      memory.release(address);
}

bool LoadedModule::placeVariables(const void *owner) {
  addresses.assign(parsed->variables.size(), 0);
  for (size_t i = 0; i < parsed->variables.size(); ++i) {
    const Variable &variable = parsed->variables[i];
    if (variable.space == Space::Shared || variable.isExtern || variable.size == 0)
      continue;
    Allocation *allocation = memory.allocate(variable.size, variable.align, "variable " + variable.name, owner);
    if (!allocation)
      return false;
    allocation->readOnly = variable.space == Space::Const;
    addresses[i] = allocation->address;
  }
  return true;
}

bool LoadedModule::initialise(const Variable &variable, uint64_t address, Diagnostic &error) {
  uint8_t *bytes = memory.backing(address);
  if (!variable.initial.empty())
    std::memcpy(bytes, variable.initial.data(), variable.initial.size());
  memory.markDefined(address, variable.size);
  for (const Relocation &relocation : variable.relocations) {
    uint64_t value = functionAddress(*parsed, relocation.symbol);
    auto found = parsed->variableIndex.find(relocation.symbol);
    if (found != parsed->variableIndex.end())
      value = addresses[found->second];
    if (value == 0) {
      error = {variable.line, "the initial value of '" + variable.name + "' names '" + relocation.symbol +
                                  "', which has no address"};
      return false;
    }
    value += static_cast<uint64_t>(relocation.addend);
    std::memcpy(bytes + relocation.offset, &value, relocation.bytes);
  }
  return true;
}

const Program *LoadedModule::kernel(std::string_view name) const {
  auto found = programs.find(name);
  return found == programs.end() ? nullptr : found->second.get();
}

bool LoadedModule::variable(std::string_view name, uint64_t &address, uint64_t &size) const {
  auto found = parsed->variableIndex.find(name);
  if (found == parsed->variableIndex.end() || addresses[found->second] == 0)
    return false;
  address = addresses[found->second];
  size = parsed->variables[found->second].size;
  return true;
}

} // namespace tilewright::ptxsim
