// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout of registers and memory, and the walk over the functions a kernel reaches.

#include "decode/Decoder.h"
#include "arithmetic/FastPaths.h"

#include <algorithm>
#include <set>

namespace tilewright::ptxsim {
namespace {

uint64_t roundUp(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

constexpr uint64_t maxSharedBytes = 1u << 20;
constexpr uint64_t maxLocalBytes = 512u << 10;
constexpr uint64_t maxParamBytes = 32764;

} // namespace

bool checkModuleTarget(const Module &module, unsigned computeCapability, Diagnostic &error) {
  if (module.version > newestPtx) {
    error = {1, "the module is PTX " + std::to_string(module.version / 10) + "." + std::to_string(module.version % 10) +
                    ", newer than the " + std::to_string(newestPtx / 10) + "." + std::to_string(newestPtx % 10) +
                    " of this driver"};
    return false;
  }
  if (module.target > computeCapability) {
    error = {1, "the module is for sm_" + std::to_string(module.target) + ", the device is sm_" +
                    std::to_string(computeCapability)};
    return false;
  }
  // Architecture-specific code ('a') runs only there; family-specific code ('f') runs within its family.
  bool sameFamily = module.target / 10 == computeCapability / 10;
  if ((module.targetSuffix == 'a' && module.target != computeCapability) ||
      (module.targetSuffix == 'f' && !sameFamily)) {
    error = {1, "the module is for sm_" + std::to_string(module.target) + module.targetSuffix + " only"};
    return false;
  }
  return true;
}

uint64_t functionAddress(const Module &module, std::string_view name) {
  const Function *function = module.findFunction(name);
  if (!function)
    return 0;
  return codeAddressBase + 16 * uint64_t(module.functionIndex.find(function->name)->second + 1);
}

bool Decoder::fail(uint32_t line, std::string message) {
  if (error.message.empty())
    error = {line, std::move(message)};
  return false;
}

Row Decoder::newRow(uint64_t value) {
  Row row = constantBank | static_cast<Row>(program.constants.size() / warpSize);
  program.constants.insert(program.constants.end(), warpSize, value);
  return row;
}

Row Decoder::constantRow(uint64_t value) {
  auto [it, isNew] = constantRows.try_emplace(value, 0);
  if (isNew)
    it->second = newRow(value);
  return it->second;
}

Row Decoder::sharedRow(uint64_t address) {
  auto [it, isNew] = sharedRows.try_emplace(address & 0xffffffff, 0);
  if (isNew) {
    it->second = newRow(it->first);
    program.sharedRows.push_back(it->second);
  }
  return it->second;
}

bool Decoder::isDynamicShared(std::string_view name) const {
  auto found = module.variableIndex.find(name);
  if (found == module.variableIndex.end())
    return false;
  const Variable &variable = module.variables[found->second];
  return variable.space == Space::Shared && variable.isUnsizedArray;
}

Row Decoder::dynamicSharedRow(int64_t addend) {
  Row row = newRow(0);
  dynamicRows.emplace_back(row, addend);
  program.sharedRows.push_back(row);
  return row;
}

bool Decoder::placeShared(const Variable &variable, uint64_t &offset) {
  offset = roundUp(sharedEnd, variable.align);
  sharedEnd = offset + variable.size;
  if (sharedEnd > maxSharedBytes)
    return fail(variable.line, "shared variables need too much memory");
  return true;
}

bool Decoder::variableOffset(const Function &function, uint32_t index, uint64_t &offset) {
  offset = layouts[&function].offsets[index];
  return true;
}

bool Decoder::symbolValue(std::string_view name, uint32_t line, uint64_t &value, Space &space) {
  auto found = module.variableIndex.find(name);
  if (found == module.variableIndex.end()) {
    value = functionAddress(module, name);
    space = Space::Generic;
    if (value == 0)
      return fail(line, "unknown name '" + std::string(name) + "'");
    return true;
  }
  const Variable &variable = module.variables[found->second];
  space = variable.space;
  if (variable.space != Space::Shared) {
    value = addresses[found->second];
    if (value == 0)
      return fail(line, "variable '" + variable.name +
                            (variable.isExtern ? "' is not defined in this module" : "' has size 0"));
    return true;
  }
  auto placed = moduleShared.find(name);
  if (placed == moduleShared.end()) {
    uint64_t offset;
    if (!placeShared(variable, offset))
      return false;
    placed = moduleShared.emplace(std::string(name), offset).first;
  }
  value = placed->second;
  return true;
}

uint32_t Decoder::functionIndex(const Function &function) {
  auto [it, isNew] = indexOf.try_emplace(&function, static_cast<uint32_t>(program.functions.size()));
  if (isNew) {
    program.functions.emplace_back();
    program.functions.back().function = &function;
  }
  return it->second;
}

/// Gives each parameter and each variable declared in the body its offset. Call parameters declared in the body share
/// the frame's parameter area with the function's own.
bool Decoder::layOut(const Function &function, FunctionCode &code) {
  std::vector<uint64_t> &offsets = layouts[&function].offsets;
  offsets.assign(function.variables.size(), 0);
  uint64_t paramEnd = 0, localEnd = 0, kernelParamEnd = 0;
  size_t headerVariables = function.params.size() + function.returns.size();
  for (uint32_t i = 0; i < function.variables.size(); ++i) {
    const Variable &variable = function.variables[i];
    switch (variable.space) {
    case Space::Param: {
      bool isKernelParam = function.isEntry && i < headerVariables;
      uint64_t &end = isKernelParam ? kernelParamEnd : paramEnd;
      offsets[i] = roundUp(end, variable.align);
      end = offsets[i] + variable.size;
      break;
    }
    case Space::Local:
      offsets[i] = roundUp(localEnd, variable.align);
      localEnd = offsets[i] + variable.size;
      break;
    case Space::Shared:
      if (variable.isUnsizedArray)
        dynamicAlign = std::max(dynamicAlign, variable.align);
      else if (!placeShared(variable, offsets[i]))
        return false;
      break;
    default:
      break;
    }
    if (paramEnd > maxParamBytes || kernelParamEnd > maxParamBytes || localEnd > maxLocalBytes)
      return fail(variable.line, "'" + variable.name + "' does not fit in ." + std::string(spelling(variable.space)));
  }
  layOutStack(function, code, localEnd);
  if (localEnd > maxLocalBytes)
    return fail(function.line, "the parameters do not fit in .local");
  auto slot = [&](uint32_t index) {
    return ParamSlot{static_cast<uint32_t>(offsets[index]), static_cast<uint32_t>(function.variables[index].size)};
  };
  for (uint32_t index : function.params)
    code.params.push_back(slot(index));
  for (uint32_t index : function.returns)
    code.returns.push_back(slot(index));
  code.paramBytes = static_cast<uint32_t>(roundUp(paramEnd, 16));
  code.localBytes = static_cast<uint32_t>(roundUp(localEnd, 16));
  code.rows = static_cast<uint32_t>(function.registers.size() + 1);
  for (uint32_t i = 0; i < function.registers.size(); ++i)
    if (function.registers[i].type == ScalarType::B128)
      layouts[&function].highRows[i] = code.rows++;
  if (&function == program.kernel) {
    program.paramBytes = static_cast<uint32_t>(kernelParamEnd);
    program.params = code.params;
  }
  return true;
}

/// Parameters of a device function whose address some mov takes.
static std::set<uint32_t> addressedParams(const Function &function) {
  std::set<uint32_t> result;
  size_t headerVariables = function.params.size() + function.returns.size();
  for (const Instruction &instruction : function.body)
    for (const Operand &operand : instruction.operands)
      if (operand.kind == Operand::Variable && operand.index < headerVariables && instruction.root != "call" &&
          function.variables[operand.index].space == Space::Param)
        result.insert(operand.index);
  return result;
}

void Decoder::layOutStack(const Function &function, FunctionCode &code, uint64_t &localEnd) {
  if (function.isEntry)
    return;
  Layout &layout = layouts[&function];
  for (uint32_t index : addressedParams(function)) {
    const Variable &variable = function.variables[index];
    uint64_t offset = roundUp(localEnd, variable.align);
    layout.stack[index] = offset;
    localEnd = offset + variable.size;
    bool isReturn = std::count(function.returns.begin(), function.returns.end(), index) != 0;
    (isReturn ? code.stackReturns : code.stackParams)
        .push_back({static_cast<uint32_t>(layout.offsets[index]), static_cast<uint32_t>(offset),
                    static_cast<uint32_t>(variable.size)});
  }
}

bool Decoder::onStack(const Function &function, uint32_t variable, uint64_t &offset) const {
  auto layout = layouts.find(&function);
  if (layout == layouts.end())
    return false;
  auto found = layout->second.stack.find(variable);
  if (found == layout->second.stack.end())
    return false;
  offset = found->second;
  return true;
}

bool Decoder::decodeInstruction(const Function &function, FunctionCode &code, const Instruction &syntax, Inst &inst) {
  inst.syntax = &syntax;
  inst.line = syntax.line;
  inst.source = syntax.source;
  if (syntax.guard != noIndex) {
    inst.guarded = true;
    inst.guard = syntax.guard + 1;
    inst.guardNegated = syntax.guardNegated;
  }
  const OpcodeInfo *opcode = findOpcode(syntax.root);
  if (!opcode)
    return fail(syntax.line, "instruction '" + syntax.name() + "' is not supported");
  if (module.version < opcode->ptxVersion)
    return fail(syntax.line, "'" + syntax.name() + "' needs PTX " + std::to_string(opcode->ptxVersion / 10) + "." +
                                 std::to_string(opcode->ptxVersion % 10) + ", the module says " +
                                 std::to_string(module.version / 10) + "." + std::to_string(module.version % 10));
  if (module.target < opcode->computeCapability)
    return fail(syntax.line, "'" + syntax.name() + "' needs sm_" + std::to_string(opcode->computeCapability) +
                                 ", the module is for sm_" + std::to_string(module.target));
  InstDecoder decoder(*this, function, code, syntax, inst);
  if (!checkForm(decoder))
    return false;
  if (!opcode->decode(decoder))
    return decoder.fail("this form is not supported");
  if (!decoder.finish())
    return false;
  if (!inst.run && inst.flow == Flow::Next)
    return fail(syntax.line, "'" + syntax.name() + "' is not supported with this type");
  if (inst.flow == Flow::Next && options.fastPaths)
    if (Handler fast = fastHandler(inst))
      inst.run = fast;
  return true;
}

bool Decoder::decodeFunction(uint32_t index) {
  const Function &function = *program.functions[index].function;
  if (!function.hasBody)
    return fail(function.line, "function '" + function.name + "' is called but not defined in this module");
  FunctionCode code = program.functions[index];
  if (!layOut(function, code))
    return false;
  code.entry = static_cast<uint32_t>(program.code.size());
  for (const Instruction &syntax : function.body) {
    Inst inst;
    for (const Operand &operand : syntax.operands)
      if (operand.kind == Operand::Label)
        inst.target = code.entry + static_cast<uint32_t>(operand.value);
    if (!decodeInstruction(function, code, syntax, inst))
      return false;
    program.code.push_back(inst);
  }
  // Falling off the end returns.
  Inst end;
  end.flow = function.isEntry ? Flow::Exit : Flow::Return;
  end.undef = UndefRule::Own;
  end.line = function.body.empty() ? function.line : function.body.back().line;
  program.code.push_back(end);
  code.end = static_cast<uint32_t>(program.code.size());
  for (uint32_t pc = code.entry; pc < code.end; ++pc)
    if (program.code[pc].target != noIndex && program.code[pc].target >= code.end)
      program.code[pc].target = code.end - 1;
  program.functions[index] = code;
  findReconvergence(program, code);
  return true;
}

bool Decoder::addIndirectTargets() {
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const Function &function = *module.functions[i];
    if (!function.isEntry && function.hasBody)
      program.functionOfAddress[i] = functionIndex(function);
  }
  return true;
}

void Decoder::finishShared() {
  uint64_t dynamic = roundUp(sharedEnd, dynamicAlign);
  program.staticShared = static_cast<uint32_t>(sharedEnd - program.sharedBegin);
  program.dynamicSharedOffset = static_cast<uint32_t>(dynamic);
  for (auto &[row, addend] : dynamicRows)
    std::fill_n(program.constants.begin() + uint64_t(row & rowIndexMask) * warpSize, warpSize,
                (dynamic + addend) & 0xffffffffu);
}

bool Decoder::decode(const Function &kernel) {
  program.module = &module;
  program.kernel = &kernel;
  program.sharedBegin = options.computeCapability >= 90 ? 1024 : 0;
  sharedEnd = program.sharedBegin;
  for (const Variable &variable : module.variables)
    if (variable.space == Space::Shared && variable.isUnsizedArray)
      dynamicAlign = std::max(dynamicAlign, variable.align);
  functionIndex(kernel);
  bool addedTargets = false;
  for (uint32_t next = 0; next < program.functions.size(); ++next) {
    if (!decodeFunction(next))
      return false;
    if (indirectCalls && !addedTargets) {
      addedTargets = true;
      if (!addIndirectTargets())
        return false;
    }
  }
  finishShared();
  return true;
}

std::unique_ptr<Program> decodeKernel(const Module &module, const Function &kernel, const VariableAddresses &addresses,
                                      const DecodeOptions &options, Diagnostic &error) {
  error = {};
  auto program = std::make_unique<Program>();
  if (!Decoder(module, addresses, options, *program, error).decode(kernel))
    return nullptr;
  return program;
}

} // namespace tilewright::ptxsim
