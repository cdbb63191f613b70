// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modifiers and operands of one instruction.

#include "decode/InstDecoder.h"
#include "arithmetic/Half.h"
#include "decode/Decoder.h"
#include "isa/Special.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilewright::ptxsim {

InstDecoder::InstDecoder(Decoder &decoder, const Function &function, FunctionCode &code, const Instruction &syntax,
                         Inst &inst)
    : syntax(syntax), inst(inst), decoder(decoder), function(function), code(code), left(syntax.modifiers) {}

bool InstDecoder::take(std::string_view modifier) {
  auto found = std::find(left.begin(), left.end(), modifier);
  if (found == left.end())
    return false;
  left.erase(found);
  return true;
}

bool InstDecoder::hasModifier(std::string_view modifier) const {
  return std::find(left.begin(), left.end(), modifier) != left.end();
}

std::string_view InstDecoder::takePrefix(std::string_view prefix) {
  for (auto it = left.begin(); it != left.end(); ++it)
    if (it->substr(0, prefix.size()) == prefix) {
      std::string_view result = *it;
      left.erase(it);
      return result;
    }
  return {};
}

ScalarType InstDecoder::takeType() {
  for (auto it = left.begin(); it != left.end(); ++it) {
    ScalarType type = parseType(*it);
    if (type == ScalarType::None)
      continue;
    left.erase(it);
    return type;
  }
  return ScalarType::None;
}

bool InstDecoder::takeRounding() {
  static constexpr struct {
    std::string_view name;
    Rounding mode;
  } modes[] = {{"rn", Rounding::Nearest}, {"rz", Rounding::Zero},  {"rm", Rounding::Down},
               {"rp", Rounding::Up},      {"rna", Rounding::NearestAway}};
  for (const auto &mode : modes)
    if (take(mode.name)) {
      inst.rounding = mode.mode;
      return true;
    }
  return false;
}

unsigned InstDecoder::takeVector() {
  if (take("v2"))
    return 2;
  if (take("v4"))
    return 4;
  if (take("v8"))
    return 8;
  return 1;
}

bool InstDecoder::fail(const std::string &message) {
  return decoder.fail(syntax.line, "'" + syntax.name() + "': " + message);
}

bool InstDecoder::needs(unsigned ptxVersion, unsigned computeCapability) {
  if (decoder.module.version < ptxVersion)
    return fail("this form needs PTX " + std::to_string(ptxVersion / 10) + "." + std::to_string(ptxVersion % 10) +
                ", the module says " + std::to_string(decoder.module.version / 10) + "." +
                std::to_string(decoder.module.version % 10));
  if (decoder.module.target < computeCapability)
    return fail("this form needs sm_" + std::to_string(computeCapability) + ", the module is for sm_" +
                std::to_string(decoder.module.target));
  return true;
}

bool InstDecoder::finish() {
  if (left.empty())
    return true;
  return fail("modifier ." + std::string(left.front()) + " is not supported");
}

bool InstDecoder::expectOperands(size_t least, size_t most) {
  if (operandCount() >= least && operandCount() <= most)
    return true;
  return fail("expected " + std::to_string(least) + (most != least ? " to " + std::to_string(most) : "") +
              " operands, found " + std::to_string(operandCount()));
}

unsigned InstDecoder::registerBits(const Operand &operand) const {
  return operand.kind == Operand::Register ? bitWidth(function.registers[operand.index].type) : 0;
}

bool InstDecoder::addSource(Row row) {
  if (inst.numSrc == std::size(inst.src))
    return fail("too many operands");
  inst.src[inst.numSrc++] = row;
  return true;
}

void InstDecoder::constant(uint64_t value) { addSource(decoder.constantRow(value)); }

bool InstDecoder::literal(const Operand &operand, ScalarType type, uint64_t &bits) {
  switch (operand.kind) {
  case Operand::Integer:
    bits = operand.value & lowBits(bitWidth(type));
    return true;
  case Operand::Float32:
  case Operand::Float64: {
    double value;
    if (operand.kind == Operand::Float32) {
      float narrow;
      uint32_t raw = static_cast<uint32_t>(operand.value);
      std::memcpy(&narrow, &raw, 4);
      if (bitWidth(type) == 32) {
        bits = raw;
        return true;
      }
      value = narrow;
    } else {
      std::memcpy(&value, &operand.value, 8);
    }
    if (bitWidth(type) == 64) {
      bits = operand.value;
      if (operand.kind == Operand::Float32)
        std::memcpy(&bits, &value, 8);
      return true;
    }
    if (bitWidth(type) == 32) {
      float narrow = static_cast<float>(value);
      uint32_t raw;
      std::memcpy(&raw, &narrow, 4);
      bits = raw;
      return true;
    }
    return fail("a floating-point literal needs a 32- or 64-bit type");
  }
  default:
    return fail("operand is not supported here");
  }
}

