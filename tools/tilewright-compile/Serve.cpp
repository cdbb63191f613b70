// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --serve; see Serve.h.

#include "Serve.h"
#include "Output.h"
#include "Resources.h"
#include "tilewright/Support/Files.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <iostream>

using namespace llvm;
using namespace tilewright;

static json::Array listKernels(const CompileResult &result) {
  json::Array kernels;
  for (const KernelExplanation &listed : result.configs) {
    json::Object problem;
    for (const auto &[name, value] : listed.problem)
      problem[name] = value;
    json::Object refused;
    for (const auto &[kind, times] : listed.refused)
      refused[kind] = times;
    json::Array explain;
    for (const KernelExplanation &said : result.explanation)
      if (said.program == listed.program && said.kernel == listed.kernel)
        explain = json::Array(said.lines);
    kernels.push_back(json::Object{{"program", listed.program},
                                   {"kernel", listed.kernel},
                                   {"problem", std::move(problem)},
                                   {"shape", json::Array(listed.shape)},
                                   {"configs", json::Array(listed.lines)},
                                   {"refused", std::move(refused)},
                                   {"explain", std::move(explain)}});
  }
  return kernels;
}

/// One request; what is wrong with it is the error.
static Error answer(const json::Object &request, CompileOptions options,
                    json::Object &reply) {
  std::optional<StringRef> input = request.getString("input");
  std::optional<StringRef> output = request.getString("output");
  options.listConfigs = request.getBoolean("list").value_or(false);
  options.explain = options.listConfigs;
  if (!input || (!output && !options.listConfigs))
    return createStringError("a request has 'input', and 'output' or 'list'");
  if (const json::Value *configs = request.get("configs"))
    options.configs = formatv("{0}", *configs).str();
  options.configsName = "'configs'";
  Expected<std::unique_ptr<MemoryBuffer>> source = readProgram(input->str());
  if (!source)
    return source.takeError();
  CompileResult result = compile((*source)->getBuffer(), *input, options);
  reply["diagnostics"] = json::fixUTF8(result.diagnostics);
  reply["ok"] = result.succeeded;
  if (options.listConfigs) {
    reply["kernels"] = listKernels(result);
    return Error::success();
  }
  if (options.resources)
    reply["resources"] = toJson(result.resources);
  return result.succeeded ? writeOutputs(*output, result.outputs)
                          : Error::success();
}

int serve(const CompileOptions &options) {
  KernelCache cache;
  CompileOptions shared = options;
  shared.cache = &cache;
  for (std::string line; std::getline(std::cin, line);) {
    auto begin = std::chrono::steady_clock::now();
    json::Object reply{{"ok", false}};
    Expected<json::Value> parsed = json::parse(line);
    const json::Object *request = parsed ? parsed->getAsObject() : nullptr;
    Error error = !parsed    ? parsed.takeError()
                  : !request ? createStringError("a request is a JSON object")
                             : answer(*request, shared, reply);
    if (request)
      if (const json::Value *id = request->get("id"))
        reply["id"] = *id;
    if (error) {
      reply["ok"] = false;
      reply["diagnostics"] =
          json::fixUTF8("error: " + toString(std::move(error)));
    }
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - begin;
    reply["seconds"] = taken.count();
    outs() << json::Value(std::move(reply)) << "\n";
    outs().flush();
  }
  return 0;
}
