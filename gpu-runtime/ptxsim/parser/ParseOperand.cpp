// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of instructions, and what their names mean in the scopes around.

#include "parser/ParserImpl.h"

namespace tilewright::ptxsim {
namespace {

bool isSpecialRegister(std::string_view name) {
  static constexpr std::string_view names[] = {
      "%tid",           "%ntid",          "%laneid",         "%warpid",        "%nwarpid",
      "%ctaid",         "%nctaid",        "%smid",           "%nsmid",         "%gridid",
      "%lanemask_eq",   "%lanemask_le",   "%lanemask_lt",    "%lanemask_ge",   "%lanemask_gt",
      "%clock",         "%clock_hi",      "%clock64",        "%globaltimer",   "%globaltimer_lo",
      "%globaltimer_hi", "%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size", "%clusterid",
      "%nclusterid",    "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank",
      "%is_explicit_cluster", "%current_graph_exec", "WARP_SZ"};
  for (std::string_view known : names)
    if (known == name)
      return true;
  return name.substr(0, 7) == "%envreg" || name.substr(0, 21) == "%reserved_smem_offset";
}

} // namespace

bool Parser::resolveName(Function &function, std::string_view name, Operand &operand) {
  operand.text = name;
  std::string_view prefix = name;
  while (!prefix.empty() && prefix.back() >= '0' && prefix.back() <= '9')
    prefix.remove_suffix(1);
  for (size_t depth = scopes.size(); depth-- > 0;) {
    NameScope &scope = scopes[depth];
    auto exact = scope.registers.find(name);
    if (exact != scope.registers.end() && !(exact->second & 0x80000000u)) {
      operand.kind = Operand::Register;
      operand.index = exact->second;
      return true;
    }
    std::string_view digits = name.substr(prefix.size());
    // A range may itself end in a digit (`%f1_<3>` does not, `%rd2<9>` does): try every split.
    for (size_t length = name.size() - 1; !digits.empty() && length >= prefix.size() && length > 0; --length) {
      auto range = scope.registers.find(name.substr(0, length));
      if (range == scope.registers.end() || !(range->second & 0x80000000u))
        continue;
      uint64_t number = 0;
      std::string_view rest = name.substr(length);
      if (rest.size() > 9 || (rest.size() > 1 && rest[0] == '0'))
        continue;
      for (char c : rest)
        number = number * 10 + (c - '0');
      uint64_t index = (range->second & 0x7fffffffu) + number;
      if (index < function.registers.size() && function.registers[index].name == name) {
        operand.kind = Operand::Register;
        operand.index = static_cast<uint32_t>(index);
        return true;
      }
    }
    auto variable = scope.variables.find(name);
    if (variable != scope.variables.end()) {
      operand.kind = Operand::Variable;
      operand.index = variable->second;
      return true;
    }
    auto list = scope.targetLists.find(name);
    if (list != scope.targetLists.end()) {
      operand.kind = Operand::Symbol;
      operand.index = list->second;
      return true;
    }
  }
  operand.kind = Operand::Symbol;
  return true;
}

bool Parser::parsePrimary(Function &function, Operand &operand) {
  const Token &token = peek();
  bool negative = false;
  bool complement = false;
  if (takeIf('!')) {
    operand.negated = true;
  } else if (peek().is('-') || peek().is('+')) {
    negative = take().is('-');
  } else if (takeIf('~')) {
    complement = true;
  }
  const Token &value = peek();
  switch (value.kind) {
  case Token::Integer:
    take();
    operand.kind = Operand::Integer;
    operand.value = negative ? 0 - value.value : complement ? ~value.value : value.value;
    return true;
  case Token::Float32:
  case Token::Float64:
    take();
    operand.kind = value.kind == Token::Float32 ? Operand::Float32 : Operand::Float64;
    operand.value = value.value;
    if (negative)
      operand.value ^= value.kind == Token::Float32 ? 0x80000000ull : 0x8000000000000000ull;
    return true;
  case Token::Identifier:
    break;
  default:
    return fail(token.line, "expected an operand before '" + std::string(value.text) + "'");
  }
  if (complement)
    return fail(token.line, "a register operand has no sign");
  operand.minus = negative;
  take();
  if (value.text == "_") {
    operand.kind = Operand::Sink;
    return true;
  }
  if (isSpecialRegister(value.text)) {
    operand.kind = Operand::Special;
    operand.text = value.text;
    if (peek().kind == Token::Directive && peek().glued) {
      const Token &component = take();
      operand.text = std::string_view(value.text.data(), component.text.data() + component.text.size() - value.text.data());
    }
    return true;
  }
  if (peek().kind == Token::Directive && peek().glued)
    operand.selector = take().text;
  if (!resolveName(function, value.text, operand))
    return false;
  if ((operand.minus || !operand.selector.empty()) && operand.kind != Operand::Register)
    return fail(token.line, "'" + std::string(value.text) + "' has no sign and no selector");
  // `symbol+8` as an operand of mov
  if ((operand.kind == Operand::Symbol || operand.kind == Operand::Variable) && (peek().is('+') || peek().is('-'))) {
    bool minus = take().is('-');
    int64_t addend = 0;
    if (!parseConstant(addend))
      return false;
    operand.offset = minus ? -addend : addend;
  }
  return true;
}

bool Parser::parseAddress(Function &function, Operand &operand) {
  operand.kind = Operand::Address;
  while (!peek().is(']')) {
    if (peek().kind == Token::End)
      return failHere("address without end");
    if (takeIf('+') || takeIf(','))
      continue;
    if (takeIf('-')) {
      uint64_t value = 0;
      if (!expectInteger(value))
        return false;
      operand.offset -= static_cast<int64_t>(value);
      continue;
    }
    Operand part;
    if (peek().is('{')) {
      take();
      part.kind = Operand::Vector;
      if (!parseElements(function, part, '}'))
        return false;
      operand.elements.push_back(std::move(part));
      continue;
    }
    if (!parsePrimary(function, part))
      return false;
    if (part.kind == Operand::Integer) {
      operand.offset += static_cast<int64_t>(part.value);
    } else {
      operand.offset += part.offset;
      part.offset = 0;
      operand.elements.push_back(std::move(part));
    }
  }
  return expect(']');
}

bool Parser::parseElements(Function &function, Operand &operand, char close) {
  if (takeIf(close))
    return true;
  do {
    Operand element;
    if (!parsePrimary(function, element))
      return false;
    operand.elements.push_back(std::move(element));
  } while (takeIf(','));
  return expect(close);
}

bool Parser::parseOperand(Function &function, Operand &operand, bool isCall) {
  if (takeIf('['))
    return parseAddress(function, operand);
  if (takeIf('{')) {
    operand.kind = Operand::Vector;
    return parseElements(function, operand, '}');
  }
  if (isCall && takeIf('(')) {
    operand.kind = Operand::List;
    return parseElements(function, operand, ')');
  }
  if (!parsePrimary(function, operand))
    return false;
  if (!takeIf('|'))
    return true;
  Operand first = std::move(operand);
  Operand second;
  if (!parsePrimary(function, second))
    return false;
  operand = {};
  operand.kind = Operand::Pair;
  operand.elements.push_back(std::move(first));
  operand.elements.push_back(std::move(second));
  return true;
}

} // namespace tilewright::ptxsim
