// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Function bodies; operands are ParseOperand.cpp's. Each `{ }` opens a scope for registers, variables and labels, so inline assembly that declares the same
// names twice works; a label is visible in its scope and in the scopes inside it.

#include "parser/ParserImpl.h"

namespace tilewright::ptxsim {
namespace {

constexpr unsigned maxScopeDepth = 256;
constexpr size_t maxRegisters = 1u << 22;

} // namespace

bool Parser::parseBody(Function &function) {
  if (!expect('{'))
    return false;
  scopes.clear();
  scopes.emplace_back();
  location = inlined = {};
  for (uint32_t i = 0; i < function.variables.size(); ++i)
    scopes.back().variables[function.variables[i].name] = i;
  while (!scopes.empty())
    if (!parseBlockItem(function))
      return false;
  return true;
}

bool Parser::parseBlockItem(Function &function) {
  const Token &token = peek();
  if (token.kind == Token::End)
    return failHere("function '" + function.name + "' has no end");
  if (takeIf(';'))
    return true;
  if (takeIf('{')) {
    if (scopes.size() >= maxScopeDepth)
      return failHere("blocks are nested too deeply");
    scopes.emplace_back();
    return true;
  }
  if (takeIf('}'))
    return closeScope(function);
  if (token.kind == Token::Identifier && peek(1).is(':')) {
    std::string_view name = take().text;
    take();
    if (peek().isDirective("branchtargets") || peek().isDirective("calltargets"))
      return parseTargetList(function, name);
    if (peek().isDirective("callprototype"))
      return parseCallPrototype();
    if (!scopes.back().labels.emplace(name, static_cast<uint32_t>(function.body.size())).second)
      return fail(token.line, "label '" + std::string(name) + "' is defined twice");
    return true;
  }
  if (token.kind != Token::Directive)
    return parseInstruction(function);
  if (token.text == "reg") {
    take();
    return parseRegisters(function);
  }
  if (token.text == "loc")
    return parseLocation();
  if (token.text == "pragma") {
    while (!peek().is(';') && peek().kind != Token::End)
      take();
    return expect(';');
  }
  Space space;
  if (token.text == "shared")
    space = Space::Shared;
  else if (token.text == "local")
    space = Space::Local;
  else if (token.text == "param")
    space = Space::Param;
  else if (token.text == "global")
    space = Space::Global;
  else if (token.text == "const")
    space = Space::Const;
  else
    return failHere("directive ." + std::string(token.text) + " is not supported in a function");
  take();
  std::vector<Variable> variables;
  if (!parseVariables(space, {}, variables))
    return false;
  for (Variable &variable : variables)
    if (!defineVariable(function, std::move(variable)))
      return false;
  return true;
}

bool Parser::defineVariable(Function &function, Variable variable) {
  uint32_t index = static_cast<uint32_t>(function.variables.size());
  if (variable.space == Space::Global || variable.space == Space::Const) {
    // Local in name, static in life: moved to the module under a name nobody else can write.
    std::string scoped = function.name + "::" + variable.name + "#" + std::to_string(module.variables.size());
    module.variableIndex[scoped] = static_cast<uint32_t>(module.variables.size());
    Variable global = variable;
    global.name = scoped;
    module.variables.push_back(std::move(global));
    variable.initial.clear();
    variable.relocations = {{0, scoped, 0, false, 8}};
  }
  function.variables.push_back(std::move(variable));
  const Variable &stored = function.variables.back();
  if (!scopes.back().variables.emplace(stored.name, index).second)
    return fail(stored.line, "variable '" + stored.name + "' is defined twice");
  return true;
}

bool Parser::parseRegisters(Function &function) {
  ScalarType type = ScalarType::None;
  while (peek().kind == Token::Directive) {
    const Token &token = take();
    if (token.text == "v2" || token.text == "v4")
      return fail(token.line, "vector registers are not supported");
    type = parseType(token.text);
    if (type == ScalarType::None)
      return fail(token.line, "unknown register type ." + std::string(token.text));
  }
  do {
    const Token &token = peek();
    std::string_view name;
    if (!expectIdentifier(name))
      return false;
    uint64_t count = 0;
    bool isRange = takeIf('<');
    if (isRange && (!expectInteger(count) || !expect('>')))
      return false;
    if (function.registers.size() + count > maxRegisters)
      return fail(token.line, "too many registers");
    if (!isRange) {
      if (!scopes.back().registers.emplace(name, static_cast<uint32_t>(function.registers.size())).second)
        return fail(token.line, "register '" + std::string(name) + "' is defined twice");
      function.registers.push_back({std::string(name), type});
      continue;
    }
    // `%r<10>` declares %r0 to %r9; the range is stored under its prefix and resolved by number.
    std::string_view prefix = name;
    if (!scopes.back().registers.emplace(prefix, static_cast<uint32_t>(function.registers.size()) | 0x80000000u).second)
      return fail(token.line, "registers '" + std::string(name) + "' are defined twice");
    for (uint64_t i = 0; i < count; ++i)
      function.registers.push_back({std::string(prefix) + std::to_string(i), type});
  } while (takeIf(','));
  return expect(';');
}

bool Parser::parseLocation() {
  take();
  uint64_t file = 0, line = 0, column = 0;
  if (!expectInteger(file) || !expectInteger(line) || !expectInteger(column))
    return false;
  location = {static_cast<uint32_t>(file), static_cast<uint32_t>(line)};
  inlined = {};
  // , function_name sym [+ N], inlined_at file line column
  while (takeIf(',')) {
    if (peek().text == "inlined_at") {
      take();
      uint64_t outerFile = 0, outerLine = 0, outerColumn = 0;
      if (!expectInteger(outerFile) || !expectInteger(outerLine) || !expectInteger(outerColumn))
        return false;
      inlined = location;
      // The outer place has a .loc of its own in front, which says where that one is inlined.
      auto outermost = inlinedAt.find({outerFile, outerLine, outerColumn});
      location = outermost != inlinedAt.end()
                     ? outermost->second
                     : SourceLocation{static_cast<uint32_t>(outerFile), static_cast<uint32_t>(outerLine)};
      inlinedAt[{file, line, column}] = location;
      continue;
    }
    while (peek().kind == Token::Identifier || peek().kind == Token::Integer || peek().is('+')) {
      if (peek().kind == Token::Identifier && peek(1).is(':'))
        break;
      bool isKeyword = peek().text == "function_name";
      bool isSymbol = peek().kind == Token::Identifier && !isKeyword;
      if (isSymbol && tokens[position - 1].text != "function_name")
        break;
      take();
    }
  }
  return true;
}

bool Parser::parseTargetList(Function &function, std::string_view name) {
  bool isBranch = take().text == "branchtargets";
  TargetList list;
  list.name = name;
  do {
    std::string_view target;
    if (!expectIdentifier(target))
      return false;
    list.symbols.push_back(target);
  } while (takeIf(','));
  if (isBranch)
    list.labels.assign(list.symbols.size(), noIndex);
  scopes.back().targetLists[name] = static_cast<uint32_t>(function.targetLists.size());
  function.targetLists.push_back(std::move(list));
  return expect(';');
}

bool Parser::parseCallPrototype() {
  // The callee's own header says the same; an indirect call is checked against that when it happens.
  while (!peek().is(';') && peek().kind != Token::End)
    take();
  return expect(';');
}

bool Parser::parseInstruction(Function &function) {
  Instruction instruction;
  instruction.line = peek().line;
  instruction.source = location;
  instruction.inlined = inlined;
  if (takeIf('@')) {
    instruction.guardNegated = takeIf('!');
    std::string_view name;
    Operand guard;
    if (!expectIdentifier(name) || !resolveName(function, name, guard))
      return false;
    if (guard.kind != Operand::Register || function.registers[guard.index].type != ScalarType::Pred)
      return failHere("guard '" + std::string(name) + "' is not a predicate register");
    instruction.guard = guard.index;
  }
  instruction.line = peek().line;
  if (!expectIdentifier(instruction.root))
    return false;
  while (peek().kind == Token::Directive)
    instruction.modifiers.push_back(take().text);
  bool isCall = instruction.root == "call";
  if (!peek().is(';')) {
    do {
      Operand operand;
      if (!parseOperand(function, operand, isCall))
        return false;
      instruction.operands.push_back(std::move(operand));
    } while (takeIf(','));
  }
  if (!expect(';'))
    return false;
  scopes.back().unresolved.push_back(static_cast<uint32_t>(function.body.size()));
  function.body.push_back(std::move(instruction));
  return true;
}

void Parser::resolveLabels(Function &function, Operand &operand, bool &pending) {
  for (Operand &element : operand.elements)
    resolveLabels(function, element, pending);
  if (operand.kind != Operand::Symbol || operand.index != noIndex)
    return;
  auto label = scopes.back().labels.find(operand.text);
  if (label == scopes.back().labels.end()) {
    pending = true;
    return;
  }
  operand.kind = Operand::Label;
  operand.value = label->second;
}

bool Parser::closeScope(Function &function) {
  NameScope &scope = scopes.back();
  for (auto &[name, listIndex] : scope.targetLists) {
    TargetList &list = function.targetLists[listIndex];
    for (size_t i = 0; i < list.labels.size(); ++i) {
      auto label = scope.labels.find(list.symbols[i]);
      if (label == scope.labels.end())
        return failHere("label '" + std::string(list.symbols[i]) + "' of a branch target list is not in its scope");
      list.labels[i] = label->second;
    }
  }
  std::vector<uint32_t> stillPending;
  for (uint32_t index : scope.unresolved) {
    bool pending = false;
    for (Operand &operand : function.body[index].operands)
      resolveLabels(function, operand, pending);
    if (pending)
      stillPending.push_back(index);
  }
  scopes.pop_back();
  if (!scopes.empty()) {
    std::vector<uint32_t> &outer = scopes.back().unresolved;
    outer.insert(outer.end(), stillPending.begin(), stillPending.end());
  }
  return true;
}

} // namespace tilewright::ptxsim
