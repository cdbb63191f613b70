// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files to an ELF shared object, or to one object, by lld in this
// process. lld reads and writes files, and has global state: objects go through
// a directory of their own that is removed at the end, and links take turns.

#include "tilewright/Support/Files.h"
#include "tilewright/Target/Host/Host.h"

#include "lld/Common/Driver.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace tilewright;

/// Names of the undefined dynamic symbols.
static FailureOr<std::vector<std::string>> getImports(Location loc,
                                                      StringRef bytes) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(bytes, "host.so"));
  if (!file)
    return emitError(loc) << "the linker wrote no object: "
                          << llvm::toString(file.takeError());
  std::vector<std::string> imports;
  auto *elf = dyn_cast<llvm::object::ELFObjectFileBase>(file->get());
  if (!elf)
    return emitError(loc) << "the linker wrote no ELF file";
  for (auto symbol : elf->getDynamicSymbolIterators()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      continue;
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
      imports.push_back(name->str());
  }
  llvm::sort(imports);
  return imports;
}

/// What lld makes of `objects` with `flags`.
static FailureOr<std::string> runLinker(Location loc,
                                        ArrayRef<StringRef> objects,
                                        ArrayRef<StringRef> flags) {
  SmallString<128> directory;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("tilewright", directory))
    return emitError(loc) << "cannot make a temporary directory: "
                          << error.message();
  llvm::scope_exit cleanUp(
      [&] { (void)llvm::sys::fs::remove_directories(directory); });

  std::vector<std::string> arguments = {"ld.lld", "--threads=1"};
  for (StringRef flag : flags)
    arguments.push_back(flag.str());
  auto path = [&](const Twine &name) {
    SmallString<128> result(directory);
    llvm::sys::path::append(result, name);
    return std::string(result);
  };
  for (auto [number, object] : llvm::enumerate(objects)) {
    std::string file = path(Twine(number) + ".o");
    if (llvm::Error error = writeInPlace(file, object))
      return emitError(loc) << llvm::toString(std::move(error));
    arguments.push_back(file);
  }
  std::string output = path("linked");
  arguments.push_back("-o");
  arguments.push_back(output);

  SmallVector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string messages;
  {
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    llvm::raw_string_ostream stream(messages);
    lld::Result result = lld::lldMain(pointers, stream, stream,
                                      {{lld::Gnu, &lld::elf::link}});
    if (result.retCode)
      return emitError(loc) << "linking the host program failed: " << messages;
  }
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read the linked host program: "
                          << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}

FailureOr<std::string> tilewright::linkHost(Location loc,
                                            ArrayRef<StringRef> objects,
                                            ArrayRef<std::string> allowedImports,
                                            std::vector<std::string> &imports,
                                            bool debugInfo) {
  SmallVector<StringRef> flags = {
      "-shared",         "--gc-sections", "--build-id=none",
      "--hash-style=gnu", "-Bsymbolic",    "-z",
      "noexecstack",     "-z",            "relro",
      "-z",              "now",           "--no-undefined-version"};
  if (!debugInfo)
    flags.push_back("--strip-all");
  FailureOr<std::string> bytes = runLinker(loc, objects, flags);
  if (failed(bytes))
    return failure();
  FailureOr<std::vector<std::string>> found = getImports(loc, *bytes);
  if (failed(found))
    return failure();
  for (const std::string &name : *found)
    if (!llvm::is_contained(allowedImports, name))
      return emitError(loc) << "the host program needs '" << name
                            << "', which is neither built in nor declared "
                               "external in the input";
  imports = std::move(*found);
  return bytes;
}

FailureOr<std::string> tilewright::linkRelocatable(
    Location loc, ArrayRef<StringRef> objects,
    ArrayRef<std::pair<std::string, std::string>> exported) {
  FailureOr<std::string> bytes =
      runLinker(loc, objects, {"-r", "--build-id=none"});
  if (failed(bytes))
    return failure();
  auto binary = llvm::object::createBinary(
      llvm::MemoryBufferRef(*bytes, "linked object"));
  if (!binary)
    return emitError(loc) << "the linker wrote no object: "
                          << llvm::toString(binary.takeError());
  llvm::objcopy::ConfigManager config;
  config.Common.StripDebug = false;
  for (const auto &[symbol, name] : exported) {
    if (llvm::Error error = config.Common.SymbolsToKeepGlobal.addMatcher(
            llvm::objcopy::NameOrPattern::create(
                symbol, llvm::objcopy::MatchStyle::Literal,
                [](llvm::Error error) { return error; })))
      return emitError(loc) << llvm::toString(std::move(error));
    config.Common.SymbolsToRename[symbol] = name;
  }
  llvm::SmallString<0> result;
  llvm::raw_svector_ostream stream(result);
  if (llvm::Error error =
          llvm::objcopy::executeObjcopyOnBinary(config, **binary, stream))
    return emitError(loc) << "naming the object's symbols failed: "
                          << llvm::toString(std::move(error));
  return std::string(result);
}
