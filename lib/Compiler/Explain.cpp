// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads explanations; see Explain.h.

#include "Explain.h"

#include "ExpressionText.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Tuning.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/SharedPlaces.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Stages/Stages.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// Lines of kernels
//===----------------------------------------------------------------------===//

static std::vector<std::string> getLines(Operation *op, StringRef name) {
  std::vector<std::string> lines;
  if (auto list = op->getAttrOfType<ArrayAttr>(name))
    for (Attribute line : list) {
      if (auto text = dyn_cast<StringAttr>(line)) {
        lines.push_back(text.getValue().str());
      } else {
        llvm::raw_string_ostream os(lines.emplace_back());
        os << line;
      }
    }
  return lines;
}

void tilewright::collectKernelLines(ModuleOp program,
                                    std::vector<KernelExplanation> &into) {
  for (auto kernel : program.getOps<func::FuncOp>()) {
    if (!isKernel(kernel))
      continue;
    std::vector<std::string> lines = getLines(kernel, kExplainAttr);
    auto original = kernel->getAttrOfType<StringAttr>(kVariantOfAttr);
    if (auto base = original ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                                   kernel, original)
                             : func::FuncOp()) {
      std::vector<std::string> known = getLines(base, kExplainAttr);
      llvm::erase_if(lines, [&](const std::string &line) {
        return llvm::is_contained(known, line);
      });
    }
    if (!lines.empty() || !original)
      into.push_back({program.getName().value_or("").str(),
                      kernel.getName().str(), std::move(lines), {}, {}, {}});
  }
}

void tilewright::collectConfigs(ModuleOp program,
                                std::vector<KernelExplanation> &into) {
  for (auto kernel : program.getOps<func::FuncOp>()) {
    if (!isKernel(kernel))
      continue;
    // A variant that has the choice of its original is configured like it.
    auto original = kernel->getAttrOfType<StringAttr>(kVariantOfAttr);
    auto base = original ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                               kernel, original)
                         : func::FuncOp();
    if (base && base->getAttr(kConfigsAttr) == kernel->getAttr(kConfigsAttr))
      continue;
    into.push_back({program.getName().value_or("").str(), kernel.getName().str(),
                    getLines(kernel, kConfigsAttr), {}, {}, {}});
    if (auto refused = kernel->getAttrOfType<DictionaryAttr>(kRefusedAttr))
      for (NamedAttribute entry : refused)
        into.back().refused.push_back(
            {entry.getName().str(), cast<IntegerAttr>(entry.getValue()).getInt()});
    if (auto problem = kernel->getAttrOfType<DictionaryAttr>(kProblemAttr)) {
      for (NamedAttribute entry : problem.getAs<DictionaryAttr>("problem"))
        into.back().problem.push_back(
            {entry.getName().str(), cast<StringAttr>(entry.getValue()).str()});
      into.back().shape =
          problem.getAs<DenseI64ArrayAttr>("shape").asArrayRef().vec();
    }
  }
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// "?x256xf32", "f32"
static std::string toText(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!shaped || !shaped.hasRank()) {
    os << type;
    return text;
  }
  for (int64_t dim : shaped.getShape())
    if (ShapedType::isDynamic(dim))
      os << "?x";
    else
      os << dim << "x";
  os << shaped.getElementType();
  return text;
}

static int64_t getLine(Operation *op) {
  auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return loc ? loc.getLine() : 0;
}

/// "product: mulf, addf": the family, and the ops of the body once each.
static std::string describeKind(linalg::LinalgOp op) {
  std::string kind = "elementwise";
  if (linalg::isaContractionOpInterface(op))
    kind = "product";
  else if (op.getNumReductionLoops())
    kind = "reduction";
  SmallVector<StringRef> body;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    StringRef name = inner.getName().stripDialect();
    if (!isa_and_nonnull<arith::ConstantOp>(inner) &&
        !llvm::is_contained(body, name))
      body.push_back(name);
  }
  if (body.empty())
    return "relayout";
  return kind + ": " + llvm::join(body, ", ");
}

namespace {
/// Numbers values: arguments and what numbered ops produce. Other ops (casts,
/// slices, reshapes) pass on the number of their first operand.
class Origins {
public:
  explicit Origins(func::FuncOp func) {
    for (BlockArgument argument : func.getArguments())
      numbers[argument] = ~int64_t(argument.getArgNumber());
  }
  void number(Operation *op, int64_t value) {
    for (Value result : op->getResults())
      numbers[result] = value;
  }
  void passOn(Operation *op) {
    for (Value operand : op->getOperands())
      if (std::optional<int64_t> known = lookup(operand)) {
        if (isa<ShapedType>(operand.getType()))
          return number(op, *known);
      }
  }
  /// `to` has what `from` has, or nothing.
  void copy(Value from, Value to) {
    if (std::optional<int64_t> known = lookup(from))
      numbers[to] = *known;
    else
      numbers.erase(to);
  }
  std::optional<int64_t> lookup(Value value) const {
    auto found = numbers.find(value);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }
  /// Adds a use of `value` unless it comes from nowhere (an empty tensor).
  void addUse(Value value, std::vector<ExplainedUse> &uses) const {
    if (!isa<ShapedType>(value.getType()))
      return;
    std::optional<int64_t> from = lookup(value);
    if (from && llvm::none_of(uses, [&](const ExplainedUse &use) {
          return use.from == *from;
        }))
      uses.push_back({*from, toText(value.getType())});
  }

private:
  DenseMap<Value, int64_t> numbers;
};
} // namespace