bool InstDecoder::isWhole(const Operand &operand) {
  if (selectors || (!operand.minus && operand.selector.empty()))
    return true;
  return fail(operand.minus ? "a register operand has no sign here"
                            : "operand selector ." + std::string(operand.selector) + " is not supported here");
}

bool InstDecoder::registerSource(const Operand &operand, ScalarType type) {
  if (!isWhole(operand))
    return false;
  ScalarType registerType = function.registers[operand.index].type;
  if ((registerType == ScalarType::Pred) != (type == ScalarType::Pred))
    return fail("register " + std::string(operand.text) + " has type ." + std::string(spelling(registerType)));
  if (bitWidth(registerType) < bitWidth(type) || registerType == ScalarType::B128)
    return fail(registerType == ScalarType::B128
                    ? "register " + std::string(operand.text) + " has type .b128"
                    : "register " + std::string(operand.text) + " is narrower than ." + std::string(spelling(type)));
  if (operand.negated && type != ScalarType::Pred)
    return fail("only predicates can be negated");
  return addSource(operand.index + 1);
}

bool InstDecoder::specialSource(const Operand &operand) {
  Special special = parseSpecial(operand.text);
  if (operand.text.substr(0, 7) == "%envreg" || operand.text.substr(0, 21) == "%reserved_smem_offset") {
    constant(0);
    return true;
  }
  if (operand.text.find("cluster") != std::string_view::npos && !needs(78, 90))
    return false;
  if (special == Special::Count)
    return fail("special register " + std::string(operand.text) + " is not supported here");
  decoder.program.usedSpecials.set(static_cast<size_t>(special));
  return addSource(specialBank | static_cast<Row>(special));
}

bool InstDecoder::variableSource(const Operand &operand) {
  const Variable &variable = function.variables[operand.index];
  if (variable.space == Space::Shared && variable.isUnsizedArray)
    return addSource(decoder.dynamicSharedRow(operand.offset));
  if (variable.space == Space::Global || variable.space == Space::Const) {
    uint64_t value;
    Space space;
    if (!decoder.symbolValue(variable.relocations.front().symbol, syntax.line, value, space))
      return false;
    constant(value + operand.offset);
    return true;
  }
  uint64_t offset;
  if (decoder.onStack(function, operand.index, offset)) {
    inst.frameLocal = true;
    constant(offset + operand.offset);
    return true;
  }
  if (variable.space == Space::Param && !function.isEntry)
    return fail("'" + variable.name + "' has no address");
  if (!decoder.variableOffset(function, operand.index, offset))
    return false;
  // Local offsets are relative to the frame, whose place depends on the depth of the call.
  if (variable.space == Space::Local)
    inst.frameLocal = true;
  if (variable.space == Space::Shared)
    return addSource(decoder.sharedRow(offset + operand.offset));
  constant(offset + operand.offset);
  return true;
}

bool InstDecoder::symbolSource(const Operand &operand) {
  if (decoder.isDynamicShared(operand.text))
    return addSource(decoder.dynamicSharedRow(operand.offset));
  uint64_t value;
  Space space;
  if (!decoder.symbolValue(operand.text, syntax.line, value, space))
    return false;
  if (space == Space::Shared)
    return addSource(decoder.sharedRow(value + operand.offset));
  constant(value + operand.offset);
  return true;
}

bool InstDecoder::source(const Operand &operand, ScalarType type) {
  switch (operand.kind) {
  case Operand::Register:
    return registerSource(operand, type);
  case Operand::Special:
    return specialSource(operand);
  case Operand::Variable:
    return variableSource(operand);
  case Operand::Symbol:
    return symbolSource(operand);
  case Operand::Label:
    return fail("the address of a label is not supported");
  case Operand::Sink:
    return fail("'_' cannot be read");
  default:
    break;
  }
  uint64_t bits;
  if (!literal(operand, type, bits))
    return false;
  constant(bits);
  return true;
}

bool InstDecoder::source(size_t index, ScalarType type) {
  if (index >= operandCount())
    return fail("operand " + std::to_string(index + 1) + " is missing");
  return source(operand(index), type);
}

