// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of measured configs, by problem and shape; see Tuning.h.

#include "tilewright/Configure/Tuning.h"
#include "tilewright/Configure/Pins.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// "mulf,addf"; the region's terminator and what it reads of the loops are no
/// part.
static std::string describeBody(linalg::LinalgOp op) {
  SmallVector<StringRef> names;
  for (Operation &inner : op.getBlock()->without_terminator())
    names.push_back(inner.getName().stripDialect());
  return names.empty() ? "copy" : llvm::join(names, ",");
}

/// "ac,cb->ab": a map that is more than loops is written out.
static std::string describeLayout(ArrayRef<AffineMap> maps, size_t numInputs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [position, map] : llvm::enumerate(maps)) {
    if (position)
      os << (position == numInputs ? "->" : ",");
    bool onlyLoops = llvm::all_of(map.getResults(), [](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return dim && dim.getPosition() < 26;
    });
    if (!onlyLoops) {
      os << map;
      continue;
    }
    for (AffineExpr expr : map.getResults())
      os << char('a' + cast<AffineDimExpr>(expr).getPosition());
  }
  return text;
}

static std::string describeTypes(TypeRange operands, TypeRange results) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](TypeRange types) {
    llvm::interleave(
        types, os, [&](Type type) { os << getElementTypeOrSelf(type); }, ",");
  };
  print(operands);
  os << "->";
  print(results);
  return text;
}

/// What --fp allows in the kernel's program.
static std::string describeAllowed(func::FuncOp kernel) {
  auto fp = kernel->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(kFpAttr);
  if (!fp)
    return "";
  return llvm::join(llvm::map_range(fp.getAsRange<StringAttr>(),
                                    [](StringAttr flag) { return flag.getValue(); }),
                    ",");
}

/// The entries that say something.
static DictionaryAttr describe(MLIRContext *context,
                               ArrayRef<std::pair<StringRef, std::string>> entries) {
  Builder b(context);
  SmallVector<NamedAttribute> named;
  for (const auto &[name, value] : entries)
    if (!value.empty())
      named.push_back(b.getNamedAttr(name, b.getStringAttr(value)));
  return b.getDictionaryAttr(named);
}

/// A variant behind a guard of sizes or addresses.
static bool isAligned(func::FuncOp kernel) {
  return kernel->hasAttr(kVariantOfAttr) &&
         (kernel->hasAttr(kDivisibleAttr) || kernel->hasAttr(kAlignedAttr));
}

/// "a<=16,aligned": what a variant's guard promises. A config that is best behind it
/// says nothing of the other variants.
static std::string describeGuard(const KernelInfo &info) {
  SmallVector<std::string> promises;
  linalg::LinalgOp root = info.root;
  for (auto [loop, extent, promised] :
       llvm::enumerate(root.getStaticLoopRanges(), promisedExtents(root)))
    if (extent != promised)
      promises.push_back(std::string(1, char('a' + loop)) + "<=" + std::to_string(promised));
  if (isAligned(info.kernel))
    promises.push_back("aligned");
  return llvm::join(promises, ",");
}

DictionaryAttr tilewright::describeProblem(const KernelInfo &info) {
  linalg::LinalgOp root = info.root;
  func::FuncOp kernel = info.kernel;
  SmallVector<std::string> fused;
  for (linalg::LinalgOp op : info.ops)
    if (op != root && !isa<linalg::FillOp>(op.getOperation()))
      fused.push_back(describeBody(op));
  return describe(
      kernel.getContext(),
      {{"op", describeBody(root)},
       {"layout", describeLayout(root.getIndexingMapsArray(), root.getNumDpsInputs())},
       {"types", describeTypes(kernel.getArgumentTypes(), kernel.getResultTypes())},
       {"fused", llvm::join(fused, ";")},
       {"fp", describeAllowed(kernel)},
       {"guard", describeGuard(info)}});
}

