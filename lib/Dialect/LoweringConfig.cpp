// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form, verification and changes of #tilewright.lowering_config.

#include "AttributeText.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// The fields of a config as they are parsed.
struct ParsedConfig {
  std::optional<Strategy> strategy;
  SmallVector<int64_t> block, warps, thread, promote, registers, cluster;
  int64_t stages = 1, splits = 1, raster = 1, streamK = 0;
  bool persistent = false, tmaStore = false, twoLevelSums = false;
  bool producer = true, tmaCopy = true;
  StringAttr mma;

  /// The value of `key`, which stands at `at`.
  ParseResult parseValue(AsmParser &parser, StringRef key, SMLoc at);

private:
  ParseResult parseStrategy(AsmParser &parser, SMLoc at);
  ParseResult parseInstruction(AsmParser &parser);
};
} // namespace

ParseResult ParsedConfig::parseStrategy(AsmParser &parser, SMLoc at) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  strategy = symbolizeStrategy(text);
  if (!strategy)
    return parser.emitError(at)
           << "unknown strategy '" << text
           << "'; known: matrix_unit, simt_contraction, "
              "skinny_contraction, reduction, streaming, attention, "
              "irregular, warp_specialized";
  return success();
}

ParseResult ParsedConfig::parseInstruction(AsmParser &parser) {
  std::string name;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseOptionalString(&name))
    return parser.emitError(at) << "expected 'mma' to be an instruction's name in quotes, "
                                   "as --list-instructions prints it";
  mma = parser.getBuilder().getStringAttr(name);
  return success();
}

ParseResult ParsedConfig::parseValue(AsmParser &parser, StringRef key, SMLoc at) {
  if (key == "strategy")
    return parseStrategy(parser, at);
  if (key == "mma")
    return parseInstruction(parser);
  const std::pair<StringRef, SmallVectorImpl<int64_t> *> arrays[] = {
      {"block", &block},     {"warps", &warps},         {"thread", &thread},
      {"promote", &promote}, {"registers", &registers}, {"cluster", &cluster}};
  for (auto [name, values] : arrays)
    if (key == name)
      return parseArray(parser, *values);
  const std::pair<StringRef, int64_t *> numbers[] = {
      {"stages", &stages}, {"splits", &splits}, {"raster", &raster}, {"stream_k", &streamK}};
  for (auto [name, value] : numbers)
    if (key == name)
      return parser.parseInteger(*value);
  const std::pair<StringRef, bool *> flags[] = {{"persistent", &persistent},
                                                {"tma_store", &tmaStore},
                                                {"two_level_sums", &twoLevelSums},
                                                {"producer", &producer},
                                                {"tma_copy", &tmaCopy}};
  for (auto [name, value] : flags)
    if (key == name)
      return parseFlag(parser, *value);
  return parser.emitError(at)
         << "unknown key '" << key
         << "'; known: strategy, block, warps, thread, stages, promote, mma, "
            "splits, raster, registers, persistent, cluster, tma_store, "
            "two_level_sums, stream_k, producer, tma_copy";
}

// `<` `strategy` `=` keyword (`,` key `=` value)* `>`
Attribute LoweringConfigAttr::parse(AsmParser &parser, Type) {
  ParsedConfig config;
  SMLoc start = parser.getCurrentLocation();
  SmallVector<std::string> seen;
  auto parseEntry = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string key;
    if (parser.parseKeywordOrString(&key) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, key))
      return parser.emitError(loc) << "'" << key << "' is given twice";
    seen.push_back(key);
    return config.parseValue(parser, key, loc);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseEntry))
    return {};
  if (!config.strategy) {
    parser.emitError(start) << "a lowering config needs a strategy";
    return {};
  }
  using Array = ArrayRef<int64_t>;
  return parser.getChecked<LoweringConfigAttr>(
      start, parser.getContext(), *config.strategy, Array(config.block), Array(config.warps),
      Array(config.thread), config.stages, Array(config.promote), config.mma, config.splits,
      config.raster, Array(config.registers), config.persistent, Array(config.cluster),
      config.tmaStore, config.twoLevelSums, config.streamK, config.producer, config.tmaCopy);
}

