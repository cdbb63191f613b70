// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a parsed module to the Program of one of its kernels: lays out registers, shared, local and parameter memory,
// decodes every instruction of the kernel and of the functions it can reach, and finds where diverged lanes meet again.

#ifndef TILEWRIGHT_PTXSIM_DECODE_DECODER_H
#define TILEWRIGHT_PTXSIM_DECODE_DECODER_H

#include "decode/InstDecoder.h"
#include "decode/Program.h"

#include <map>
#include <memory>

namespace tilewright::ptxsim {

struct DecodeOptions {
  unsigned computeCapability = 80;
  /// Use vectorised handlers where there are any; off only to compare them with the general ones.
  bool fastPaths = true;
};

/// Null after an error. `addresses` gives each module variable its device address.
std::unique_ptr<Program> decodeKernel(const Module &module, const Function &kernel, const VariableAddresses &addresses,
                                      const DecodeOptions &options, Diagnostic &error);

/// Checks that a module can run on the device at all: its .version and .target.
bool checkModuleTarget(const Module &module, unsigned computeCapability, Diagnostic &error);

/// The address a function's name stands for.
uint64_t functionAddress(const Module &module, std::string_view name);

class Decoder {
public:
  Decoder(const Module &module, const VariableAddresses &addresses, const DecodeOptions &options, Program &program,
          Diagnostic &error)
      : module(module), addresses(addresses), options(options), program(program), error(error) {}

  bool decode(const Function &kernel);

  bool fail(uint32_t line, std::string message);
  Row constantRow(uint64_t value);
  /// Byte offset of a function-level variable in its space.
  bool variableOffset(const Function &function, uint32_t index, uint64_t &offset);
  /// Value of a module-level name used as an operand: an address in its space, or a function's address.
  bool symbolValue(std::string_view name, uint32_t line, uint64_t &value, Space &space);
  /// Index in Program::functions; adds the function to the work list on first use.
  uint32_t functionIndex(const Function &function);
  /// The row that holds the upper half of a .b128 register.
  Row highRow(const Function &function, uint32_t index) { return layouts[&function].highRows[index]; }
  /// Whether a parameter of a device function lives in local memory, because its address is taken; where.
  bool onStack(const Function &function, uint32_t variable, uint64_t &offset) const;
  /// A row with an address in shared memory: no constant of the same value, since every block of a cluster has its own.
  Row sharedRow(uint64_t address);
  /// Whether the name is an `.extern .shared` array, and a row with its address plus `addend`.
  bool isDynamicShared(std::string_view name) const;
  Row dynamicSharedRow(int64_t addend);
  void needIndirectTargets() { indirectCalls = true; }

  const Module &module;
  const VariableAddresses &addresses;
  const DecodeOptions &options;
  Program &program;
  Diagnostic &error;

private:
  struct Layout {
    std::vector<uint64_t> offsets;
    std::map<uint32_t, Row> highRows;
    /// Parameters in local memory, by variable.
    std::map<uint32_t, uint64_t> stack;
  };
  Row newRow(uint64_t value);
  bool decodeFunction(uint32_t index);
  bool decodeInstruction(const Function &function, FunctionCode &code, const Instruction &syntax, Inst &inst);
  bool layOut(const Function &function, FunctionCode &code);
  void layOutStack(const Function &function, FunctionCode &code, uint64_t &localEnd);
  bool placeShared(const Variable &variable, uint64_t &offset);
  void finishShared();
  bool addIndirectTargets();

  std::map<const Function *, uint32_t> indexOf;
  std::map<const Function *, Layout> layouts;
  std::map<std::string, uint64_t, std::less<>> moduleShared;
  std::map<uint64_t, Row> constantRows, sharedRows;
  uint64_t sharedEnd = 0;
  uint64_t dynamicAlign = 16;
  /// Rows that hold an address in dynamic shared memory, which is placed only when all static variables are.
  std::vector<std::pair<Row, int64_t>> dynamicRows;
  bool indirectCalls = false;
};

/// Fills Inst::reconverge of the function's branches.
void findReconvergence(Program &program, const FunctionCode &code);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_DECODE_DECODER_H