DictionaryAttr tilewright::describeProblem(AttentionOp op) {
  SmallVector<AffineMap> maps;
  for (Attribute map : op.getIndexingMaps())
    maps.push_back(cast<AffineMapAttr>(map).getValue());
  SmallVector<std::string> sees;
  if (op.getCausal())
    sees.push_back(op.getCausal()->str());
  if (op.getWindow())
    sees.push_back("window " + std::to_string((*op.getWindow())[0]) + "," +
                   std::to_string((*op.getWindow())[1]));
  if (op.getSoftcapValue() != 0)
    sees.push_back("softcap");
  auto kernel = op->getParentOfType<func::FuncOp>();
  SmallVector<int64_t> extents = op.getLoopExtents();
  TypeRange inputs = TypeRange(op->getOperands()).drop_back(op.getOutputs().size());
  return describe(
      op.getContext(),
      {{"op", "attention"},
       {"layout", describeLayout(maps, inputs.size())},
       {"types", describeTypes(inputs, op->getResultTypes())},
       {"depth", std::to_string(extents[op.getDepthLoop()]) + "," +
                     std::to_string(extents[op.getColumnLoop()])},
       {"sees", llvm::join(sees, ",")},
       {"parts", op.getNumKeyParts() == 1 ? "" : std::to_string(op.getNumKeyParts())},
       {"fp", describeAllowed(kernel)},
       {"guard", isAligned(kernel) ? "aligned" : ""}});
}

SmallVector<int64_t> tilewright::describeShape(const KernelInfo &info) {
  SmallVector<int64_t> shape;
  for (unsigned number : info.getClasses(info.root)) {
    int64_t extent = info.classes[number].extent;
    shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  }
  return shape;
}

SmallVector<int64_t> tilewright::describeShape(AttentionOp op) {
  SmallVector<int64_t> shape = op.getLoopExtents();
  for (int64_t &extent : shape)
    extent = ShapedType::isDynamic(extent) ? -1 : extent;
  return shape;
}

void tilewright::recordProblem(func::FuncOp kernel, DictionaryAttr problem,
                               ArrayRef<int64_t> shape) {
  Builder b(kernel.getContext());
  kernel->setAttr(kProblemAttr, b.getDictionaryAttr(
                                    {b.getNamedAttr("problem", problem),
                                     b.getNamedAttr("shape", b.getDenseI64ArrayAttr(shape))}));
}

/// How far a shape is from another; nothing where one says nothing of the
/// other.
static std::optional<double> distance(ArrayRef<int64_t> one,
                                      ArrayRef<int64_t> other) {
  if (one.size() != other.size())
    return std::nullopt;
  double sum = 0;
  for (auto [a, b] : llvm::zip_equal(one, other)) {
    if (a == b)
      continue;
    if (a <= 1 || b <= 1 || (a % 8 == 0) != (b % 8 == 0))
      return std::nullopt;
    double ratio = std::abs(std::log2(double(a) / double(b)));
    if (ratio > 1)
      return std::nullopt;
    sum += ratio;
  }
  return sum;
}

std::optional<TunedConfig> tilewright::findTuned(func::FuncOp kernel,
                                                 DictionaryAttr problem,
                                                 ArrayRef<int64_t> shape) {
  auto program = kernel->getParentOfType<ModuleOp>();
  auto records = program->getAttrOfType<ArrayAttr>(kTuningAttr);
  if (!records)
    return std::nullopt;
  DictionaryAttr nearest;
  double least = 0;
  for (auto record : records.getAsRange<DictionaryAttr>()) {
    if (record.get("problem") != problem)
      continue;
    std::optional<double> far =
        distance(shape, record.getAs<DenseI64ArrayAttr>("shape").asArrayRef());
    if (far && (!nearest || *far < least)) {
      nearest = record;
      least = *far;
    }
  }
  if (!nearest)
    return std::nullopt;
  TunedConfig found;
  found.config = nearest.get("config");
  llvm::raw_string_ostream os(found.source);
  os << "record " << nearest.getAs<IntegerAttr>("record").getInt();
  if (least == 0) {
    os << ", of this shape";
    return found;
  }
  os << ", of the nearest shape ";
  llvm::interleave(nearest.getAs<DenseI64ArrayAttr>("shape").asArrayRef(), os,
                   "x");
  return found;
}

void tilewright::resolveTuning(ModuleOp program, StringRef target) {
  auto records = program->getAttrOfType<ArrayAttr>(kTuningAttr);
  if (!records)
    return;
  StringRef name = program.getName().value_or("");
  SmallVector<Attribute> own;
  for (auto record : records.getAsRange<DictionaryAttr>()) {
    StringRef wanted = record.getAs<StringAttr>("target").getValue();
    if (wanted == name || wanted == target)
      own.push_back(record);
  }
  if (own.empty())
    program->removeAttr(kTuningAttr);
  else
    program->setAttr(kTuningAttr, ArrayAttr::get(program.getContext(), own));
}
