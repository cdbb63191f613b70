// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Package.h"

#include "Embed.h"
#include "tilewright/Artifact/Container.h"
#include "tilewright/Artifact/Manifest.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilewright;
namespace json = llvm::json;

/// What every Vulkan device takes; the SPIR-V of more reads a uniform buffer.
static constexpr int64_t kPushConstantBytes = 128;

std::string tilewright::getVersion() { return TILEWRIGHT_VERSION; }

/// Joins requirements: numbers by the largest, the rest by the last.
static void join(json::Object &into, const json::Object &from) {
  for (const auto &[key, value] : from) {
    std::optional<int64_t> number = value.getAsInteger();
    const json::Value *old = into.get(key);
    if (number && old && old->getAsInteger().value_or(*number) > *number)
      continue;
    into[key] = value;
  }
}

static FailureOr<json::Array> describeValues(Location loc, TypeRange types) {
  json::Array values;
  for (Type type : types) {
    FailureOr<json::Object> value = describeValue(loc, type);
    if (failed(value))
      return failure();
    values.push_back(std::move(*value));
  }
  return values;
}

static FailureOr<json::Array> describeFunctions(Location loc,
                                                const CompiledProgram &program) {
  json::Array functions;
  for (auto [number, function] : llvm::enumerate(program.host.functions)) {
    FailureOr<json::Array> described = describeValues(loc, function.type.getInputs());
    if (failed(described))
      return failure();
    json::Array inputs = std::move(*described);
    described = describeValues(loc, function.type.getResults());
    if (failed(described))
      return failure();
    json::Array results = std::move(*described);
    auto names = program.names->find(function.name);
    if (names != program.names->end() && names->second.size() == inputs.size())
      for (auto [name, input] : llvm::zip(names->second, inputs))
        if (!name.empty())
          (*input.getAsObject())["name"] = name;
    json::Object entry{{"name", function.name}};
    if (number < program.work.size()) {
      const FunctionWork &work = program.work[number];
      if (work.flops)
        entry["flops"] = *work.flops;
      if (work.bytes)
        entry["bytes"] = *work.bytes;
      for (auto [result, terms] : llvm::zip(results, work.reductions))
        if (terms)
          (*result.getAsObject())["reduction"] = *terms;
    }
    entry["inputs"] = std::move(inputs);
    entry["results"] = std::move(results);
    functions.push_back(std::move(entry));
  }
  return functions;
}

/// The functions that run at load.
static FailureOr<json::Array> describeLoadFunctions(Location loc, const HostProgram &host) {
  json::Array functions;
  for (const HostFunction &function : host.loadFunctions) {
    FailureOr<json::Array> results = describeValues(loc, function.type.getResults());
    if (failed(results))
      return failure();
    functions.push_back(
        json::Object{{"name", function.name}, {"results", std::move(*results)}});
  }
  return functions;
}

/// Bytes of the kernel's scalars one after the other at their natural
/// alignment, as vulkan kernels take them.
static int64_t getScalarBytes(const json::Object &variant) {
  int64_t size = 0;
  if (const json::Array *params = variant.getArray("params"))
    for (const json::Value &param : *params)
      if (std::optional<StringRef> type =
              param.getAsObject()->getString("scalar")) {
        int64_t bytes = type->ends_with("64") || *type == "index" ? 8 : 4;
        size = llvm::alignTo(size, bytes) + bytes;
      }
  return size;
}

