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
static std::string describeLayout(linalg::LinalgOp root) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  for (auto [position, map] : llvm::enumerate(maps)) {
    if (position)
      os << (position == size_t(root.getNumDpsInputs()) ? "->" : ",");
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

static std::string describeTypes(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](TypeRange types) {
    llvm::interleave(
        types, os, [&](Type type) { os << getElementTypeOrSelf(type); }, ",");
  };
  print(kernel.getArgumentTypes());
  os << "->";
  print(kernel.getResultTypes());
  return text;
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
  if (info.kernel->hasAttr(kVariantOfAttr) &&
      (info.kernel->hasAttr(kDivisibleAttr) || info.kernel->hasAttr(kAlignedAttr)))
    promises.push_back("aligned");
  return llvm::join(promises, ",");
}

DictionaryAttr tilewright::describeProblem(const KernelInfo &info) {
  Builder b(info.root->getContext());
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, const std::string &value) {
    if (!value.empty())
      entries.push_back(b.getNamedAttr(name, b.getStringAttr(value)));
  };
  SmallVector<std::string> fused;
  for (linalg::LinalgOp op : info.ops)
    if (op != info.root && !isa<linalg::FillOp>(op.getOperation()))
      fused.push_back(describeBody(op));
  std::string allowed;
  auto program = info.kernel->getParentOfType<ModuleOp>();
  if (auto fp = program->getAttrOfType<ArrayAttr>(kFpAttr))
    allowed = llvm::join(
        llvm::map_range(fp.getAsRange<StringAttr>(),
                        [](StringAttr flag) { return flag.getValue(); }),
        ",");
  add("op", describeBody(info.root));
  add("layout", describeLayout(info.root));
  add("types", describeTypes(info.kernel));
  add("fused", llvm::join(fused, ";"));
  add("fp", allowed);
  add("guard", describeGuard(info));
  return b.getDictionaryAttr(entries);
}

SmallVector<int64_t> tilewright::describeShape(const KernelInfo &info) {
  SmallVector<int64_t> shape;
  for (unsigned number : info.getClasses(info.root)) {
    int64_t extent = info.classes[number].extent;
    shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  }
  return shape;
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

std::optional<TunedConfig> tilewright::findTuned(const KernelInfo &info) {
  auto program = info.kernel->getParentOfType<ModuleOp>();
  auto records = program->getAttrOfType<ArrayAttr>(kTuningAttr);
  if (!records)
    return std::nullopt;
  DictionaryAttr problem = describeProblem(info), nearest;
  SmallVector<int64_t> shape = describeShape(info);
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