static ExplainedKernel explainKernel(func::FuncOp kernel) {
  ExplainedKernel result;
  result.name = kernel.getName().str();
  // Access is of tensors, which scalars may stand between.
  auto access = kernel->getAttrOfType<ArrayAttr>(kAccessAttr);
  unsigned tensor = 0;
  StringRef resultName = getWrittenName(kernel.getArguments().back());
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    std::string text = toText(type);
    if (!isa<ShapedType>(type)) {
      result.scalars.push_back(std::move(text));
      continue;
    }
    if (access && tensor < access.size())
      if (auto how = dyn_cast<StringAttr>(access[tensor]))
        text = how.getValue().str() + " " + text;
    // What the compiler made for an op has the location of the op, whose result has a name.
    StringRef name = getWrittenName(argument);
    bool isRead = StringRef(text).starts_with("read ");
    if (!name.empty() && !(isRead && name == resultName))
      text += " " + name.str();
    result.operands.push_back(std::move(text));
    ++tensor;
  }
  Origins origins(kernel);
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if ((!structured && !isa<AttentionOp>(op) && !isIrregular(op)) || isa<linalg::FillOp>(op)) {
      if (!structured && !isa<func::FuncOp, func::ReturnOp>(op))
        origins.passOn(op);
      return structured ? WalkResult::skip() : WalkResult::advance();
    }
    ExplainedOp &entry = result.ops.emplace_back();
    entry.kind = structured ? describeKind(structured)
                 : isIrregular(op)
                     ? op->getName().stripDialect().str()
                     : "attention: two contractions, a softmax between them";
    entry.line = getLine(op);
    if (op->getNumResults())
      entry.type = toText(op->getResult(0).getType());
    auto destinations = cast<DestinationStyleOpInterface>(op);
    for (OpOperand *input : destinations.getDpsInputOperands())
      origins.addUse(input->get(), entry.uses);
    for (OpOperand &init : destinations.getDpsInitsMutable())
      if (structured && structured.payloadUsesValueFromOperand(&init))
        origins.addUse(init.get(), entry.uses);
    origins.number(op, result.ops.size() - 1);
    return WalkResult::skip();
  });
  FunctionWork work = describeKernelWork(kernel);
  if (work.flops)
    result.flops = expressionText(*work.flops);
  if (work.bytes)
    result.bytes = expressionText(*work.bytes);
  return result;
}

static int64_t getDepth(Operation *op) {
  int64_t depth = 0;
  for (Operation *up = op->getParentOp(); up && !isa<func::FuncOp>(up);
       up = up->getParentOp())
    ++depth;
  return depth;
}

namespace {
/// The kernels that a function runs, in their order, with those of the functions
/// that it calls.
class StepWriter {
public:
  StepWriter(func::FuncOp func, const llvm::StringMap<size_t> &kernels,
             ExplainedFunction &into)
      : kernels(kernels), into(into), origins(func) {}
  /// Returns what `func` returns.
  SmallVector<Value> write(func::FuncOp func, int64_t depth);
  const Origins &getOrigins() const { return origins; }

private:
  void addStep(DispatchOp dispatch, int64_t depth);
  void follow(func::CallOp call, int64_t depth);

  const llvm::StringMap<size_t> &kernels;
  ExplainedFunction &into;
  Origins origins;
  SmallVector<func::FuncOp> calling; // whose bodies are being written
  int numCalls = 0;
};
} // namespace

void StepWriter::addStep(DispatchOp dispatch, int64_t depth) {
  ExplainedStep &step = into.steps.emplace_back();
  step.kernel = kernels.lookup(dispatch.getCallee());
  step.depth = depth;
  for (Value input : dispatch.getInputs())
    origins.addUse(input, step.uses);
  for (Value out : dispatch.getOuts())
    origins.addUse(out, step.uses);
  origins.number(dispatch, into.steps.size() - 1);
}

void StepWriter::follow(func::CallOp call, int64_t depth) {
  constexpr int kMostCalls = 1000;
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || llvm::is_contained(calling, callee) ||
      ++numCalls > kMostCalls)
    return origins.passOn(call);
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), call.getOperands()))
    origins.copy(operand, argument);
  SmallVector<Value> returned = write(callee, depth);
  for (auto [result, value] : llvm::zip(call.getResults(), returned))
    origins.copy(value, result);
}