/// Constants by number. The bytes of those that do not stay in the parameter file go
/// to `sections`.
static FailureOr<json::Array> describeConstants(Location loc,
                                                const CompiledProgram &program,
                                                Parameters &parameters, bool embed,
                                                std::vector<Section> &sections) {
  json::Array constants;
  const HostConstants &all = program.host.constants;
  bool hasParameters = false;
  for (auto [number, constant] : llvm::enumerate(all.data)) {
    FailureOr<json::Object> value = describeValue(loc, constant.getShapedType());
    if (failed(value))
      return failure();
    value->erase("kind");
    if (number < all.onlyAtLoad.size() && all.onlyAtLoad[number])
      (*value)["only_at_load"] = true;
    bool isParameter = parameters.contains(constant);
    hasParameters |= isParameter;
    if (isParameter && !embed) {
      parameters.describe(constant, *value);
      constants.push_back(std::move(*value));
      continue;
    }
    FailureOr<std::string> bytes =
        isParameter ? parameters.getBytes(constant).str() : getConstantBytes(constant);
    if (failed(bytes))
      return failure();
    std::string section = llvm::formatv("{0}/c{1}", targetFolder(*program.target),
                                        sections.size());
    (*value)["section"] = section;
    sections.push_back({section, std::move(*bytes)});
    constants.push_back(std::move(*value));
  }
  for (const LoadedConstant &constant : all.loaded) {
    FailureOr<json::Object> value = describeValue(loc, constant.type);
    if (failed(value))
      return failure();
    value->erase("kind");
    (*value)["at_load"] = int64_t(constant.function);
    (*value)["result"] = constant.result;
    // Names of tensors say nothing without their file.
    if (!constant.identity.empty() && !(embed && hasParameters))
      (*value)["identity"] = constant.identity;
    constants.push_back(std::move(*value));
  }
  return constants;
}

/// The manifest's entry of a program; its code goes to `sections`.
static FailureOr<json::Object> describeProgram(Location loc,
                                               CompiledProgram &program,
                                               Parameters &parameters, bool embed,
                                               std::vector<Section> &sections) {
  std::string folder = targetFolder(*program.target);
  json::Object required = program.target->required;

  json::Array dispatches;
  for (json::Object &dispatch : program.dispatches) {
    std::optional<StringRef> name = dispatch.getString("name");
    json::Array variants;
    for (CompiledKernel &kernel : program.kernels) {
      if (!name || kernel.dispatch != *name)
        continue;
      json::Object &variant = kernel.description;
      const KernelCode &code = kernel.code;
      // CPU kernels are linked into the host program.
      if (code.kind != CodeKind::Object) {
        std::string section =
            llvm::formatv("{0}/{1}.{2}", folder, sections.size(),
                          getExtension(code.kind));
        variant["section"] = section;
        sections.push_back({section, code.bytes});
      }
      variant["shared"] = code.dynamicShared;
      if (code.kind == CodeKind::SPIRV &&
          getScalarBytes(variant) > kPushConstantBytes)
        variant["scalars_in"] = "uniform";
      if (code.subgroup)
        variant["subgroup"] = code.subgroup;
      join(required, code.required);
      variants.push_back(std::move(variant));
    }
    dispatch["variants"] = std::move(variants);
    dispatches.push_back(std::move(dispatch));
  }

  FailureOr<json::Array> constants =
      describeConstants(loc, program, parameters, embed, sections);
  if (failed(constants))
    return failure();
  FailureOr<json::Array> functions = describeFunctions(loc, program);
  if (failed(functions))
    return failure();
  FailureOr<json::Array> loadFunctions = describeLoadFunctions(loc, program.host);
  if (failed(loadFunctions))
    return failure();
  std::string host = folder + "/host.so";
  sections.push_back({host, program.host.bytes});
  json::Array imports(ArrayRef<std::string>(program.host.imports));
  json::Object result{
      {"target", program.target->name},
      {"driver", program.target->driver},
      {"reference", program.target->reference},
      {"requires", std::move(required)},
      {"host", json::Object{{"section", host},
                            {"triple", program.host.triple},
                            {"imports", std::move(imports)}}},
      {"functions", std::move(*functions)},
      {"constants", std::move(*constants)},
      {"dispatches", std::move(dispatches)}};
  if (!loadFunctions->empty())
    result["at_load"] = std::move(*loadFunctions);
  json::Array libraries;
  for (const auto &[name, functions] : program.host.libraries)
    libraries.push_back(json::Object{
        {"name", name}, {"functions", json::Array(functions)}});
  if (!libraries.empty())
    result["libraries"] = std::move(libraries);
  return result;
}

/// What files of `kind` have, in words.
static StringRef rawKindName(EmitKind kind) {
  switch (kind) {
  case EmitKind::PTX:
    return "PTX";
  case EmitKind::SPIRV:
  case EmitKind::SPIRVAssembly:
    return "SPIR-V";
  case EmitKind::Assembly:
    return "assembly";
  case EmitKind::Cubin:
    return "machine code for CUDA";
  default:
    return "LLVM IR";
  }
}