void LoweringConfigAttr::print(AsmPrinter &printer) const {
  printer << "<strategy = " << stringifyStrategy(getStrategy());
  auto array = [&](StringRef key, ArrayRef<int64_t> values) {
    printArray(printer, key, values);
  };
  array("block", getBlock());
  array("warps", getWarps());
  array("thread", getThread());
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  array("promote", getPromote());
  if (getMma())
    printer << ", mma = " << getMma();
  if (getSplits() != 1)
    printer << ", splits = " << getSplits();
  if (getRaster() != 1)
    printer << ", raster = " << getRaster();
  array("registers", getRegisters());
  if (getPersistent())
    printer << ", persistent = true";
  array("cluster", getCluster());
  if (getTmaStore())
    printer << ", tma_store = true";
  if (getTwoLevelSums())
    printer << ", two_level_sums = true";
  if (getStreamK())
    printer << ", stream_k = " << getStreamK();
  if (!getProducer())
    printer << ", producer = false";
  if (!getTmaCopy())
    printer << ", tma_copy = false";
  printer << ">";
}

LogicalResult LoweringConfigAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, Strategy,
    ArrayRef<int64_t> block, ArrayRef<int64_t> warps, ArrayRef<int64_t> thread,
    int64_t stages, ArrayRef<int64_t> promote, StringAttr, int64_t splits,
    int64_t raster, ArrayRef<int64_t> registers, bool,
    ArrayRef<int64_t> cluster, bool, bool, int64_t streamK, bool, bool) {
  // 2^20 is far above any tile that fits on chip and far below any overflow.
  constexpr int64_t kLargest = int64_t(1) << 20;
  auto check = [&](StringRef key, ArrayRef<int64_t> values,
                   int64_t least) -> LogicalResult {
    for (int64_t value : values)
      if (value < least || value > kLargest)
        return emitError() << "'" << key << "' has " << value
                           << "; accepted are " << least << " to " << kLargest;
    return success();
  };
  if (failed(check("block", block, 0)) || failed(check("warps", warps, 1)) ||
      failed(check("thread", thread, 1)) || failed(check("promote", promote, 0)) ||
      failed(check("cluster", cluster, 1)))
    return failure();
  auto checkLoops = [&](StringRef key, ArrayRef<int64_t> values) -> LogicalResult {
    if (values.empty() || block.empty() || values.size() == block.size())
      return success();
    return emitError() << "'" << key << "' has " << values.size()
                       << " entries but 'block' has " << block.size();
  };
  if (failed(checkLoops("cluster", cluster)) || failed(checkLoops("warps", warps)) ||
      failed(checkLoops("thread", thread)))
    return failure();
  if (stages < 1 || stages > 16)
    return emitError() << "'stages' is " << stages << "; accepted are 1 to 16";
  if (splits < 1 || splits > 65536)
    return emitError() << "'splits' is " << splits
                       << "; accepted are 1 to 65536";
  if (raster < 1 || raster > 1024)
    return emitError() << "'raster' is " << raster
                       << "; accepted are 1 to 1024";
  if (streamK < 0 || streamK > 65536)
    return emitError() << "'stream_k' is " << streamK
                       << "; accepted are numbers of blocks up to 65536, or 0";
  if (!registers.empty() && registers.size() != 2)
    return emitError() << "'registers' has " << registers.size()
                       << " entries; it has those of the warps that copy and of "
                          "those that multiply";
  for (int64_t count : registers)
    if (count % 8 || count < 24 || count > 240)
      return emitError() << "'registers' has " << count
                         << "; accepted are multiples of 8 from 24 to 240";
  return success();
}

