// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is checked on the text, then on the parsed module.

#include "Source.h"

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <functional>

using namespace mlir;
using namespace tilewright;

/// The parser recurses once per bracket; its stack lasts for about 4,000.
static constexpr unsigned kMaxNesting = 1000;

/// Position of the bracket that nests too deep, or npos. Strings and comments
/// are skipped.
static size_t findTooDeep(StringRef text) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '"':
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\')
          ++i;
      break;
    case '/':
      if (text.substr(i).starts_with("//"))
        i = std::min(text.find('\n', i), text.size());
      break;
    case '{':
    case '(':
    case '[':
    case '<':
      if (++depth > kMaxNesting)
        return i;
      break;
    case '>':
      if (i && text[i - 1] == '-') // an arrow
        break;
      [[fallthrough]];
    case '}':
    case ')':
    case ']':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  }
  return StringRef::npos;
}

/// Ops on which upstream's verifier crashes. Nothing else of them is known to
/// be as it should.
static LogicalResult checkBeforeVerifier(ModuleOp module) {
  WalkResult result =
      module->walk(
          [](linalg::TransposeOp op) {
            if (!op.getPermutation().empty())
              return WalkResult::advance();
            op->emitError()
                << "'" << op->getName()
                << "' op of rank 0 has no dims to transpose; use its operand, "
                   "or linalg.copy";
            return WalkResult::interrupt();
          });
  return failure(result.wasInterrupted());
}

/// Ops of dialects that nobody registered parse, so that the error can name
/// them.
static LogicalResult checkDialects(ModuleOp module) {
  WalkResult result = module->walk([](Operation *op) {
    if (op->isRegistered())
      return WalkResult::advance();
    op->emitError() << "op '" << op->getName().getStringRef()
                    << "' is of a dialect that Tilewright does not know";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Host programs have no bound on their stack; functions may not call
/// themselves.
static LogicalResult checkRecursion(ModuleOp module) {
  SymbolTable symbols(module);
  enum State { Unseen, Active, Done };
  DenseMap<Operation *, State> states;
  std::function<LogicalResult(func::FuncOp)> visit =
      [&](func::FuncOp func) -> LogicalResult {
    states[func] = Active;
    WalkResult result = func->walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || states.lookup(callee) == Done)
        return WalkResult::advance();
      if (states.lookup(callee) == Active) {
        call.emitOpError() << "makes function '" << callee.getName()
                           << "' call itself; recursion is not supported, use "
                              "scf.for or scf.while";
        return WalkResult::interrupt();
      }
      return succeeded(visit(callee)) ? WalkResult::advance()
                                      : WalkResult::interrupt();
    });
    states[func] = Done;
    return failure(result.wasInterrupted());
  };
  for (auto func : module.getOps<func::FuncOp>())
    if (states.lookup(func) == Unseen && failed(visit(func)))
      return failure();
  return success();
}

OwningOpRef<ModuleOp> tilewright::parseSource(llvm::SourceMgr &sources,
                                              MLIRContext &context,
                                              bool betweenStages) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(1);
  StringRef text = buffer->getBuffer();
  auto at = [&](size_t position) -> Location {
    auto [line, column] = sources.getLineAndColumn(
        llvm::SMLoc::getFromPointer(text.data() + position), 1);
    return FileLineColLoc::get(&context, buffer->getBufferIdentifier(), line,
                               column);
  };
  if (text.starts_with("ML\xefR")) {
    emitError(UnknownLoc::get(&context))
        << buffer->getBufferIdentifier()
        << " is MLIR bytecode; Tilewright reads MLIR text (mlir-opt prints it)";
    return {};
  }
  if (text.contains('\0')) {
    emitError(UnknownLoc::get(&context))
        << buffer->getBufferIdentifier() << " is not text";
    return {};
  }
  if (size_t deep = findTooDeep(text); deep != StringRef::npos) {
    emitError(at(deep)) << "brackets nest deeper than " << kMaxNesting;
    return {};
  }
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  bool isValid = module && succeeded(checkBeforeVerifier(*module)) &&
                 succeeded(verify(*module));
  context.allowUnregisteredDialects(false);
  if (!isValid || failed(checkDialects(*module)))
    return {};
  if (betweenStages)
    return module;
  if (failed(checkRecursion(*module)))
    return {};
  bool any = llvm::any_of(module->getOps<func::FuncOp>(), [](func::FuncOp func) {
    return !func.isExternal();
  });
  if (!any) {
    module->emitError() << "the module has no function (func.func with a body) "
                           "to compile";
    return {};
  }
  return module;
}

/// MLIR forgets names, but an argument's location is where its name stands.
static std::string readName(const llvm::SourceMgr &sources, Location loc) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(1);
  auto place = dyn_cast<FileLineColLoc>(loc);
  if (!place ||
      place.getFilename().getValue() != buffer->getBufferIdentifier())
    return "";
  llvm::SMLoc at = const_cast<llvm::SourceMgr &>(sources).FindLocForLineAndColumn(
      1, place.getLine(), place.getColumn());
  if (!at.isValid())
    return "";
  StringRef rest(at.getPointer(),
                 size_t(buffer->getBufferEnd() - at.getPointer()));
  if (!rest.consume_front("%") || rest.empty() || llvm::isDigit(rest.front()))
    return "";
  return rest
      .take_while([](char c) {
        return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
      })
      .str();
}

ArgumentNames tilewright::readArgumentNames(const llvm::SourceMgr &sources,
                                            ModuleOp module) {
  ArgumentNames names;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    std::vector<std::string> &list = names[func.getName()];
    for (BlockArgument argument : func.getArguments())
      list.push_back(readName(sources, argument.getLoc()));
  }
  return names;
}
