// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-inspect: what is in an artifact. It reads bytes with the runtime's
// own readers and loads no code of the artifact, so that a file of unknown
// origin can be looked at. It needs no LLVM: it is there wherever the runtime
// is, and host code is disassembled by whatever objdump the machine has.

#include "../Common/CommandLine.h"
#include "describe.h"
#include "disassemble.h"
#include "files.h"
#include "host_tensor.h"
#include "overview.h"
#include "tilewright/tilewright.h"

#include <cstdio>
#include <unistd.h>

using namespace tilewright::inspect;
using tilewright::run::RunError;

namespace {

struct Options {
  std::string artifact, output, section;
  bool sections = false, manifest = false, json = false, disassemble = false;
  CodeRequest code;
};

const char *const kExamples =
    "\nExamples:\n"
    "  tilewright-inspect mlp.tw\n"
    "  tilewright-inspect mlp.tw --target=cuda:sm_80 --kernel=main_matmul_0\n"
    "  tilewright-inspect mlp.tw --target=vulkan --kernel=main_reduce_2_sg32 "
    "--raw -o reduce.spv\n"
    "  tilewright-inspect mlp.tw --target=cpu --disassemble\n"
    "  tilewright-inspect mlp.tw --json | jq '.programs[].dispatches[].name'\n";

void declare(CLI::App &app, Options &options) {
  app.set_version_flag("--version", std::string("tilewright-inspect ") +
                                        tilewright_version());
  app.add_option("ARTIFACT", options.artifact, "program.tw")->required();
  app.add_flag("--sections", options.sections,
               "the table of sections alone: name, bytes, SHA-256");
  app.add_flag("--manifest", options.manifest,
               "the manifest alone, indented JSON (docs/abi.md explains it)");
  app.add_flag("--json", options.json, "the overview as JSON");
  app.add_flag("--disassemble", options.disassemble,
               "all code: PTX, SPIR-V disassembled, host code through objdump");
  app.add_option("--kernel", options.code.kernel,
                 "the code of one kernel (a variant's name) or host function");
  app.add_option("--target", options.code.target,
                 "look at the program for this target alone");
  app.add_flag("--raw", options.code.raw,
               "with --kernel: the module as it lies in the artifact");
  app.add_option("--section", options.section,
                 "the bytes of one section as they are");
  app.add_option("--objdump", options.code.objdump,
                 "what disassembles host code (default: llvm-objdump-22, "
                 "llvm-objdump, objdump, the first in PATH)");
  app.add_option("-o", options.output, "write to a file, not standard output");
  app.footer(kExamples);
}

/// Of several views one would be shown, and the others not.
void checkOneView(const Options &options) {
  const std::pair<bool, const char *> views[] = {
      {options.sections, "--sections"},
      {options.manifest, "--manifest"},
      {options.json, "--json"},
      {options.disassemble && options.code.kernel.empty(), "--disassemble"},
      {!options.code.kernel.empty(), "--kernel"},
      {!options.section.empty(), "--section"}};
  const char *first = nullptr;
  for (const auto &[given, name] : views) {
    if (given && first)
      throw CLI::ValidationError(std::string(first) + " and " + name,
                                 "exclude each other");
    if (given)
      first = name;
  }
}

void checkTarget(const Opened &opened, const std::string &target) {
  std::string list;
  for (const nlohmann::json &program : opened.manifest["programs"]) {
    std::string name = program["target"];
    if (target.empty() || name == target)
      return;
    list += (list.empty() ? "" : ", ") + name;
  }
  throw RunError(opened.path + ": no program for target '" + target +
                 "'; there are " + list);
}

std::string produce(const Options &options) {
  Opened opened = openArtifact(options.artifact);
  if (!options.code.target.empty())
    checkTarget(opened, options.code.target);
  if (!options.section.empty()) {
    const auto *section = opened.artifact->find(options.section);
    if (!section)
      throw RunError(opened.path + ": no section '" + options.section +
                     "'; --sections lists them");
    return bytesOf(*section);
  }
  if (options.manifest)
    return opened.manifest.dump(2) + "\n";
  if (options.disassemble || !options.code.kernel.empty())
    return codeText(opened, options.code);
  nlohmann::json description = describe(opened);
  if (options.json)
    return description.dump(2) + "\n";
  if (options.sections)
    return sectionsText(description);
  return overviewText(description, options.code.target);
}

void write(const Options &options, const std::string &bytes) {
  if (!options.output.empty() && options.output != "-")
    return tilewright::run::writeFile(options.output, bytes);
  if (isatty(1) && bytes.find('\0') != std::string::npos)
    throw RunError("this is binary; give a file with -o");
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
      std::fflush(stdout) != 0)
    throw RunError("cannot write to standard output");
}

} // namespace

int main(int argc, char **argv) {
  tilewright::tools::openStandardFiles();
  CLI::App app("Shows what is in an artifact (.tw): sections, programs, "
               "functions, kernels and their\nvariants, manifest, code. Nothing "
               "of the artifact is executed.",
               "tilewright-inspect");
  Options options;
  declare(app, options);
  try {
    tilewright::tools::parse(app, argc, argv);
    if (options.code.raw && options.code.kernel.empty())
      throw CLI::ValidationError("--raw", "goes with --kernel");
    checkOneView(options);
  } catch (const CLI::ParseError &e) {
    return tilewright::tools::finish(app, e);
  }
  try {
    write(options, produce(options));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "tilewright-inspect: error: %s\n",
                 printable(e.what()).c_str());
    return 1;
  }
  return 0;
}
