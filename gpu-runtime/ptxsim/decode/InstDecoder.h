// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an opcode's decode function works with: it takes the modifiers it knows, one by one, and asks for operands as
// rows. A modifier that nobody took, or an operand too many, is an error that names the instruction and its line, so an
// instruction is either understood whole or refused.

#ifndef TILEWRIGHT_PTXSIM_DECODE_INSTDECODER_H
#define TILEWRIGHT_PTXSIM_DECODE_INSTDECODER_H

#include "decode/Program.h"
#include "parser/Lexer.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::ptxsim {

class Decoder;

class InstDecoder {
public:
  InstDecoder(Decoder &decoder, const Function &function, FunctionCode &code, const Instruction &syntax, Inst &inst);

  const Instruction &syntax;
  Inst &inst;

  /// Consumes the first remaining modifier of this spelling.
  bool take(std::string_view modifier);
  /// Consumes the first remaining modifier that is a type; None when there is none.
  ScalarType takeType();
  /// Consumes .rn/.rz/.rm/.rp (or the integer forms) and returns whether there was one.
  bool takeRounding();
  /// .ftz and .sat into the instruction.
  void takeFtz() { inst.ftz = take("ftz"); }
  void takeSat() { inst.sat = take("sat"); }
  /// Consumes .v2 / .v4 / .v8.
  unsigned takeVector();
  bool hasModifier(std::string_view modifier) const;
  /// The first remaining modifier beginning with `prefix`, consumed; empty when there is none.
  std::string_view takePrefix(std::string_view prefix);
  /// What nobody has taken yet, in order.
  const std::vector<std::string_view> &remaining() const { return left; }

  size_t operandCount() const { return syntax.operands.size(); }
  const Operand &operand(size_t index) const { return syntax.operands[index]; }
  bool expectOperands(size_t least, size_t most);
  /// The instruction takes registers with signs and selectors, and has read them.
  void allowSelectors() { selectors = true; }
  bool expectOperands(size_t count) { return expectOperands(count, count); }

  /// Adds the operand as a source of this type, of which the low bits are read.
  bool source(size_t index, ScalarType type);
  bool source(const Operand &operand, ScalarType type);
  bool predicate(size_t index);
  /// The same into lists of their own, for instructions with many registers.
  bool sourceRow(const Operand &operand, ScalarType type, std::vector<Row> &rows);
  bool destinationRow(const Operand &operand, ScalarType type, std::vector<Row> &rows);
  /// Adds a row holding this value in all lanes.
  void constant(uint64_t value);
  bool destination(size_t index, ScalarType type);
  bool destination(const Operand &operand, ScalarType type);
  /// A .b128 register as two rows, low half first.
  bool wideSource(const Operand &operand);
  bool wideDestination(const Operand &operand);
  /// A literal integer operand.
  bool immediate(size_t index, uint64_t &value);
  /// Splits an address operand: base as source 0 (a constant row when absolute), offset into the instruction.
  bool address(size_t index);
  /// Sources, in order, for a, b, c, ... beginning at operand `first`.
  bool sources(size_t first, std::initializer_list<ScalarType> types);
  bool sameTypeSources(size_t first, size_t count, ScalarType type);

  unsigned registerBits(const Operand &operand) const;
  /// Fails unless the module has this PTX version (major * 10 + minor) and target: for forms that came later than their
  /// opcode.
  bool needs(unsigned ptxVersion, unsigned computeCapability);

  /// Records an error naming the instruction. Always false.
  bool fail(const std::string &message);
  bool unsupported(const std::string &what) { return fail(what + " is not supported"); }
  /// Fails when modifiers are left.
  bool finish();

  Decoder &decoder;
  const Function &function;
  FunctionCode &code;

private:
  bool addSource(Row row);
  bool literal(const Operand &operand, ScalarType type, uint64_t &bits);
  bool registerSource(const Operand &operand, ScalarType type);
  bool specialSource(const Operand &operand);
  bool variableSource(const Operand &operand);
  bool symbolSource(const Operand &operand);

  /// Fails where a register has a sign or a selector that the instruction does not take.
  bool isWhole(const Operand &operand);

  std::vector<std::string_view> left;
  bool selectors = false;
};

using DecodeFunction = bool (*)(InstDecoder &);

/// One line of Opcodes.def.
struct OpcodeInfo {
  std::string_view root;
  DecodeFunction decode;
  /// First PTX version (major * 10 + minor) and compute capability that have it.
  unsigned ptxVersion;
  unsigned computeCapability;
  /// Blank-separated lists for the coverage report.
  std::string_view modifiers;
};

const OpcodeInfo *findOpcode(std::string_view root);
/// Fails where the instruction uses a form (isa/Forms.def) that the module's version or target does not have.
bool checkForm(InstDecoder &d);
const std::vector<OpcodeInfo> &allOpcodes();

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_DECODE_INSTDECODER_H