SmallVector<Value> StepWriter::write(func::FuncOp func, int64_t depth) {
  SmallVector<Value> returned;
  calling.push_back(func);
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      addStep(dispatch, depth + getDepth(op));
    else if (auto call = dyn_cast<func::CallOp>(op))
      follow(call, depth + getDepth(op));
    else if (auto ret = dyn_cast<func::ReturnOp>(op))
      returned.assign(ret.operand_begin(), ret.operand_end());
    else if (!isa<func::FuncOp>(op))
      origins.passOn(op);
  });
  calling.pop_back();
  return returned;
}

static ExplainedFunction
explainFunction(func::FuncOp func, const llvm::StringMap<size_t> &kernels) {
  ExplainedFunction result;
  result.name = func.getName().str();
  for (Type type : func.getArgumentTypes())
    result.arguments.push_back(toText(type));
  StepWriter writer(func, kernels, result);
  for (Value value : writer.write(func, 0))
    if (std::optional<int64_t> from = writer.getOrigins().lookup(value))
      result.results.push_back({*from, toText(value.getType())});
  result.notes = getLines(func, kExplainAttr);
  if (func->hasAttr(kAtLoadAttr))
    result.notes.push_back("runs once, when the program is loaded: it depends on constants alone");
  FunctionWork work = describeWork(func);
  if (work.flops)
    result.flops = expressionText(*work.flops);
  if (work.bytes)
    result.bytes = expressionText(*work.bytes);
  return result;
}

ProgramExplanation tilewright::explainProgram(ModuleOp program,
                                              const ParsedTarget &target) {
  ProgramExplanation result;
  result.target = target.name;
  for (const TargetVariant &variant : target.variants)
    result.programs.push_back(programName(target, variant));
  llvm::StringMap<size_t> numbers;
  for (auto kernel : program.getOps<func::FuncOp>())
    if (isKernel(kernel)) {
      numbers[kernel.getName()] = result.kernels.size();
      result.kernels.push_back(explainKernel(kernel));
    }
  for (auto func : program.getOps<func::FuncOp>())
    if (!isKernel(func) && !func.isExternal() &&
        (func.isPublic() || func->hasAttr(kAtLoadAttr)))
      result.functions.push_back(explainFunction(func, numbers));
  return result;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

PlannedResources tilewright::getPlanned(func::FuncOp kernel) {
  auto planned = kernel->getAttrOfType<DictionaryAttr>(kPlannedAttr);
  auto number = [&](StringRef name) {
    auto value = planned ? planned.getAs<IntegerAttr>(name) : IntegerAttr();
    return value ? value.getInt() : 0;
  };
  return {number("threads"), number("shared_bytes"), number("registers")};
}

int64_t tilewright::getSharedBytes(func::FuncOp kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr);
  return bytes ? bytes.getInt() : -1;
}

/// A guard without its long tail: 32-bit indices ask that of every operand.
static std::string shortGuard(const llvm::json::Value &guard) {
  SmallVector<StringRef> terms, kept;
  std::string text = expressionText(guard);
  StringRef(text).split(terms, " and ");
  for (StringRef term : terms)
    if (!(term.starts_with("numel(") || term.starts_with("span(")) ||
        !term.ends_with(") < 2147483648"))
      kept.push_back(term);
  if (kept.size() != terms.size())
    kept.push_back("each operand has fewer than 2^31 elements");
  return llvm::join(kept, " and ");
}

void tilewright::explainCode(const CompiledProgram &program,
                             ProgramExplanation &into) {
  for (const CompiledKernel &compiled : program.kernels)
    for (ExplainedKernel &kernel : into.kernels) {
      if (kernel.name != compiled.dispatch)
        continue;
      const llvm::json::Object &description = compiled.description;
      ExplainedVariant &variant = kernel.variants.emplace_back();
      variant.program = compiled.program;
      variant.kernel = compiled.kernel;
      variant.name = compiled.code.entry;
      if (const llvm::json::Value *guard = description.get("guard"))
        variant.guard = shortGuard(*guard);
      for (auto [key, text] : {std::pair("grid", &variant.grid),
                               std::pair("block", &variant.block)})
        if (const llvm::json::Array *extents = description.getArray(key))
          for (const llvm::json::Value &extent : *extents)
            *text += (text->empty() ? "" : ", ") + expressionText(extent);
      variant.language = getExtension(compiled.code.kind).str();
      variant.codeBytes = compiled.code.bytes.size();
      variant.sharedBytes = compiled.sharedBytes;
      variant.planned = compiled.planned;
      variant.config = description.getString("config").value_or("").str();
      variant.lines = compiled.code.explanation;
    }
}
