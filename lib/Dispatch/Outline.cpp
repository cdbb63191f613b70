// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a group into a kernel and a dispatch.
//
//   %z = linalg.fill ins(%zero) outs(%e)
//   %m = linalg.generic <matmul> ins(%x, %w) outs(%z)
//   %r = linalg.generic <bias> ins(%m, %b) outs(%e)
// becomes
//   %r = tilewright.dispatch @f_matmul_0(%x, %w, %b) outs(%e)
//
//   func.func private @f_matmul_0(%x, %w, %b, %out) -> tensor<…>
//       attributes {tilewright.kernel, tilewright.access = ["read", "read",
//                   "read", "write"]} { fill into %out; matmul; bias into %out }
//
// Arguments are the tensors that members read, in the order of reading, then
// the scalars that bodies capture and where padded tensors have elements
// (`tilewright.padding`), then one destination per result that is used outside. Intermediate tensors start from a destination of the same shape or
// from a tensor.empty sized by the arguments; they are shapes, not memory.

#include "Kernels.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// What the kernel takes and gives.
struct Signature {
  llvm::SetVector<Value> tensors;
  llvm::SetVector<Value> scalars;
  /// Of each tensor, where it is padded; empty where none is.
  SmallVector<std::optional<PaddedView>> padding;
  SmallVector<OpResult> results;
  /// Host value and access of each result's destination.
  SmallVector<Value> destinations;
  SmallVector<StringRef> destinationAccess;
};
} // namespace

/// The fill that initialises `init`, which every kernel repeats, or null.
static linalg::FillOp initialFill(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  return fill && isOnlyInit(fill) ? fill : linalg::FillOp();
}

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

/// A new uninitialised tensor of `value`'s shape, at the insertion point.
static Value createDestination(OpBuilder &b, Location loc, Value value) {
  // Shapes are those of what the chain of inits starts from.
  while (Operation *op = value.getDefiningOp()) {
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      return tensor::EmptyOp::create(b, loc, empty.getType(),
                                     empty.getDynamicSizes());
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured || value.getType() !=
                           structured.getDpsInitOperand(
                               cast<OpResult>(value).getResultNumber())
                               ->get().getType())
      break;
    value = structured.getDpsInitOperand(
        cast<OpResult>(value).getResultNumber())->get();
  }
  return createEmptyLike(b, loc, value);
}

static Signature findSignature(OpBuilder &b, const Group &group) {
  Signature signature;
  auto addInput = [&](Value value) {
    if (value.getDefiningOp() && group.contains(value.getDefiningOp()))
      return;
    if (auto pick = value.getDefiningOp<PickOp>()) {
      signature.tensors.insert(value);
      signature.tensors.insert(pick.getTable());
    } else if (isa<RankedTensorType>(value.getType()))
      signature.tensors.insert(bytesOf(value));
    else if (!isConstant(value))
      signature.scalars.insert(value);
  };
  auto isUsedOutside = [&](OpResult result) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      return !group.contains(user);
    });
  };
  for (linalg::LinalgOp op : group.ops) {
    for (Value input : op.getDpsInputs())
      addInput(input);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      OpResult result = op.getTiedOpResult(&init);
      bool outside = readsOutsideInit(op, init);
      if (isUsedOutside(result)) {
        signature.results.push_back(result);
        signature.destinations.push_back(
            outside ? init.get()
                    : createDestination(b, op.getLoc(), init.get()));
        signature.destinationAccess.push_back(outside ? "readwrite" : "write");
      } else if (outside) {
        addInput(init.get());
      }
      if (linalg::FillOp fill = initialFill(init.get()))
        addInput(fill.value());
    }
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      addInput(value);
  }
  for (Value tensor : signature.tensors) {
    signature.padding.emplace_back();
    if (!getPad(tensor))
      continue;
    signature.padding.back() = describePadding(b, tensor);
    for (Value symbol : signature.padding.back()->symbols)
      signature.scalars.insert(symbol);
  }
  return signature;
}

/// The attribute that says of a kernel's arguments where they are padded.
static void setPadding(func::FuncOp kernel, const Signature &signature) {
  Builder b(kernel.getContext());
  SmallVector<Attribute> entries;
  bool any = false;
  for (const std::optional<PaddedView> &padding : signature.padding) {
    if (!padding) {
      entries.push_back(b.getUnitAttr());
      continue;
    }
    SmallVector<int64_t> symbols;
    for (Value symbol : padding->symbols)
      symbols.push_back(signature.tensors.size() +
                        (llvm::find(signature.scalars, symbol) -
                         signature.scalars.begin()));
    entries.push_back(makePadding(padding->inside, symbols, padding->fill));
    any = true;
  }
  entries.append(signature.results.size(), b.getUnitAttr());
  if (any)
    kernel->setAttr(kPaddingAttr, b.getArrayAttr(entries));
}

/// The attribute that says whose matrices a table names.
static void setPicks(func::FuncOp kernel, const Signature &signature) {
  SmallVector<Attribute> entries;
  auto numberOf = [&](Value tensor) {
    return llvm::find(signature.tensors, tensor) - signature.tensors.begin();
  };
  for (Value tensor : signature.tensors)
    if (auto pick = tensor.getDefiningOp<PickOp>())
      entries.push_back(makePick(kernel.getContext(), numberOf(tensor), numberOf(pick.getTable()),
                                 pick.getSourceType().getDimSize(0)));
  if (!entries.empty())
    kernel->setAttr(kPicksAttr, ArrayAttr::get(kernel.getContext(), entries));
}

