// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The edits. Sizes and element types are edited in the text: parsing it again
// is the check that everything still fits.

#include "Edits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;

static bool isCounted(Operation *op) {
  return !isa<ModuleOp, func::FuncOp>(op) &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

static std::vector<Operation *> listOps(ModuleOp module) {
  std::vector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isCounted(op))
      ops.push_back(op);
  });
  return ops;
}

size_t countOps(ModuleOp module) { return listOps(module).size(); }

size_t countFunctions(ModuleOp module) {
  return llvm::range_size(module.getOps<func::FuncOp>());
}

static bool isCalled(func::FuncOp func) {
  return !SymbolTable::symbolKnownUseEmpty(func, func->getParentOp());
}

bool dropFunction(ModuleOp module, size_t number) {
  for (auto func : module.getOps<func::FuncOp>())
    if (number-- == 0) {
      if (isCalled(func))
        return false;
      func.erase();
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// Functions whose signature may change, with their one return.
static std::vector<std::pair<func::FuncOp, func::ReturnOp>>
listFree(ModuleOp module) {
  std::vector<std::pair<func::FuncOp, func::ReturnOp>> result;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || isCalled(func) || !func.getBody().hasOneBlock())
      continue;
    auto end =
        dyn_cast<func::ReturnOp>(func.getBody().front().getTerminator());
    if (end)
      result.push_back({func, end});
  }
  return result;
}

size_t countResults(ModuleOp module) {
  size_t count = 0;
  for (auto [func, end] : listFree(module))
    count += end.getNumOperands();
  return count;
}

bool dropResult(ModuleOp module, size_t number) {
  for (auto [func, end] : listFree(module)) {
    if (number >= end.getNumOperands()) {
      number -= end.getNumOperands();
      continue;
    }
    if (end.getNumOperands() == 1)
      return false; // a program without results does nothing
    end->eraseOperand(number);
    return succeeded(func.eraseResult(number));
  }
  return false;
}

bool dropUnusedArguments(ModuleOp module) {
  bool changed = false;
  for (auto [func, end] : listFree(module))
    for (unsigned i = func.getNumArguments(); i-- > 0;)
      if (func.getArgument(i).use_empty())
        changed |= succeeded(func.eraseArgument(i));
  return changed;
}

bool dropAttributes(ModuleOp module) {
  bool changed = false;
  module->walk([&](Operation *op) {
    for (NamedAttribute attribute :
         llvm::to_vector(op->getDiscardableAttrs())) {
      op->removeDiscardableAttr(attribute.getName());
      changed = true;
    }
  });
  return changed;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void eraseDead(ModuleOp module) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Operation *> ops = listOps(module);
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op)) {
        op->erase();
        changed = true;
      }
  }
}

/// What a result can be replaced with, or null.
static Value findReplacement(Operation *op, Value result, Instead instead) {
  Type type = result.getType();
  if (instead != Instead::Argument) {
    Value found;
    for (Value operand : op->getOperands())
      if (operand.getType() == type &&
          (!found || instead == Instead::LastOperand))
        found = operand;
    return found;
  }
  auto func = op->getParentOfType<func::FuncOp>();
  if (!func || isCalled(func) ||
      !isa<RankedTensorType, IntegerType, FloatType, IndexType>(type))
    return {};
  unsigned number = func.getNumArguments();
  if (failed(func.insertArgument(number, type, {}, op->getLoc())))
    return {};
  return func.getArgument(number);
}

bool bypassOps(ModuleOp module, size_t first, size_t count, Instead instead) {
  std::vector<Operation *> ops = listOps(module);
  size_t end = std::min(first + count, ops.size());
  bool changed = false;
  // From the last to the first: uses go before what they use, and what is
  // inside an op before the op.
  for (size_t i = end; i-- > first;) {
    Operation *op = ops[i];
    bool free = true;
    for (Value result : op->getResults()) {
      if (result.use_empty())
        continue;
      Value replacement = findReplacement(op, result, instead);
      if (replacement)
        result.replaceAllUsesWith(replacement);
      free &= bool(replacement);
    }
    if (!free)
      continue;
    op->erase();
    changed = true;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Calls `visit` with begin and end of every static size of a type: digits
/// between `<` or `x` and `x`.
template <typename Visit> static void visitSizes(StringRef text, Visit visit) {
  for (size_t i = 1; i < text.size(); ++i) {
    bool starts = text[i - 1] == '<' ||
                  (text[i - 1] == 'x' && i >= 2 &&
                   (llvm::isDigit(text[i - 2]) || text[i - 2] == '?'));
    if (!llvm::isDigit(text[i]) || !starts)
      continue;
    size_t end = i;
    while (end < text.size() && llvm::isDigit(text[end]))
      ++end;
    if (end < text.size() && text[end] == 'x')
      visit(i, end);
    i = end;
  }
}

std::vector<int64_t> sizesIn(StringRef text) {
  std::set<int64_t, std::greater<int64_t>> sizes;
  visitSizes(text, [&](size_t begin, size_t end) {
    int64_t size;
    if (!text.slice(begin, end).getAsInteger(10, size) && size > 1)
      sizes.insert(size);
  });
  return {sizes.begin(), sizes.end()};
}

std::string withStaticDims(StringRef text, int64_t to) {
  std::string number = std::to_string(to) + "x", result;
  for (size_t i = 0; i < text.size(); ++i) {
    char before = i ? text[i - 1] : ' ';
    if (text.substr(i, 2) == "?x" && (before == '<' || before == 'x')) {
      result += number;
      ++i;
    } else {
      result += text[i];
    }
  }
  constexpr StringRef empty = "tensor.empty(";
  for (size_t at = 0; (at = result.find(empty, at)) != std::string::npos;) {
    at += empty.size();
    size_t end = result.find(')', at);
    // Sizes stay where a type still asks for them.
    StringRef type = StringRef(result).substr(end).take_until(
        [](char c) { return c == '\n'; });
    if (end != std::string::npos && !type.contains('?'))
      result.erase(at, end - at);
  }
  return result;
}

std::string withSize(StringRef text, int64_t from, int64_t to, bool constants) {
  std::string digits = std::to_string(from), result;
  size_t done = 0;
  visitSizes(text, [&](size_t begin, size_t end) {
    if (text.slice(begin, end) != digits)
      return;
    result += text.slice(done, begin).str() + std::to_string(to);
    done = end;
  });
  result += text.drop_front(done).str();
  if (!constants)
    return result;
  std::string constant = "arith.constant " + digits + " : index";
  std::string small = "arith.constant " + std::to_string(to) + " : index";
  for (size_t at = 0; (at = result.find(constant, at)) != std::string::npos;
       at += small.size())
    result.replace(at, constant.size(), small);
  return result;
}

std::string withWord(StringRef text, StringRef from, StringRef to) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  std::string result;
  size_t done = 0;
  for (size_t at = 0; (at = text.find(from, at)) != StringRef::npos;) {
    size_t end = at + from.size();
    // "4xf16": the x of a shape is no part of the word.
    bool shape = at >= 2 && text[at - 1] == 'x' &&
                 (llvm::isDigit(text[at - 2]) || text[at - 2] == '?');
    bool starts = at == 0 || shape || !isWord(text[at - 1]);
    if (starts && (end == text.size() || !isWord(text[end]))) {
      result += text.slice(done, at).str() + to.str();
      done = end;
    }
    at = end;
  }
  return result + text.drop_front(done).str();
}