namespace {
/// A config's fields, one of which is to be another.
struct ConfigFields {
  explicit ConfigFields(LoweringConfigAttr config)
      : strategy(config.getStrategy()), block(config.getBlock()),
        warps(config.getWarps()), thread(config.getThread()),
        stages(config.getStages()), promote(config.getPromote()),
        mma(config.getMma()), splits(config.getSplits()),
        raster(config.getRaster()), registers(config.getRegisters()),
        persistent(config.getPersistent()), cluster(config.getCluster()),
        tmaStore(config.getTmaStore()), twoLevelSums(config.getTwoLevelSums()),
        streamK(config.getStreamK()), producer(config.getProducer()),
        tmaCopy(config.getTmaCopy()) {}

  LoweringConfigAttr get(MLIRContext *context) const {
    return LoweringConfigAttr::get(context, strategy, block, warps, thread, stages,
                                   promote, mma, splits, raster, registers, persistent,
                                   cluster, tmaStore, twoLevelSums, streamK, producer,
                                   tmaCopy);
  }

  Strategy strategy;
  ArrayRef<int64_t> block, warps, thread;
  int64_t stages;
  ArrayRef<int64_t> promote;
  StringAttr mma;
  int64_t splits, raster;
  ArrayRef<int64_t> registers;
  bool persistent;
  ArrayRef<int64_t> cluster;
  bool tmaStore, twoLevelSums;
  int64_t streamK;
  bool producer, tmaCopy;
};
} // namespace

/// `config` with another value of one field.
template <typename T>
static LoweringConfigAttr with(LoweringConfigAttr config, T ConfigFields::*field, T value) {
  ConfigFields fields(config);
  fields.*field = value;
  return fields.get(config.getContext());
}

LoweringConfigAttr LoweringConfigAttr::withLoops(
    function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> change) const {
  SmallVector<int64_t> block = change(getBlock()), warps = change(getWarps()),
                       thread = change(getThread()), cluster = change(getCluster());
  ConfigFields fields(*this);
  fields.block = block;
  fields.warps = warps;
  fields.thread = thread;
  fields.cluster = cluster;
  return fields.get(getContext());
}

LoweringConfigAttr LoweringConfigAttr::withBlock(ArrayRef<int64_t> block) const {
  return with(*this, &ConfigFields::block, block);
}

LoweringConfigAttr LoweringConfigAttr::withPromote(ArrayRef<int64_t> promote) const {
  return with(*this, &ConfigFields::promote, promote);
}

LoweringConfigAttr LoweringConfigAttr::withSplits(int64_t splits) const {
  return with(*this, &ConfigFields::splits, splits);
}

LoweringConfigAttr LoweringConfigAttr::withRaster(int64_t raster) const {
  return with(*this, &ConfigFields::raster, raster);
}

LoweringConfigAttr LoweringConfigAttr::withRegisters(ArrayRef<int64_t> registers) const {
  return with(*this, &ConfigFields::registers, registers);
}

LoweringConfigAttr LoweringConfigAttr::withPersistent(bool persistent) const {
  return with(*this, &ConfigFields::persistent, persistent);
}

LoweringConfigAttr LoweringConfigAttr::withCluster(ArrayRef<int64_t> cluster) const {
  return with(*this, &ConfigFields::cluster, cluster);
}

LoweringConfigAttr LoweringConfigAttr::withTmaStore(bool tmaStore) const {
  return with(*this, &ConfigFields::tmaStore, tmaStore);
}

LoweringConfigAttr LoweringConfigAttr::withTwoLevelSums(bool twoLevelSums) const {
  return with(*this, &ConfigFields::twoLevelSums, twoLevelSums);
}

LoweringConfigAttr LoweringConfigAttr::withStream(int64_t blocks, int64_t splits) const {
  ConfigFields fields(*this);
  fields.splits = splits;
  fields.persistent = true;
  fields.streamK = blocks;
  return fields.get(getContext());
}

LoweringConfigAttr LoweringConfigAttr::withoutProducer() const {
  ConfigFields fields(*this);
  fields.registers = {};
  fields.producer = false;
  return fields.get(getContext());
}

LoweringConfigAttr LoweringConfigAttr::withoutTmaCopy() const {
  ConfigFields fields(*this);
  fields.cluster = {};
  fields.tmaCopy = false;
  return fields.get(getContext());
}
