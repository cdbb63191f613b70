// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the stages and the pipelines behind them.

#include "tilewright/Stages/Stages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include "tilewright/Bufferize/Bufferize.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Pins.h"
#include "tilewright/Configure/Tuning.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Distribute/Distribute.h"
#include "tilewright/Input/Input.h"
#include "tilewright/Normalize/Normalize.h"
#include "tilewright/Pipeline/Pipeline.h"
#include "tilewright/Place/Place.h"
#include "tilewright/Promote/Promote.h"
#include "tilewright/Specialize/Specialize.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Vectorize/Vectorize.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct StageInfo {
  StringLiteral name, summary;
};
} // namespace

static constexpr StageInfo kInfos[] = {
#define STAGE(Name, text, summary) {text, summary},
#include "tilewright/Stages/Stages.def"
};

static constexpr Stage kStages[] = {
#define STAGE(Name, text, summary) Stage::Name,
#include "tilewright/Stages/Stages.def"
};

StringRef tilewright::getStageName(Stage stage) {
  return kInfos[size_t(stage)].name;
}
StringRef tilewright::getStageSummary(Stage stage) {
  return kInfos[size_t(stage)].summary;
}
ArrayRef<Stage> tilewright::getStages() { return kStages; }

std::optional<Stage> tilewright::lookupStage(StringRef name) {
  for (Stage stage : kStages)
    if (getStageName(stage) == name)
      return stage;
  return std::nullopt;
}

void tilewright::buildStage(Stage stage, KernelForm form, OpPassManager &pm) {
  // The whole input is what cpu-reference compiles.
  if (form == KernelForm::None && stage >= Stage::Dispatch)
    return;
  // CPUs take the block form: vectors are their registers, and operands are promoted
  // to panels in memory of the thread.
  if (form == KernelForm::Block && stage == Stage::Promote)
    return populatePackPipeline(pm);
  if (form == KernelForm::Block && stage >= Stage::Promote)
    return;
  switch (stage) {
  case Stage::Input:
    return populateInputPipeline(pm, {});
  case Stage::Normalize:
    return populateNormalizePipeline(pm, {});
  case Stage::Clone:
    return;
  case Stage::Dispatch:
    return populateDispatchPipeline(pm, {});
  case Stage::Place:
    return populatePlacePipeline(pm, {});
  case Stage::Specialize:
    return populateSpecializePipeline(pm);
  case Stage::Configure:
    return populateConfigurePipeline(pm, {});
  case Stage::Tile:
    return populateTilePipeline(pm);
  case Stage::Vectorize:
    return populateVectorizePipeline(pm);
  case Stage::Bufferize:
    return populateBufferizePipeline(pm, {});
  case Stage::Promote:
    return populatePromotePipeline(pm);
  case Stage::Pipeline:
    return populatePipelinePipeline(pm);
  case Stage::Distribute:
    return populateDistributePipeline(pm);
  }
}

/// Letters, digits and `_`; long texts end in a hash, so that they stay names of
/// files and sections.
static std::string asSymbol(std::string name) {
  constexpr size_t kLongest = 32;
  uint32_t hash = llvm::xxh3_64bits(name);
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  if (name.size() > kLongest)
    name = name.substr(0, kLongest - 9) + "_" + llvm::utohexstr(hash, true, 8);
  return name;
}

std::string tilewright::targetFolder(const ParsedTarget &target) {
  return asSymbol(target.name);
}

std::string tilewright::programName(const ParsedTarget &target,
                                    const TargetVariant &variant) {
  return asSymbol(target.name) + variant.tag;
}

void tilewright::clonePrograms(ModuleOp input, ArrayRef<ParsedTarget> targets) {
  SmallVector<Operation *> contents;
  for (Operation &op : *input.getBody())
    contents.push_back(&op);
  OpBuilder b = OpBuilder::atBlockEnd(input.getBody());
  for (const ParsedTarget &target : targets)
    for (const TargetVariant &variant : target.variants) {
      auto program = ModuleOp::create(b, input.getLoc(),
                                      StringRef(programName(target, variant)));
      for (NamedAttribute attr : input->getDiscardableAttrs())
        program->setAttr(attr.getName(), attr.getValue());
      program->setAttr(kTargetAttr, variant.target);
      OpBuilder inside = OpBuilder::atBlockBegin(program.getBody());
      for (Operation *op : contents)
        inside.clone(*op);
      resolvePins(program, target.name);
      resolveTuning(program, target.name);
    }
  for (Operation *op : llvm::reverse(contents))
    op->erase();
}
