// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over a kernel, and the parts that values are kept as. See the header
// for the idea.

#include "KernelEmitter.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

KernelEmitter::KernelEmitter(func::FuncOp kernel, TargetAttr target)
    : kernel(kernel), target(target),
      version(llvm::StringSwitch<int64_t>(target.getText("version"))
                  .Case("1.1", 11)
                  .Case("1.2", 12)
                  .Default(13)),
      b(kernel.getContext()), top(kernel.getContext()), loc(kernel.getLoc()) {
  index64 = getIndexBits(kernel) == 64;
  contractAllowed = false;
  for (Operation *op = kernel; op; op = op->getParentOp())
    if (auto fp = op->getAttrOfType<ArrayAttr>(kFpAttr)) {
      contractAllowed = llvm::is_contained(fp, b.getStringAttr("contract"));
      break;
    }
}

FailureOr<spirv::ModuleOp> KernelEmitter::emit() {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitOpError("has unstructured control flow, which SPIR-V "
                              "targets do not take; use scf ops");
  if (kernel.getNumResults())
    return kernel.emitOpError("returns values; a kernel in thread form writes "
                              "its results to memory");

  b.setInsertionPoint(kernel);
  module = spirv::ModuleOp::create(b, loc, spirv::AddressingModel::Logical,
                                   spirv::MemoryModel::GLSL450, std::nullopt,
                                   kernel.getName());

  b.setInsertionPointToEnd(module.getBody());
  function = spirv::FuncOp::create(b, loc, kernel.getName(),
                                   b.getFunctionType({}, {}));
  // What packaging needs to know about the kernel stays readable.
  for (NamedAttribute attr : kernel->getDiscardableAttrs())
    function->setDiscardableAttr(attr.getName(), attr.getValue());
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  spirv::ReturnOp::create(b, loc);
  // `top` stays before this mark, `b` behind it.
  Operation *mark = spirv::UndefOp::create(top, loc, top.getI32Type());
  entry->push_front(mark);
  top.setInsertionPoint(mark);
  b.setInsertionPointAfter(mark);

  chooseSigns();
  LogicalResult result = declareArguments();
  if (succeeded(result)) {
    declareShared();
    result = emitBody(kernel.getBody().front());
  }
  if (succeeded(result)) {
    eraseUnused();
    result = declareEntryPoint();
  }
  if (failed(result)) {
    module.erase();
    return failure();
  }
  return module;
}

LogicalResult KernelEmitter::emitBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)))
      return failure();
  return success();
}

LogicalResult KernelEmitter::emitOp(Operation *op) {
  loc = op->getLoc();
  if (auto poison = dyn_cast<ub::PoisonOp>(op)) {
    SmallVector<Type> types;
    if (failed(appendPartTypes(op, poison.getType(), types)))
      return failure();
    Parts undefined;
    for (Type type : types)
      undefined.push_back(make<spirv::UndefOp>(type));
    setParts(poison.getResult(), undefined);
    return success();
  }
  if (auto cst = dyn_cast<arith::ConstantOp>(op)) {
    SmallVector<Type> types;
    if (failed(appendPartTypes(op, cst.getType(), types)))
      return failure();
    Parts result;
    if (isFragment(cst.getType())) {
      auto dense = dyn_cast<SplatElementsAttr>(cst.getValue());
      if (!dense)
        return op->emitOpError("is a fragment of different elements");
      result.push_back(splatFragment(
          types.front(),
          constant(cast<TypedAttr>(dense.getSplatValue<Attribute>()))));
    } else if (auto dense = dyn_cast<DenseElementsAttr>(cst.getValue())) {
      for (Attribute element : dense.getValues<Attribute>())
        result.push_back(constantPart(cast<TypedAttr>(element)));
    } else if (isa<IntegerAttr, FloatAttr>(cst.getValue())) {
      result.push_back(constantPart(cast<TypedAttr>(cst.getValue())));
    }
    if (result.size() != types.size() || llvm::is_contained(result, Value()))
      return op->emitOpError("has a value that SPIR-V kernels cannot hold; "
                             "indices have ")
             << (index64 ? 64 : 32) << " bits";
    setParts(cst.getResult(), result);
    return success();
  }

  using Emit = Outcome (KernelEmitter::*)(Operation *);
  for (Emit emit : {&KernelEmitter::emitControl, &KernelEmitter::emitFragment,
                    &KernelEmitter::emitMemory, &KernelEmitter::emitVector,
                    &KernelEmitter::emitSubgroup,
                    &KernelEmitter::emitElementwise}) {
    Outcome outcome = (this->*emit)(op);
    if (outcome != Outcome::Unknown)
      return success(outcome == Outcome::Done);
  }
  if (isa<MmaFragmentOp>(op))
    return op->emitOpError("has no counterpart on registers in Vulkan, whose "
                           "matrix units work on cooperative matrices; choose "
                           "another strategy than matrix_unit for this target");
  return op->emitOpError("is not thread form, or has no counterpart in SPIR-V; "
                         "expand it before tilewright-convert-to-spirv");
}

