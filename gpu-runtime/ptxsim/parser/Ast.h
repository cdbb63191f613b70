// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PTX module as parsed: variables, functions and their instructions. Register names, labels and function-level symbols
// are resolved (so the scopes of `{ }` blocks are gone); opcodes are still text, split at their dots.

#ifndef TILEWRIGHT_PTXSIM_PARSER_AST_H
#define TILEWRIGHT_PTXSIM_PARSER_AST_H

#include "isa/Types.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::ptxsim {

inline constexpr uint32_t noIndex = 0xffffffffu;
/// What a driver for CUDA 13.0 takes, major * 10 + minor.
inline constexpr unsigned newestPtx = 90;

/// A symbol's address (plus addend) stored in an initialiser at byte `offset`.
struct Relocation {
  uint64_t offset = 0;
  std::string symbol;
  int64_t addend = 0;
  bool generic = false;
  unsigned bytes = 8;
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  ScalarType type = ScalarType::None;
  uint64_t align = 1;
  /// Bytes; 0 for `.extern .shared x[]`.
  uint64_t size = 0;
  bool isExtern = false;
  bool isVisible = false;
  bool isUnsizedArray = false;
  std::vector<uint8_t> initial;
  std::vector<Relocation> relocations;
  uint32_t line = 0;
};

struct Operand {
  enum Kind : uint8_t {
    Register,
    Special,  // %tid.x and its like; text holds the name
    Integer,  // value
    Float32,  // value holds the bits
    Float64,  // value holds the bits
    Variable, // a function-level variable: index into Function::variables
    Symbol,   // module-level name: variable, function, or unresolved
    Label,    // value holds the instruction index once the function is complete
    Address,  // [base + offset]; base in elements[0] (absent for an absolute address)
    Vector,   // {a, b, ...}
    List,     // (a, b, ...) of a call
    Sink,     // _
    Pair,     // a|b
  };
  Kind kind = Sink;
  bool negated = false;
  /// Of a register: a sign before it and a selector (b0, h10) behind it, which video instructions take.
  bool minus = false;
  std::string_view selector;
  /// Register index, or variable index.
  uint32_t index = noIndex;
  uint64_t value = 0;
  int64_t offset = 0;
  std::string_view text;
  std::vector<Operand> elements;
};

struct SourceLocation {
  uint32_t file = 0;
  uint32_t line = 0;
};

struct Instruction {
  std::string_view root;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  /// Guard predicate register, or noIndex.
  uint32_t guard = noIndex;
  bool guardNegated = false;
  uint32_t line = 0;
  /// In the kernel's own text; of what was inlined there, where it stands itself.
  SourceLocation source, inlined;

  /// `ld.global.f32`, as written.
  std::string name() const;
};

struct RegisterInfo {
  std::string name;
  ScalarType type = ScalarType::None;
};

/// `.callprototype`, `.branchtargets` and `.calltargets` lists.
struct TargetList {
  std::string_view name;
  std::vector<uint32_t> labels;
  std::vector<std::string_view> symbols;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool isExtern = false;
  bool hasBody = false;
  bool isVisible = false;
  uint32_t line = 0;
  /// Indices into `variables`.
  std::vector<uint32_t> params;
  std::vector<uint32_t> returns;
  /// A deque, so that names stay where they are while the body is parsed.
  std::deque<Variable> variables;
  std::vector<RegisterInfo> registers;
  std::vector<Instruction> body;
  std::vector<TargetList> targetLists;
  /// 0 where a directive is absent.
  uint32_t maxThreads[3] = {0, 0, 0};
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t minBlocks = 0;
  uint32_t maxRegisters = 0;
  /// .reqnctapercluster; 0 where absent. .explicitcluster: launched with clusters only. .maxclusterrank; 0 where absent.
  uint32_t requiredCluster[3] = {0, 0, 0};
  bool explicitCluster = false;
  uint32_t maxClusterRank = 0;
};

struct Module {
  /// The text that every string_view of the module points into.
  std::string source;
  /// `.version` as major * 10 + minor.
  unsigned version = 0;
  /// `.target sm_NN` with its suffix ('a', 'f' or 0).
  unsigned target = 0;
  char targetSuffix = 0;
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;
  std::map<std::string, uint32_t, std::less<>> variableIndex;
  std::map<std::string, uint32_t, std::less<>> functionIndex;
  std::map<std::string, std::string, std::less<>> aliases;
  std::map<uint32_t, std::string> files;

  const Function *findFunction(std::string_view name) const;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_PARSER_AST_H