namespace {
/// Builds the body of one kernel.
class BodyBuilder {
public:
  BodyBuilder(OpBuilder &b, const Group &group, const Signature &signature,
              func::FuncOp kernel)
      : b(b), group(group), signature(signature) {
    unsigned argument = 0;
    auto nextArgument = [&] { return kernel.getArgument(argument++); };
    for (Value value : signature.tensors)
      recordInput(value, nextArgument());
    for (Value value : signature.scalars)
      mapping.map(value, nextArgument());
    for (OpResult result : signature.results)
      destinations[result] = nextArgument();
    for (OpResult result : signature.results)
      recordDims(result, destinations.lookup(result));
  }

  void build() {
    Location end = b.getUnknownLoc();
    for (linalg::LinalgOp op : group.ops) {
      unpackInputs(op);
      cloneOp(op);
      end = op.getLoc();
    }
    SmallVector<Value> results;
    for (OpResult result : signature.results)
      results.push_back(mapping.lookup(result));
    func::ReturnOp::create(b, end, results);
  }

private:
  OpBuilder &b;
  const Group &group;
  const Signature &signature;
  IRMapping mapping;
  llvm::DenseMap<Value, Value> destinations;
  /// For each loop of the group an argument and a dim that has its extent.
  llvm::DenseMap<unsigned, std::pair<Value, int64_t>> extents;

  void recordDims(Value original, Value argument) {
    auto known = group.dims.find(original);
    if (known == group.dims.end())
      return;
    for (auto [dim, loop] : llvm::enumerate(known->second))
      if (dim || !original.getDefiningOp<PickOp>()) // its first dim is not that of memory
        extents.try_emplace(loop, argument, int64_t(dim));
  }

  void recordInput(Value original, Value argument) {
    mapping.map(original, argument);
    recordDims(original, argument);
  }

  /// Constants are repeated in the kernel.
  Value lookup(Value value) {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    if (!isConstant(value))
      return value;
    Operation *constant = b.clone(*value.getDefiningOp());
    Value copy = constant->getResult(cast<OpResult>(value).getResultNumber());
    mapping.map(value, copy);
    return copy;
  }

  /// What a result that nothing reads before it is written starts from.
  Value startOf(OpResult result, Location loc) {
    if (Value destination = destinations.lookup(result))
      return destination;
    const SmallVector<unsigned> &dims = group.dims.find(result)->second;
    for (OpResult other : signature.results)
      if (other.getType() == result.getType() &&
          group.dims.find(other)->second == dims)
        return destinations.lookup(other);
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> sizes;
    for (auto [dim, loop] : llvm::enumerate(dims))
      if (type.isDynamicDim(dim)) {
        auto [argument, position] = extents.lookup(loop);
        sizes.push_back(tensor::DimOp::create(b, loc, argument, position));
      }
    return tensor::EmptyOp::create(b, loc, type, sizes);
  }

  Value startValue(linalg::LinalgOp op, OpOperand &init) {
    OpResult result = op.getTiedOpResult(&init);
    if (readsOutsideInit(op, init)) {
      Value destination = destinations.lookup(result);
      return destination ? destination : lookup(init.get());
    }
    Value start = startOf(result, op.getLoc());
    linalg::FillOp fill = initialFill(init.get());
    if (!fill)
      return start;
    return linalg::FillOp::create(b, fill.getLoc(), lookup(fill.value()), start)
        .getResult(0);
  }

  /// What is unpacked is unpacked in the kernel.
  void unpackInputs(linalg::LinalgOp op) {
    for (Value input : op.getDpsInputs())
      if (auto unpack = input.getDefiningOp<UnpackOp>();
          unpack && !mapping.contains(input))
        b.clone(*unpack, mapping);
  }

  void cloneOp(linalg::LinalgOp op) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(op.isDpsInit(&operand) ? startValue(op, operand)
                                                : lookup(operand.get()));
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      (void)lookup(value);
    Operation *copy = b.clone(*op, mapping);
    copy->setOperands(operands);
    for (auto [old, fresh] :
         llvm::zip_equal(op->getResults(), copy->getResults()))
      mapping.map(old, fresh);
  }
};
} // namespace

func::FuncOp tilewright::outlineGroup(RewriterBase &rewriter,
                                      const Group &group, StringRef name,
                                      SymbolTable &symbols) {
  Operation *last = group.ops.back();
  Location loc = last->getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(last);
  Signature signature = findSignature(rewriter, group);

  func::FuncOp kernel;
  if (!signature.results.empty()) {
    SmallVector<Value> inputs(signature.tensors.getArrayRef());
    llvm::append_range(inputs, signature.scalars);
    SmallVector<Type> results;
    SmallVector<Attribute> access(signature.tensors.size(),
                                  rewriter.getStringAttr("read"));
    for (auto [result, how] :
         llvm::zip_equal(signature.results, signature.destinationAccess)) {
      results.push_back(result.getType());
      access.push_back(rewriter.getStringAttr(how));
    }
    kernel = createKernel(symbols, loc, name, inputs, results, access);
    setPadding(kernel, signature);
    setPicks(kernel, signature);
    auto dispatch = DispatchOp::create(
        rewriter, loc, results, kernel.getSymName(), inputs,
        signature.destinations);
    for (auto [old, fresh] :
         llvm::zip_equal(signature.results, dispatch.getResults()))
      rewriter.replaceUsesWithIf(old, fresh, [&](OpOperand &use) {
        return !group.contains(use.getOwner());
      });
    OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
    BodyBuilder(body, group, signature, kernel).build();
  }
  for (linalg::LinalgOp op : llvm::reverse(group.ops))
    rewriter.eraseOp(op);
  return kernel;
}
