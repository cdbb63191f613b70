// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is checked on the text, then on the parsed module.

#include "Source.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/UserNames.h"

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

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The text at `loc`; null where it is not in the source.
static const char *findText(const llvm::SourceMgr &sources, Location loc) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(1);
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place ||
      place.getFilename().getValue() != buffer->getBufferIdentifier())
    return nullptr;
  return const_cast<llvm::SourceMgr &>(sources)
      .FindLocForLineAndColumn(1, place.getLine(), place.getColumn())
      .getPointer();
}

static bool isInName(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
}

/// MLIR forgets names, but an argument's location is where its name stands: "%x".
static std::string readName(const llvm::SourceMgr &sources, Location loc) {
  const char *at = findText(sources, loc);
  if (!at)
    return "";
  StringRef rest(at, size_t(sources.getMemoryBuffer(1)->getBufferEnd() - at));
  if (!rest.consume_front("%"))
    return "";
  StringRef name = rest.take_while(isInName);
  return name.empty() ? "" : "%" + name.str();
}

/// The name of the results of an op that stands on one line with it: "%r".
static std::string readResultName(const llvm::SourceMgr &sources, Location loc) {
  const char *at = findText(sources, loc);
  const char *begin = sources.getMemoryBuffer(1)->getBufferStart();
  if (!at)
    return "";
  StringRef before(begin, at - begin);
  before = before.substr(before.rfind('\n') + 1).trim();
  if (!before.consume_back("="))
    return "";
  // %r:2 are two results.
  StringRef name = before.rtrim().take_until([](char c) { return c == ':'; });
  bool isOne =
      name.consume_front("%") && !name.empty() && llvm::all_of(name, isInName);
  return isOne ? "%" + name.str() : "";
}

void tilewright::keepNames(const llvm::SourceMgr &sources, ModuleOp module) {
  module.walk([&](Operation *op) {
    if (op == module.getOperation() || !findText(sources, op->getLoc()))
      return;
    std::string result =
        op->getNumResults() ? readResultName(sources, op->getLoc()) : "";
    op->setLoc(nameLocation(op->getLoc(), op->getName().getStringRef(), result));
    if (isa<linalg::LinalgOp>(op))
      return;
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setLoc(nameLocation(argument.getLoc(), "",
                                     readName(sources, argument.getLoc())));
  });
}

/// `text` with `written` where it speaks of the op; advice to write something as
/// linalg.generic stays.
static std::string replaceOpName(StringRef text, StringRef written) {
  constexpr StringLiteral generic = "linalg.generic";
  std::string result;
  for (size_t at; (at = text.find(generic)) != StringRef::npos;) {
    StringRef before = text.take_front(at);
    bool isAdvice = llvm::any_of(ArrayRef<StringRef>{"a ", "as ", "by ", "no ", "with "},
                                 [&](StringRef word) { return before.ends_with(word); });
    result += before;
    result += isAdvice ? StringRef(generic) : written;
    text = text.drop_front(at + generic.size());
  }
  return result + text.str();
}

void tilewright::useWrittenNames(Diagnostic &diagnostic) {
  StringRef written = getWrittenOp(diagnostic.getLocation());
  std::string text = diagnostic.str();
  if (written.empty() || !StringRef(text).contains("linalg.generic"))
    return;
  Diagnostic renamed(diagnostic.getLocation(), diagnostic.getSeverity());
  renamed << replaceOpName(text, written);
  for (Diagnostic &note : diagnostic.getNotes())
    renamed.attachNote(note.getLocation()) << note.str();
  diagnostic = std::move(renamed);
}

ArgumentNames tilewright::getArgumentNames(ModuleOp module) {
  ArgumentNames names;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    std::vector<std::string> &list = names[func.getName()];
    for (BlockArgument argument : func.getArguments()) {
      StringRef name = getWrittenName(argument);
      name.consume_front("%");
      bool isNumber = !name.empty() && llvm::isDigit(name.front());
      list.push_back(isNumber ? "" : name.str());
    }
  }
  return names;
}