/// Ops are pure or kept; one backward walk erases chains of unused ones.
void KernelEmitter::eraseUnused() {
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && op->getNumResults() && !op->getNumRegions() &&
        (isPure(op) || isa<spirv::LoadOp>(op)))
      op->erase();
}

//===----------------------------------------------------------------------===//
// Types and parts
//===----------------------------------------------------------------------===//

Type KernelEmitter::indexType() const {
  return IntegerType::get(target.getContext(), index64 ? 64 : 32);
}

Type KernelEmitter::registerType(Type type) const {
  if (type.isIndex())
    return indexType();
  if (type.isBF16())
    return IntegerType::get(target.getContext(), 16);
  if (auto small = dyn_cast<FloatType>(type); small && small.getWidth() == 8)
    return IntegerType::get(target.getContext(), 8);
  if (isa<Float16Type, Float32Type, Float64Type>(type))
    return type;
  if (auto integer = dyn_cast<IntegerType>(type);
      integer && integer.isSignless() &&
      llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth()))
    return type;
  return {};
}

int64_t KernelEmitter::numElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && !isFragment(type) ? vector.getNumElements() : 1;
}

LogicalResult KernelEmitter::appendPartTypes(Operation *op, Type type,
                                             SmallVectorImpl<Type> &types) {
  if (isFragment(type)) {
    types.push_back(fragmentType(type, spirv::CooperativeMatrixUseKHR::MatrixAcc));
    return success();
  }
  auto vector = dyn_cast<VectorType>(type);
  Type scalar = registerType(vector ? vector.getElementType() : type);
  bool plain = !vector || (!vector.isScalable() && vector.getRank() == 1 &&
                           vector.getNumElements() <= 16);
  if (!scalar || !plain)
    return op->emitOpError("has a value of type ")
           << type
           << ", which SPIR-V kernels cannot hold: thread form has scalars, "
              "and vectors of rank 1 with up to 16 elements";
  types.append(numElements(type), scalar);
  return success();
}

Parts KernelEmitter::parts(Value value) const { return values.lookup(value); }

Parts KernelEmitter::parts(ValueRange list) const {
  Parts all;
  for (Value value : list)
    all.append(parts(value));
  return all;
}

void KernelEmitter::setParts(Value value, ArrayRef<Value> parts) {
  values[value].assign(parts.begin(), parts.end());
}

void KernelEmitter::setParts(ValueRange results, ArrayRef<Value> all) {
  for (Value result : results) {
    int64_t count = numElements(result.getType());
    setParts(result, all.take_front(count));
    all = all.drop_front(count);
  }
}

//===----------------------------------------------------------------------===//
// Constants and composites
//===----------------------------------------------------------------------===//

Value KernelEmitter::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known)
    known =
        spirv::ConstantOp::create(top, kernel.getLoc(), value.getType(), value);
  return known;
}