/// Adds what `kind` asks of a program as files of its folder.
static void addRaw(const CompiledProgram &program, EmitKind kind,
                   std::vector<CompileOutput> &outputs) {
  std::string folder = targetFolder(*program.target);
  auto add = [&](StringRef name, StringRef extension, StringRef bytes) {
    if (!bytes.empty())
      outputs.push_back(
          {llvm::formatv("{0}/{1}.{2}", folder, name, extension), bytes.str()});
  };
  for (const CompiledKernel &kernel : program.kernels) {
    const KernelCode &code = kernel.code;
    bool spirv = code.kind == CodeKind::SPIRV;
    if (kind == EmitKind::PTX && code.kind == CodeKind::PTX)
      add(code.entry, "ptx", code.bytes);
    if (kind == EmitKind::SPIRV && spirv)
      add(code.entry, "spv", code.bytes);
    if (kind == EmitKind::SPIRVAssembly && spirv)
      add(code.entry, "spvasm", code.assembly);
    if (kind == EmitKind::Assembly && code.kind == CodeKind::Object)
      add(code.entry, "s", code.assembly);
    if (kind == EmitKind::Cubin)
      add(code.entry, "cubin", kernel.cubin);
    if (kind == EmitKind::LLVM)
      add(code.entry, "ll", code.llvm);
  }
  if (kind == EmitKind::LLVM)
    add("host", "ll", program.host.llvm);
  if (kind == EmitKind::Assembly)
    add("host", "s", program.host.assembly);
}

/// The manifest and every section that it names.
static FailureOr<std::vector<Section>>
describePrograms(Location loc, MutableArrayRef<CompiledProgram> programs,
                 Parameters &parameters, bool embed) {
  std::vector<Section> sections(1);
  json::Array described;
  for (CompiledProgram &program : programs) {
    FailureOr<json::Object> entry = describeProgram(loc, program, parameters, embed, sections);
    if (failed(entry))
      return failure();
    described.push_back(std::move(*entry));
  }
  json::Object manifest{{"format", 1},
                        {"producer", "tilewright " + getVersion()},
                        {"programs", std::move(described)}};
  if (!parameters.getFileName().empty() && !embed)
    manifest["parameters"] = json::Object{{"file", parameters.getFileName()}};
  sections[0] = {"manifest",
                 llvm::formatv("{0:2}\n", json::Value(std::move(manifest)))};
  return sections;
}

LogicalResult tilewright::package(Location loc,
                                  MutableArrayRef<CompiledProgram> programs,
                                  Parameters &parameters,
                                  const CompileOptions &options, StringRef prefix,
                                  std::vector<CompileOutput> &outputs) {
  EmitKind kind = options.emit;
  auto addOnly = [&](FailureOr<std::string> bytes) {
    if (succeeded(bytes))
      outputs.push_back({"", std::move(*bytes)});
    return success(succeeded(bytes));
  };
  switch (kind) {
  case EmitKind::Header:
    return addOnly(buildHeader(loc, prefix, programs.front()));
  case EmitKind::Artifact:
  case EmitKind::Manifest:
  case EmitKind::Object:
    break;
  default:
    for (const CompiledProgram &program : programs)
      addRaw(program, kind, outputs);
    if (outputs.empty())
      return emitError(loc) << "none of the targets " << options.targets
                            << " produces " << rawKindName(kind)
                            << ", which --emit asks for; add a target that does";
    return success();
  }
  // What is linked into a program has no file beside it.
  bool embed = options.embedParameters || kind == EmitKind::Object;
  FailureOr<std::vector<Section>> sections =
      describePrograms(loc, programs, parameters, embed);
  if (failed(sections))
    return failure();
  if (kind == EmitKind::Manifest)
    return addOnly(sections->front().bytes);
  llvm::Expected<std::string> artifact = writeContainer(*sections);
  if (!artifact)
    return emitError(loc) << llvm::toString(artifact.takeError());
  if (kind == EmitKind::Object)
    return addOnly(buildObject(loc, prefix, *artifact, programs));
  return addOnly(std::move(*artifact));
}
