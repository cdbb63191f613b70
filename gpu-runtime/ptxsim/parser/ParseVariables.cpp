// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables: what follows a state space, extents, and initialisers.
//
//   .global .align 16 .b8 table[4] = {1, 2, 3, 4};      .const .u64 to = generic(table)+2;

#include "parser/ParserImpl.h"

#include <cstring>

namespace tilewright::ptxsim {

/// `.param .u64 .ptr .global .align 4 name`: what a kernel parameter points to
bool Parser::skipPointee() {
  if (peek().kind != Token::Directive)
    return true;
  if (peek().text != "align" && parseType(peek().text) == ScalarType::None)
    take();
  if (!peek().isDirective("align"))
    return true;
  take();
  uint64_t align = 0;
  return expectInteger(align);
}

/// After the state space: [.align N] [.attribute(..)] [.v2|.v4] .type name[dims] [= init] {, name...} ;
bool Parser::parseVariables(Space space, const Linkage &linkage, std::vector<Variable> &variables) {
  uint64_t align = 0;
  unsigned vectorSize = 1;
  ScalarType type = ScalarType::None;
  while (peek().kind == Token::Directive) {
    const Token &token = take();
    if (token.text == "align") {
      if (!expectInteger(align))
        return false;
      if (align == 0 || (align & (align - 1)) != 0)
        return fail(token.line, "alignment must be a power of two");
    } else if (token.text == "attribute") {
      if (!expect('('))
        return false;
      while (!peek().is(')') && peek().kind != Token::End)
        take();
      if (!expect(')'))
        return false;
    } else if (token.text == "v2" || token.text == "v4") {
      vectorSize = token.text == "v2" ? 2 : 4;
    } else if (token.text == "ptr" || token.text == "global" || token.text == "shared" || token.text == "const" ||
               token.text == "local") {
      if (token.text == "ptr" && !skipPointee())
        return false;
    } else {
      type = parseType(token.text);
      if (type == ScalarType::None)
        return fail(token.line, "unknown type ." + std::string(token.text));
    }
  }
  if (type == ScalarType::None)
    return failHere("expected a type");
  if (type == ScalarType::Pred)
    return failHere("a variable in memory cannot be a predicate");
  do {
    Variable variable;
    variable.space = space;
    variable.type = type;
    variable.isExtern = linkage.isExtern;
    variable.isVisible = linkage.isVisible;
    variable.align = align != 0 ? align : uint64_t(byteWidth(type)) * vectorSize;
    if (!parseDeclarator(variable, byteWidth(type), vectorSize))
      return false;
    variables.push_back(std::move(variable));
    // A parameter list has commas of its own, each followed by `.param`.
  } while (space != Space::Param && takeIf(','));
  return space == Space::Param && !peek().is(';') ? true : expect(';');
}

bool Parser::parseDeclarator(Variable &variable, unsigned elementBytes, unsigned vectorSize) {
  variable.line = peek().line;
  std::string_view name;
  if (!expectIdentifier(name))
    return false;
  variable.name = std::string(name);
  uint64_t bytes = uint64_t(elementBytes) * vectorSize;
  while (takeIf('[')) {
    if (takeIf(']')) {
      variable.isUnsizedArray = true;
      continue;
    }
    uint64_t extent = 0;
    if (!expectInteger(extent) || !expect(']'))
      return false;
    if (extent != 0 && bytes > (uint64_t(1) << 40) / extent)
      return fail(variable.line, "variable '" + variable.name + "' is too large");
    bytes *= extent;
  }
  variable.size = variable.isUnsizedArray ? 0 : bytes;
  if (!takeIf('='))
    return true;
  if (!parseInitializer(variable, elementBytes))
    return false;
  if (variable.isUnsizedArray)
    variable.size = variable.initial.size();
  if (variable.initial.size() > variable.size)
    return fail(variable.line, "too many initial values for '" + variable.name + "'");
  return true;
}

bool Parser::parseInitializer(Variable &variable, unsigned elementBytes) {
  uint64_t at = 0;
  if (!peek().is('{'))
    return parseInitializerValue(variable, elementBytes, at);
  unsigned depth = 0;
  do {
    if (takeIf('{')) {
      ++depth;
      continue;
    }
    if (takeIf('}')) {
      --depth;
      takeIf(',');
      continue;
    }
    if (!parseInitializerValue(variable, elementBytes, at))
      return false;
    if (!peek().is('}') && !expect(','))
      return false;
  } while (depth != 0);
  return true;
}

/// The bits of a number in an element of so many bytes: a literal of the other width is converted.
static uint64_t floatBits(const Token &token, unsigned elementBytes) {
  uint64_t bits = token.value;
  if (token.kind == Token::Float64 && elementBytes == 4) {
    double wide;
    std::memcpy(&wide, &bits, 8);
    float narrow = static_cast<float>(wide);
    uint32_t raw;
    std::memcpy(&raw, &narrow, 4);
    return raw;
  }
  if (token.kind == Token::Float32 && elementBytes == 8) {
    float narrow;
    uint32_t raw = static_cast<uint32_t>(bits);
    std::memcpy(&narrow, &raw, 4);
    double wide = narrow;
    std::memcpy(&bits, &wide, 8);
  }
  return bits;
}

/// name, name+N, generic(name)+N, and mask(expr): a byte of an address, as NVPTX writes packed structs
bool Parser::parseRelocation(Variable &variable, unsigned elementBytes, uint64_t at) {
  uint32_t line = peek().line;
  Relocation relocation;
  relocation.offset = at;
  relocation.bytes = elementBytes;
  std::string_view name = take().text;
  if ((name == "generic" || name == "mask") && peek().is('(')) {
    take();
    relocation.generic = true;
    if (!expectIdentifier(name) || !expect(')'))
      return false;
  }
  relocation.symbol = std::string(name);
  if (peek().is('+') || peek().is('-')) {
    bool negative = take().is('-');
    int64_t addend = 0;
    if (!parseConstant(addend))
      return false;
    relocation.addend = negative ? -addend : addend;
  }
  if (elementBytes != 8)
    return fail(line, "the address of '" + relocation.symbol + "' needs an 8-byte element");
  variable.relocations.push_back(std::move(relocation));
  return true;
}

bool Parser::parseInitializerValue(Variable &variable, unsigned elementBytes, uint64_t &at) {
  if (variable.initial.size() < at + elementBytes)
    variable.initial.resize(at + elementBytes);
  uint64_t bits = 0;
  const Token &token = peek();
  if (token.kind == Token::Identifier) {
    if (!parseRelocation(variable, elementBytes, at))
      return false;
  } else if (token.kind == Token::Float32 || token.kind == Token::Float64) {
    bits = floatBits(take(), elementBytes);
  } else {
    int64_t value = 0;
    if (!parseConstant(value))
      return false;
    bits = static_cast<uint64_t>(value);
  }
  for (unsigned byte = 0; byte < elementBytes && byte < 8; ++byte)
    variable.initial[at + byte] = static_cast<uint8_t>(bits >> (8 * byte));
  at += elementBytes;
  return true;
}

bool Parser::parseConstant(int64_t &value) {
  bool negative = takeIf('-');
  uint64_t bits = 0;
  if (!expectInteger(bits))
    return false;
  value = static_cast<int64_t>(negative ? 0 - bits : bits);
  return true;
}

} // namespace tilewright::ptxsim
