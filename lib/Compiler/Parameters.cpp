// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants in parameter files; see Parameters.h. The file is read by the runtime's
// reader.

#include "Parameters.h"

#include "core/parameters.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Host/Host.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace tilewright;


static StringRef getName(ElementsAttr constant) {
  return cast<DenseResourceElementsAttr>(constant).getRawHandle().getKey();
}

LogicalResult Parameters::read(ModuleOp module, StringRef name,
                               StringRef chosen) {
  llvm::MapVector<DenseResourceElementsAttr, Operation *> found;
  WalkResult onlyConstants = module.walk([&](Operation *op) {
    WalkResult inAttributes = op->getAttrDictionary().walk(
        [&](DenseResourceElementsAttr attr) {
          if (!isParameter(attr))
            return WalkResult::advance();
          found.insert({attr, op});
          if (isa<arith::ConstantOp>(op) &&
              isa<RankedTensorType>(op->getResult(0).getType()))
            return WalkResult::advance();
          op->emitOpError() << "has parameter '" << getName(attr)
                            << "'; parameters are tensors of arith.constant";
          return WalkResult::interrupt();
        });
    return inAttributes.wasInterrupted() ? WalkResult::interrupt()
                                         : WalkResult::advance();
  });
  if (onlyConstants.wasInterrupted())
    return failure();
  if (found.empty()) {
    if (!chosen.empty() && !module->hasAttr(kParametersAttr))
      module.emitWarning() << "the program has no parameters: --parameters changes nothing";
    return success();
  }

  SmallString<128> path(chosen);
  if (chosen.empty()) {
    Attribute attr = module->getAttr(kParametersAttr);
    auto named = dyn_cast_or_null<StringAttr>(attr);
    if (attr && !named)
      return module.emitError() << kParametersAttr << " = " << attr
                                << " is not the name of a file";
    if (!named)
      return found.front().second->emitError()
             << "resource '" << getName(found.front().first)
             << "' has no data, and no parameter file is named: the module lacks "
             << kParametersAttr << ", and there is no --parameters";
    if (named.getValue().empty() || named.getValue().contains('/'))
      return module.emitError() << kParametersAttr << " = " << named
                                << " is not the name of a file beside the program; "
                                   "--parameters takes one of another folder";
    path = llvm::sys::path::parent_path(name);
    llvm::sys::path::append(path, named.getValue());
  }
  std::shared_ptr<const runtime::ParameterFile> opened;
  if (runtime::Status s = runtime::ParameterFile::open(path.str().str(), opened))
    return emitError(module.getLoc()) << s.message();
  file = opened;
  fileName = llvm::sys::path::filename(path).str();
  for (auto [attr, op] : found) {
    ShapedType type = attr.getType();
    int32_t dtype = getDTypeNumber(type.getElementType());
    const runtime::ParameterFile::Tensor *tensor = nullptr;
    if (runtime::Status s = opened->find(getName(attr).str(), tw_dtype(dtype),
                                         type.getShape().vec(), tensor))
      return op->emitError() << "parameter file '" << path << "': " << s.message();
    tensors[getName(attr)].bytes = StringRef(
        reinterpret_cast<const char *>(tensor->data), tensor->size);
  }
  return success();
}

bool Parameters::contains(ElementsAttr constant) const {
  return isParameter(constant) && tensors.contains(getName(constant));
}

void Parameters::describe(ElementsAttr constant, llvm::json::Object &entry) {
  Tensor &tensor = tensors[getName(constant)];
  // Programs of several targets share it.
  if (tensor.sha256.empty())
    tensor.sha256 = llvm::toHex(
        llvm::SHA256::hash(llvm::arrayRefFromStringRef(tensor.bytes)),
        /*LowerCase=*/true);
  entry["parameter"] = getName(constant);
  entry["bytes"] = int64_t(tensor.bytes.size());
  entry["sha256"] = tensor.sha256;
}

StringRef Parameters::getBytes(ElementsAttr constant) const {
  return tensors.lookup(getName(constant)).bytes;
}