Value KernelEmitter::constant(Type type, int64_t value) {
  if (type.isInteger(1))
    return constant(b.getBoolAttr(value != 0));
  unsigned width = type.getIntOrFloatBitWidth();
  return constant(
      b.getIntegerAttr(type, APInt(64, value, true).sextOrTrunc(width)));
}

Value KernelEmitter::constantFloat(Type type, double value) {
  return constant(b.getFloatAttr(type, value));
}

Value KernelEmitter::constantPart(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    Type type = registerType(number.getType());
    if (type == number.getType())
      return constant(value);
    return constant(b.getIntegerAttr(type, number.getValue().bitcastToAPInt()));
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer)
    return {};
  if (!integer.getType().isIndex())
    return constant(integer);
  APInt bits = integer.getValue();
  unsigned width = index64 ? 64 : 32;
  if (!bits.isSignedIntN(width))
    return {};
  return constant(b.getIntegerAttr(indexType(), bits.sextOrTrunc(width)));
}

Value KernelEmitter::bitcast(Value value, Type type) {
  if (auto inner = value.getDefiningOp<spirv::BitcastOp>())
    value = inner.getOperand();
  return value.getType() == type ? value : make<spirv::BitcastOp>(type, value);
}

Value KernelEmitter::extract(Value composite, int32_t index) {
  if (auto made = composite.getDefiningOp<spirv::CompositeConstructOp>())
    if (made.getConstituents().size() ==
        static_cast<size_t>(numElements(made.getType())))
      return made.getConstituents()[index];
  return make<spirv::CompositeExtractOp>(composite, ArrayRef<int32_t>(index));
}

Value KernelEmitter::construct(Type type, ValueRange elements) {
  // The elements of a vector in their order are that vector.
  Value whole;
  for (auto [i, element] : llvm::enumerate(elements)) {
    auto taken = element.getDefiningOp<spirv::CompositeExtractOp>();
    if (!taken || taken.getComposite().getType() != type ||
        taken.getIndices().size() != 1 ||
        cast<IntegerAttr>(taken.getIndices()[0]).getInt() !=
            static_cast<int64_t>(i) ||
        (whole && whole != taken.getComposite())) {
      whole = {};
      break;
    }
    whole = taken.getComposite();
  }
  return whole ? whole : make<spirv::CompositeConstructOp>(type, elements);
}

Parts KernelEmitter::toWords(ArrayRef<Value> list) {
  Type word = b.getI32Type();
  unsigned width = list.front().getType().getIntOrFloatBitWidth();
  Parts words;
  if (width == 64) {
    for (Value value : list) {
      Value pair = bitcast(value, VectorType::get(2, word));
      words.append({extract(pair, 0), extract(pair, 1)});
    }
    return words;
  }
  unsigned perWord = 32 / width;
  for (; !list.empty(); list = list.drop_front(perWord)) {
    Value value = list.front();
    if (perWord > 1)
      value = construct(VectorType::get(perWord, value.getType()),
                        list.take_front(perWord));
    words.push_back(bitcast(value, word));
  }
  return words;
}

Parts KernelEmitter::fromWords(ArrayRef<Value> words, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  Parts result;
  if (width == 64) {
    for (; !words.empty(); words = words.drop_front(2))
      result.push_back(bitcast(
          construct(VectorType::get(2, b.getI32Type()), words.take_front(2)),
          type));
    return result;
  }
  unsigned perWord = 32 / width;
  for (Value word : words) {
    if (perWord == 1) {
      result.push_back(bitcast(word, type));
      continue;
    }
    Value vector = bitcast(word, VectorType::get(perWord, type));
    for (unsigned i = 0; i < perWord; ++i)
      result.push_back(extract(vector, i));
  }
  return result;
}

Value KernelEmitter::select(Value c, Value t, Value f) {
  return t == f ? t : make<spirv::SelectOp>(c, t, f);
}