bool InstDecoder::sourceRow(const Operand &operand, ScalarType type, std::vector<Row> &rows) {
  Row first = inst.src[0];
  uint8_t count = std::exchange(inst.numSrc, uint8_t(0));
  bool ok = source(operand, type);
  rows.push_back(inst.src[0]);
  inst.src[0] = first;
  inst.numSrc = count;
  return ok;
}

bool InstDecoder::destinationRow(const Operand &operand, ScalarType type, std::vector<Row> &rows) {
  Row first = inst.dst[0];
  uint8_t count = std::exchange(inst.numDst, uint8_t(0));
  bool ok = destination(operand, type);
  rows.push_back(inst.dst[0]);
  inst.dst[0] = first;
  inst.numDst = count;
  return ok;
}

bool InstDecoder::predicate(size_t index) { return source(index, ScalarType::Pred); }

bool InstDecoder::destination(const Operand &operand, ScalarType type) {
  if (inst.numDst == std::size(inst.dst))
    return fail("too many results");
  if (operand.kind == Operand::Sink) {
    inst.dst[inst.numDst++] = sinkRow;
    return true;
  }
  if (operand.kind != Operand::Register)
    return fail("the result must be a register");
  if (!isWhole(operand))
    return false;
  ScalarType registerType = function.registers[operand.index].type;
  if ((registerType == ScalarType::Pred) != (type == ScalarType::Pred) || bitWidth(registerType) < bitWidth(type) ||
      registerType == ScalarType::B128)
    return fail("register " + std::string(operand.text) + " cannot hold ." + std::string(spelling(type)));
  inst.dstBits = static_cast<uint8_t>(std::min(64u, bitWidth(registerType)));
  inst.dst[inst.numDst++] = operand.index + 1;
  return true;
}

bool InstDecoder::destination(size_t index, ScalarType type) {
  if (index >= operandCount())
    return fail("the result is missing");
  return destination(operand(index), type);
}

bool InstDecoder::wideSource(const Operand &operand) {
  if (operand.kind != Operand::Register || function.registers[operand.index].type != ScalarType::B128)
    return fail("expected a register of .b128");
  return addSource(operand.index + 1) && addSource(decoder.highRow(function, operand.index));
}

bool InstDecoder::wideDestination(const Operand &operand) {
  if (operand.kind != Operand::Register || function.registers[operand.index].type != ScalarType::B128)
    return fail("expected a register of .b128");
  if (inst.numDst + 2u > std::size(inst.dst))
    return fail("too many results");
  inst.dst[inst.numDst++] = operand.index + 1;
  inst.dst[inst.numDst++] = decoder.highRow(function, operand.index);
  inst.dstBits = 64;
  return true;
}

bool InstDecoder::immediate(size_t index, uint64_t &value) {
  if (index >= operandCount() || operand(index).kind != Operand::Integer)
    return fail("operand " + std::to_string(index + 1) + " must be an integer literal");
  value = operand(index).value;
  return true;
}

bool InstDecoder::address(size_t index) {
  if (index >= operandCount() || operand(index).kind != Operand::Address)
    return fail("operand " + std::to_string(index + 1) + " must be an address");
  const Operand &where = operand(index);
  if (where.elements.size() > 1)
    return unsupported("this form of address");
  if (where.elements.empty()) {
    inst.offset = 0;
    constant(static_cast<uint64_t>(where.offset));
    return true;
  }
  inst.offset = where.offset;
  const Operand &base = where.elements.front();
  if (base.kind == Operand::Variable && function.variables[base.index].space == Space::Param) {
    uint64_t offset;
    inst.frameLocal = decoder.onStack(function, base.index, offset);
    if (!inst.frameLocal && !decoder.variableOffset(function, base.index, offset))
      return false;
    constant(offset);
    return true;
  }
  if (base.kind == Operand::Register && registerBits(base) < 32)
    return fail("an address needs a register of 32 or 64 bits");
  return source(base, base.kind == Operand::Register && registerBits(base) == 32 ? ScalarType::U32 : ScalarType::U64);
}

bool InstDecoder::sources(size_t first, std::initializer_list<ScalarType> types) {
  for (ScalarType type : types)
    if (!source(first++, type))
      return false;
  return true;
}

bool InstDecoder::sameTypeSources(size_t first, size_t count, ScalarType type) {
  for (size_t i = 0; i < count; ++i)
    if (!source(first + i, type))
      return false;
  return true;
}

} // namespace tilewright::ptxsim
