// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recursive-descent parser of ParseModule.cpp (directives and function headers), ParseVariables.cpp
// (declarations) and ParseFunction.cpp (bodies).
// Every parse method returns false after recording the first error.

#ifndef TILEWRIGHT_PTXSIM_PARSER_PARSERIMPL_H
#define TILEWRIGHT_PTXSIM_PARSER_PARSERIMPL_H

#include "parser/Ast.h"
#include "parser/Lexer.h"

#include <array>
#include <map>
#include <unordered_map>

namespace tilewright::ptxsim {

class Parser {
public:
  Parser(Module &module, const std::vector<Token> &tokens, Diagnostic &error)
      : module(module), tokens(tokens), error(error) {}

  bool parse();

private:
  /// One `{ }` block: its names, and branches to labels not seen yet.
  struct NameScope {
    std::unordered_map<std::string_view, uint32_t> registers;
    std::unordered_map<std::string_view, uint32_t> variables;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, uint32_t> targetLists;
    /// Instructions whose operands may name labels of this scope or an outer one.
    std::vector<uint32_t> unresolved;
  };
  struct Linkage {
    bool isExtern = false;
    bool isVisible = false;
  };

  // Tokens.
  const Token &peek(unsigned ahead = 0) const {
    return tokens[position + ahead < tokens.size() ? position + ahead : tokens.size() - 1];
  }
  const Token &take() {
    const Token &token = peek();
    if (position + 1 < tokens.size())
      ++position;
    return token;
  }
  bool takeIf(char punct) {
    if (!peek().is(punct))
      return false;
    take();
    return true;
  }
  bool expect(char punct);
  bool expectIdentifier(std::string_view &name);
  bool expectInteger(uint64_t &value);
  bool fail(uint32_t line, std::string message);
  bool failHere(std::string message) { return fail(peek().line, std::move(message)); }

  // ParseModule.cpp
  bool parseHeader();
  bool parseTopLevel();
  bool parseTarget();
  bool parseFile();
  bool skipSection();
  bool parseAlias();
  bool parseLinkedDeclaration();
  bool parseFunction(bool isEntry, const Linkage &linkage);
  bool parseParameterList(Function &function, std::vector<uint32_t> &params);
  bool parsePerformanceDirectives(Function &function);

  // ParseVariables.cpp
  bool parseVariables(Space space, const Linkage &linkage, std::vector<Variable> &variables);
  bool skipPointee();
  bool parseDeclarator(Variable &variable, unsigned elementBytes, unsigned vectorSize);
  bool parseInitializer(Variable &variable, unsigned elementBytes);
  bool parseInitializerValue(Variable &variable, unsigned elementBytes, uint64_t &at);
  bool parseRelocation(Variable &variable, unsigned elementBytes, uint64_t at);
  bool parseConstant(int64_t &value);

  // ParseFunction.cpp
  bool parseBody(Function &function);
  bool parseBlockItem(Function &function);
  bool parseRegisters(Function &function);
  bool parseLocation();
  bool parseTargetList(Function &function, std::string_view name);
  bool parseCallPrototype();
  bool parseInstruction(Function &function);
  bool parseOperand(Function &function, Operand &operand, bool isCall);
  bool parsePrimary(Function &function, Operand &operand);
  bool parseAddress(Function &function, Operand &operand);
  bool parseElements(Function &function, Operand &operand, char close);
  bool resolveName(Function &function, std::string_view name, Operand &operand);
  bool defineVariable(Function &function, Variable variable);
  void resolveLabels(Function &function, Operand &operand, bool &pending);
  bool closeScope(Function &function);

  Module &module;
  const std::vector<Token> &tokens;
  Diagnostic &error;
  size_t position = 0;
  std::vector<NameScope> scopes;
  SourceLocation location, inlined;
  /// Places (file, line, column) that are inlined themselves, and where.
  std::map<std::array<uint64_t, 3>, SourceLocation> inlinedAt;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_PARSER_PARSERIMPL_H
