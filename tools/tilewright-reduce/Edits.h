// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edits that make a program smaller. Each works on a copy and says whether it
// changed anything; whoever calls verifies the result. Ops are numbered in the
// order of a walk, functions and terminators not counted.

#ifndef TILEWRIGHT_TOOLS_REDUCE_EDITS_H
#define TILEWRIGHT_TOOLS_REDUCE_EDITS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

/// How many ops bypassOps counts.
size_t countOps(mlir::ModuleOp module);
size_t countFunctions(mlir::ModuleOp module);
/// Results of all functions that nobody calls.
size_t countResults(mlir::ModuleOp module);

/// Removes function `number` unless it is used.
bool dropFunction(mlir::ModuleOp module, size_t number);
/// Removes one of countResults.
bool dropResult(mlir::ModuleOp module, size_t number);
/// Removes arguments that nothing uses, of functions that nobody calls.
bool dropUnusedArguments(mlir::ModuleOp module);
/// Removes attributes that ops can do without.
bool dropAttributes(mlir::ModuleOp module);
/// What takes the place of an op's result: its first or last operand of the same
/// type, or a new argument of the function.
enum class Instead { FirstOperand, LastOperand, Argument };
/// Removes ops [first, first + count).
bool bypassOps(mlir::ModuleOp module, size_t first, size_t count,
               Instead instead);
/// Removes ops without effect whose results nothing uses.
void eraseDead(mlir::ModuleOp module);

/// The static sizes above 1 that types in a text have, largest first.
std::vector<int64_t> sizesIn(llvm::StringRef text);
/// The text with every ? of types `to`. tensor.empty is given its sizes no more.
std::string withStaticDims(llvm::StringRef text, int64_t to);
/// The text with size `from` of types (and index constants, if asked for) `to`.
std::string withSize(llvm::StringRef text, int64_t from, int64_t to,
                     bool constants);
/// The text with the word `from` (an element type) `to`.
std::string withWord(llvm::StringRef text, llvm::StringRef from,
                     llvm::StringRef to);

#endif
