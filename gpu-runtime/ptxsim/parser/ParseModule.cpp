// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Module level: .version, .target, debug sections, linkage of declarations, and function headers.

#include "parser/Parser.h"
#include "parser/ParserImpl.h"

namespace tilewright::ptxsim {

bool Parser::fail(uint32_t line, std::string message) {
  if (error.message.empty())
    error = {line, std::move(message)};
  return false;
}

bool Parser::expect(char punct) {
  if (takeIf(punct))
    return true;
  const Token &token = peek();
  std::string found = token.kind == Token::End ? "end of file" : "'" + std::string(token.text) + "'";
  return failHere(std::string("expected '") + punct + "' before " + found);
}

bool Parser::expectIdentifier(std::string_view &name) {
  if (peek().kind != Token::Identifier)
    return failHere("expected a name");
  name = take().text;
  return true;
}

bool Parser::expectInteger(uint64_t &value) {
  if (peek().kind != Token::Integer)
    return failHere("expected an integer");
  value = take().value;
  return true;
}

bool Parser::parse() {
  if (!parseHeader())
    return false;
  // What a version to come means is not ours to read; whoever loads the module says so.
  if (module.version > newestPtx)
    return true;
  while (peek().kind != Token::End)
    if (!parseTopLevel())
      return false;
  return true;
}

bool Parser::parseHeader() {
  if (!peek().isDirective("version"))
    return failHere("a PTX module begins with .version");
  take();
  const Token &number = take();
  if (number.kind != Token::Float64 && number.kind != Token::Integer)
    return fail(number.line, "malformed .version");
  std::string text(number.text);
  size_t dot = text.find('.');
  unsigned major = static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
  unsigned minor = dot == std::string::npos ? 0 : static_cast<unsigned>(std::strtoul(text.c_str() + dot + 1, nullptr, 10));
  module.version = major * 10 + minor;
  if (major < 3 || major > 99 || minor > 9)
    return fail(number.line, "PTX version " + text + " is not supported (3.0 and later are)");
  return true;
}

bool Parser::parseTarget() {
  do {
    std::string_view name;
    if (!expectIdentifier(name))
      return false;
    if (name.substr(0, 3) != "sm_") {
      if (name == "debug" || name == "texmode_unified" || name == "texmode_independent" || name == "map_f64_to_f32")
        continue;
      return failHere("unknown target '" + std::string(name) + "'");
    }
    std::string digits(name.substr(3));
    char *end = nullptr;
    module.target = static_cast<unsigned>(std::strtoul(digits.c_str(), &end, 10));
    module.targetSuffix = *end;
    if (module.target < 20 || (*end != 0 && (end[1] != 0 || (*end != 'a' && *end != 'f'))))
      return failHere("unknown target '" + std::string(name) + "'");
  } while (takeIf(','));
  return true;
}

bool Parser::parseFile() {
  uint64_t index = 0;
  if (!expectInteger(index))
    return false;
  if (peek().kind != Token::String)
    return failHere("expected a file name in quotes");
  module.files[static_cast<uint32_t>(index)] = std::string(take().text);
  while (takeIf(',')) {
    uint64_t ignored = 0;
    if (!expectInteger(ignored))
      return false;
  }
  return true;
}

bool Parser::skipSection() {
  // .section .debug_info { ... }: the line information we use comes from .loc, the rest is for debuggers.
  take();
  if (!expect('{'))
    return false;
  unsigned depth = 1;
  while (depth != 0) {
    const Token &token = take();
    if (token.kind == Token::End)
      return fail(token.line, "section without end");
    depth += token.is('{');
    depth -= token.is('}');
  }
  return true;
}

bool Parser::parseAlias() {
  std::string_view alias, aliasee;
  if (!expectIdentifier(alias) || !expect(',') || !expectIdentifier(aliasee) || !expect(';'))
    return false;
  module.aliases[std::string(alias)] = std::string(aliasee);
  return true;
}

bool Parser::parseTopLevel() {
  const Token &token = peek();
  if (token.is(';')) {
    take();
    return true;
  }
  if (token.kind != Token::Directive)
    return failHere("expected a directive, found '" + std::string(token.text) + "'");
  if (token.text == "target") {
    take();
    return parseTarget();
  }
  if (token.text == "address_size") {
    take();
    uint64_t bits = 0;
    if (!expectInteger(bits))
      return false;
    if (bits != 64)
      return failHere("only .address_size 64 is supported");
    return true;
  }
  if (token.text == "file") {
    take();
    return parseFile();
  }
  if (token.text == "section") {
    take();
    return skipSection();
  }
  if (token.text == "alias") {
    take();
    return parseAlias();
  }
  if (token.text == "pragma") {
    while (!peek().is(';') && peek().kind != Token::End)
      take();
    return expect(';');
  }
  return parseLinkedDeclaration();
}

bool Parser::parseLinkedDeclaration() {
  Linkage linkage;
  while (true) {
    const Token &token = peek();
    if (token.isDirective("extern"))
      linkage.isExtern = true;
    else if (token.isDirective("visible") || token.isDirective("weak") || token.isDirective("common"))
      linkage.isVisible = true;
    else
      break;
    take();
  }
  const Token &token = peek();
  if (token.isDirective("entry") || token.isDirective("func")) {
    take();
    return parseFunction(token.text == "entry", linkage);
  }
  Space space;
  if (token.isDirective("global"))
    space = Space::Global;
  else if (token.isDirective("const"))
    space = Space::Const;
  else if (token.isDirective("shared"))
    space = Space::Shared;
  else
    return failHere("directive ." + std::string(token.text) + " is not supported here");
  take();
  std::vector<Variable> variables;
  if (!parseVariables(space, linkage, variables))
    return false;
  for (Variable &variable : variables) {
    auto known = module.variableIndex.find(variable.name);
    if (known != module.variableIndex.end()) {
      Variable &previous = module.variables[known->second];
      if (!previous.isExtern && !variable.isExtern)
        return fail(variable.line, "variable '" + variable.name + "' is defined twice");
      if (previous.isExtern)
        previous = std::move(variable);
      continue;
    }
    module.variableIndex[variable.name] = static_cast<uint32_t>(module.variables.size());
    module.variables.push_back(std::move(variable));
  }
  return true;
}

bool Parser::parseParameterList(Function &function, std::vector<uint32_t> &params) {
  if (takeIf(')'))
    return true;
  do {
    if (peek().isDirective("reg"))
      return failHere("parameters in registers (the ABI before sm_20) are not supported");
    if (!peek().isDirective("param"))
      return failHere("expected .param");
    take();
    std::vector<Variable> variables;
    if (!parseVariables(Space::Param, {}, variables))
      return false;
    params.push_back(static_cast<uint32_t>(function.variables.size()));
    function.variables.push_back(std::move(variables.front()));
  } while (takeIf(','));
  return expect(')');
}

bool Parser::parsePerformanceDirectives(Function &function) {
  while (peek().kind == Token::Directive) {
    const Token &token = take();
    uint32_t *triple = nullptr;
    if (token.text == "maxntid")
      triple = function.maxThreads;
    else if (token.text == "reqntid")
      triple = function.requiredThreads;
    else if (token.text == "reqnctapercluster")
      triple = function.requiredCluster;
    if (triple) {
      for (unsigned i = 0; i < 3; ++i)
        triple[i] = 1;
      unsigned index = 0;
      do {
        uint64_t value = 0;
        if (!expectInteger(value))
          return false;
        if (index == 3 || value == 0 || value > 0xffffffffu)
          return fail(token.line, "malformed ." + std::string(token.text));
        triple[index++] = static_cast<uint32_t>(value);
      } while (takeIf(','));
    } else if (token.text == "minnctapersm" || token.text == "maxnreg" || token.text == "maxnctapersm" ||
               token.text == "maxclusterrank") {
      uint64_t value = 0;
      if (!expectInteger(value))
        return false;
      (token.text == "maxnreg"          ? function.maxRegisters
       : token.text == "maxclusterrank" ? function.maxClusterRank
                                        : function.minBlocks) = static_cast<uint32_t>(value);
    } else if (token.text == "noreturn" || token.text == "abi_preserve" || token.text == "abi_preserve_control") {
      if (token.text != "noreturn" && peek().kind == Token::Integer)
        take();
    } else if (token.text == "pragma") {
      while (!peek().is(';') && peek().kind != Token::End)
        take();
      if (!expect(';'))
        return false;
    } else if (token.text == "explicitcluster") {
      function.explicitCluster = true;
    } else {
      return fail(token.line, "directive ." + std::string(token.text) + " is not supported on a function");
    }
  }
  return true;
}

bool Parser::parseFunction(bool isEntry, const Linkage &linkage) {
  auto function = std::make_unique<Function>();
  function->isEntry = isEntry;
  function->isExtern = linkage.isExtern;
  function->isVisible = linkage.isVisible;
  function->line = peek().line;
  if (!isEntry && takeIf('(') && !parseParameterList(*function, function->returns))
    return false;
  std::string_view name;
  if (!expectIdentifier(name))
    return false;
  function->name = std::string(name);
  if (takeIf('(') && !parseParameterList(*function, function->params))
    return false;
  if (!parsePerformanceDirectives(*function))
    return false;
  if (!takeIf(';')) {
    function->hasBody = true;
    if (!parseBody(*function))
      return false;
  }
  auto known = module.functionIndex.find(function->name);
  if (known == module.functionIndex.end()) {
    module.functionIndex[function->name] = static_cast<uint32_t>(module.functions.size());
    module.functions.push_back(std::move(function));
    return true;
  }
  std::unique_ptr<Function> &previous = module.functions[known->second];
  if (previous->hasBody && function->hasBody)
    return fail(function->line, "function '" + function->name + "' is defined twice");
  if (function->hasBody)
    previous = std::move(function);
  return true;
}

const Function *Module::findFunction(std::string_view name) const {
  auto alias = aliases.find(name);
  auto found = functionIndex.find(alias == aliases.end() ? name : std::string_view(alias->second));
  return found == functionIndex.end() ? nullptr : functions[found->second].get();
}

std::string Instruction::name() const {
  std::string text(root);
  for (std::string_view modifier : modifiers)
    text.append(".").append(modifier);
  return text;
}

std::unique_ptr<Module> parseModule(std::string source, Diagnostic &error) {
  error = {};
  auto module = std::make_unique<Module>();
  module->source = std::move(source);
  std::vector<Token> tokens;
  if (!lex(module->source, tokens, error))
    return nullptr;
  if (!Parser(*module, tokens, error).parse())
    return nullptr;
  if (module->target == 0 && module->version <= newestPtx) {
    error = {1, "the module has no .target"};
    return nullptr;
  }
  return module;
}

} // namespace tilewright::ptxsim
