// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --emit=object: the artifact's bytes become a constant of a module of LLVM IR,
// which is compiled and linked with the hosts' objects into one.

#include "Embed.h"

#include "tilewright/Target/LLVMEmit.h"

#include "llvm/IR/Constants.h"

using namespace mlir;
using namespace tilewright;

std::string tilewright::asCName(StringRef text) {
  std::string name;
  if (text.empty() || llvm::isDigit(text.front()))
    name = "_";
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  return name;
}

/// An object that defines `<prefix>_artifact` and `<prefix>_artifact_size`.
static FailureOr<std::string> buildData(Location loc, StringRef triple,
                                        StringRef prefix, StringRef bytes) {
  LLVMTargetOptions options;
  options.triple = triple.str();
  options.cpu = triple.starts_with("x86_64") ? "x86-64" : "generic";
  options.positionIndependent = true;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(loc, options);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  llvm::Module module("artifact", context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  auto define = [&](llvm::Constant *value, const Twine &name,
                    uint64_t alignment) {
    auto *global = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::ExternalLinkage, value, (prefix + name).str());
    global->setAlignment(llvm::Align(alignment));
  };
  define(llvm::ConstantDataArray::getString(context, bytes, /*AddNull=*/false),
         "_artifact", 64);
  define(llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), bytes.size()),
         "_artifact_size", 8);
  return generateCode(loc, module, *machine,
                      llvm::CodeGenFileType::ObjectFile);
}

FailureOr<std::string>
tilewright::buildObject(Location loc, StringRef prefix, StringRef artifact,
                        ArrayRef<CompiledProgram> programs) {
  StringRef triple = programs.front().host.triple;
  for (const CompiledProgram &program : programs)
    if (program.host.triple != triple)
      return emitError(loc) << "an object holds code of one architecture: '"
                            << programs.front().target->name << "' is for " << triple
                            << ", '" << program.target->name << "' for "
                            << program.host.triple;
  std::vector<std::pair<std::string, std::string>> exported;
  auto keep = [&](std::string name) { exported.emplace_back(name, name); };
  keep((prefix + "_artifact").str());
  keep((prefix + "_artifact_size").str());
  FailureOr<std::string> data =
      buildData(loc, triple, prefix, artifact);
  if (failed(data))
    return failure();
  SmallVector<StringRef> objects = {*data};
  for (const CompiledProgram &program : programs) {
    objects.push_back(program.host.object);
    for (const std::string &symbol : program.host.objectSymbols)
      keep(symbol);
  }
  return linkRelocatable(loc, objects, exported);
}
