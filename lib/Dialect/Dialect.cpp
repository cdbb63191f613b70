// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the dialect, and the checks on its discardable attributes.

#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Combiners.h"
#include "tilewright/Dialect/Fourier.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/Tuning.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

#include "tilewright/Dialect/TilewrightDialect.cpp.inc"
#include "tilewright/Dialect/TilewrightEnums.cpp.inc"

void TilewrightDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/TilewrightOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/AttentionOp.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/ClusterOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/FourierOp.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/IrregularOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/PackedOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/PickOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/Dialect/RingOps.cpp.inc"
      >();
}

static bool isTuningRecord(Attribute attr) {
  auto record = dyn_cast<DictionaryAttr>(attr);
  return record && record.getAs<StringAttr>("target") && record.getAs<IntegerAttr>("record") &&
         record.getAs<DictionaryAttr>("problem") &&
         record.getAs<DenseI64ArrayAttr>("shape") &&
         isa_and_present<LoweringConfigAttr, StringAttr>(record.get("config"));
}

LogicalResult TilewrightDialect::verifyOperationAttribute(Operation *op,
                                                          NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kTargetAttr && !isa<TargetAttr>(attr.getValue()))
    return op->emitOpError() << "'" << name << "' must be #tilewright.target";
  auto byTarget = dyn_cast<DictionaryAttr>(attr.getValue());
  if (name == kConfigAttr && !isa<LoweringConfigAttr>(attr.getValue()) &&
      (!byTarget || !llvm::all_of(byTarget, [](NamedAttribute entry) {
         return isa<LoweringConfigAttr>(entry.getValue());
       })))
    return op->emitOpError()
           << "'" << name << "' must be #tilewright.lowering_config, or a dictionary "
           << "of them by target";
  if (name == kLaunchAttr && !isa<LaunchAttr>(attr.getValue()))
    return op->emitOpError() << "'" << name << "' must be #tilewright.launch";
  if (name == kAssociativeAttr) {
    if (!llvm::is_contained({"linalg.generic", "linalg.reduce"},
                            op->getName().getStringRef()))
      return op->emitOpError() << "'" << name
                               << "' belongs on a linalg.generic or linalg.reduce";
    auto identity = dyn_cast<ArrayAttr>(attr.getValue());
    if (!isa<UnitAttr>(attr.getValue()) &&
        (!identity || !llvm::all_of(identity, llvm::IsaPred<FloatAttr, IntegerAttr>)))
      return op->emitOpError() << "'" << name << "' must be an array of constants, the "
                               << "identity of each result, or unit";
    if (identity && identity.size() != op->getNumResults() && op->getNumResults())
      return op->emitOpError() << "'" << name << "' has " << identity.size()
                               << " constants for " << op->getNumResults() << " results";
  }
  if (name == kTuningAttr) {
    auto records = dyn_cast<ArrayAttr>(attr.getValue());
    if (!records || !llvm::all_of(records, isTuningRecord))
      return op->emitOpError() << "'" << name << "' must be an array of records: dictionaries of "
                               << "'target', 'record', 'problem', 'shape' and 'config'";
  }
  if (name == kKernelAttr && !isa<FunctionOpInterface>(op))
    return op->emitOpError() << "'" << name << "' belongs on a function";
  return success();
}

TargetAttr tilewright::getTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(kTargetAttr))
      return target;
  return {};
}

int64_t tilewright::getIndexBits(FunctionOpInterface kernel) {
  if (auto bits = kernel->getAttrOfType<IntegerAttr>(kIndexBitsAttr))
    return bits.getInt();
  TargetAttr target = getTarget(kernel);
  return target ? target.getFact("index_bits", 32) : 32;
}

void tilewright::addExplanation(Operation *function, const Twine &line) {
  SmallVector<Attribute> lines;
  if (auto known = function->getAttrOfType<ArrayAttr>(kExplainAttr))
    llvm::append_range(lines, known);
  auto text = StringAttr::get(function->getContext(), line);
  if (llvm::is_contained(lines, text))
    return;
  lines.push_back(text);
  function->setAttr(kExplainAttr, ArrayAttr::get(function->getContext(), lines));
}
