// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and verification of the dialect's attributes.

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

/// Sizes as types have them: `?` is one that is open.
static ParseResult parseSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      sizes.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(sizes.emplace_back());
  });
}

static void printSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  llvm::interleaveComma(sizes, printer, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      printer << "?";
    else
      printer << size;
  });
}

#define GET_ATTRDEF_CLASSES
#include "tilewright/Dialect/TilewrightAttrs.cpp.inc"

void TilewrightDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilewright/Dialect/TilewrightAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

int64_t TargetAttr::getFact(StringRef key, int64_t otherwise) const {
  auto value = getFacts().getAs<IntegerAttr>(key);
  return value ? value.getInt() : otherwise;
}

StringRef TargetAttr::getText(StringRef key) const {
  auto value = getFacts().getAs<StringAttr>(key);
  return value ? value.getValue() : StringRef();
}

bool TargetAttr::has(StringRef key) const { return getFacts().contains(key); }

//===----------------------------------------------------------------------===//
// LoweringConfigAttr
//===----------------------------------------------------------------------===//

static ParseResult parseArray(AsmParser &parser,
                              SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square,
      [&] { return parser.parseInteger(values.emplace_back()); });
}

static void printArray(AsmPrinter &printer, StringRef key,
                       ArrayRef<int64_t> values) {
  if (values.empty())
    return;
  printer << ", " << key << " = [";
  llvm::interleaveComma(values, printer);
  printer << "]";
}

static ParseResult parseFlag(AsmParser &parser, bool &value) {
  StringRef word;
  if (parser.parseOptionalKeyword(&word, {"true", "false"}))
    return parser.emitError(parser.getCurrentLocation())
           << "expected true or false";
  value = word == "true";
  return success();
}

// `<` `strategy` `=` keyword (`,` key `=` value)* `>`
Attribute LoweringConfigAttr::parse(AsmParser &parser, Type) {
  std::optional<Strategy> strategy;
  SmallVector<int64_t> block, warps, thread, promote, registers, cluster;
  bool persistent = false, tmaStore = false, twoLevelSums = false;
  bool producer = true, tmaCopy = true;
  int64_t stages = 1, splits = 1, raster = 1, streamK = 0;
  StringAttr mma;
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
    if (key == "strategy") {
      std::string text;
      if (parser.parseKeywordOrString(&text))
        return failure();
      strategy = symbolizeStrategy(text);
      if (!strategy)
        return parser.emitError(loc)
               << "unknown strategy '" << text
               << "'; known: matrix_unit, simt_contraction, "
                  "skinny_contraction, reduction, streaming, attention, "
                  "irregular, warp_specialized";
      return success();
    }
    if (key == "block")
      return parseArray(parser, block);
    if (key == "warps")
      return parseArray(parser, warps);
    if (key == "thread")
      return parseArray(parser, thread);
    if (key == "promote")
      return parseArray(parser, promote);
    if (key == "stages")
      return parser.parseInteger(stages);
    if (key == "mma") {
      std::string name;
      SMLoc at = parser.getCurrentLocation();
      if (parser.parseOptionalString(&name))
        return parser.emitError(at) << "expected 'mma' to be an instruction's name in quotes, "
                                       "as --list-instructions prints it";
      mma = parser.getBuilder().getStringAttr(name);
      return success();
    }
    if (key == "splits")
      return parser.parseInteger(splits);
    if (key == "raster")
      return parser.parseInteger(raster);
    if (key == "registers")
      return parseArray(parser, registers);
    if (key == "persistent")
      return parseFlag(parser, persistent);
    if (key == "cluster")
      return parseArray(parser, cluster);
    if (key == "tma_store")
      return parseFlag(parser, tmaStore);
    if (key == "two_level_sums")
      return parseFlag(parser, twoLevelSums);
    if (key == "stream_k")
      return parser.parseInteger(streamK);
    if (key == "producer")
      return parseFlag(parser, producer);
    if (key == "tma_copy")
      return parseFlag(parser, tmaCopy);
    return parser.emitError(loc)
           << "unknown key '" << key
           << "'; known: strategy, block, warps, thread, stages, promote, mma, "
              "splits, raster, registers, persistent, cluster, tma_store, "
              "two_level_sums, stream_k, producer, tma_copy";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseEntry))
    return {};
  if (!strategy) {
    parser.emitError(start) << "a lowering config needs a strategy";
    return {};
  }
  return parser.getChecked<LoweringConfigAttr>(
      start, parser.getContext(), *strategy, block, warps, thread, stages,
      promote, mma, splits, raster, registers, persistent, cluster, tmaStore,
      twoLevelSums, streamK, producer, tmaCopy);
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
  if (!cluster.empty() && !block.empty() && cluster.size() != block.size())
    return emitError() << "'cluster' has " << cluster.size()
                       << " entries but 'block' has " << block.size();
  if (!warps.empty() && !block.empty() && warps.size() != block.size())
    return emitError() << "'warps' has " << warps.size()
                       << " entries but 'block' has " << block.size();
  if (!thread.empty() && !block.empty() && thread.size() != block.size())
    return emitError() << "'thread' has " << thread.size()
                       << " entries but 'block' has " << block.size();
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

//===----------------------------------------------------------------------===//
// SharesAttr
//===----------------------------------------------------------------------===//

int64_t SharesAttr::countParts(int64_t tiles, int64_t steps, int64_t blocks) {
  int64_t work = tiles * steps, most = 1;
  // Block b has step s where b * work / blocks <= s, the last such one.
  auto ownerOf = [&](int64_t step) { return ((step + 1) * blocks - 1) / work; };
  for (int64_t tile = 0; tile < tiles; ++tile)
    most = std::max(most, ownerOf((tile + 1) * steps - 1) - ownerOf(tile * steps) + 1);
  return most;
}

std::string SharesAttr::whyNot(int64_t tiles, int64_t steps, int64_t blocks,
                               int64_t parts) {
  if (tiles < 1 || steps < 1 || blocks < 1 || parts < 1)
    return "there are no steps to share";
  // Kernels count in 32 bits.
  constexpr int64_t kMost = INT32_MAX;
  if (steps > kMost / tiles || parts > kMost / tiles ||
      blocks + parts > kMost / (tiles * steps + 1))
    return std::to_string(tiles) + " tiles of " + std::to_string(steps) +
           " steps are too many to share among " + std::to_string(blocks) +
           " blocks in numbers of 32 bits";
  if (blocks > tiles * steps)
    return std::to_string(blocks) + " blocks share " + std::to_string(tiles * steps) +
           " steps of all tiles, which leaves some with nothing to do";
  if (int64_t most = countParts(tiles, steps, blocks); most > parts)
    return std::to_string(most) + " of " + std::to_string(blocks) +
           " blocks share the sum of one tile, and there is room for " +
           std::to_string(parts) + " parts; make 'splits' " + std::to_string(most);
  return "";
}

LogicalResult SharesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t tiles, int64_t steps, int64_t blocks,
                                 int64_t parts) {
  if (std::string why = whyNot(tiles, steps, blocks, parts); !why.empty())
    return emitError() << why;
  return success();
}

//===----------------------------------------------------------------------===//
// SharedAttr, LaunchAttr
//===----------------------------------------------------------------------===//

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> swizzle) {
  if (swizzle.empty())
    return success();
  if (swizzle.size() != 3 && swizzle.size() != 4)
    return emitError() << "a swizzle is [bits, base, shift] or [bits, base, "
                          "shift, fold]";
  if (llvm::any_of(swizzle, [](int64_t v) { return v < 0 || v > 20; }))
    return emitError() << "swizzle values must be 0 to 20";
  if (swizzle[2] < swizzle[0])
    return emitError() << "swizzle shift must be at least its number of bits";
  if (swizzle.size() == 4 && swizzle[3] <= swizzle[2])
    return emitError() << "swizzle fold must be above its shift";
  return success();
}

layout::Swizzle SharedAttr::getElementSwizzle() const {
  ArrayRef<int64_t> fields = getSwizzle();
  if (fields.empty())
    return {};
  return {int(fields[0]), int(fields[1]), int(fields[2]),
          fields.size() > 3 ? int(fields[3]) : 0};
}

SharedAttr SharedAttr::getSwizzled(MLIRContext *context,
                                   const layout::Swizzle &s) {
  SmallVector<int64_t> fields;
  if (!s.isNone())
    fields = {s.bits, s.base, s.shift};
  if (!s.isNone() && s.fold)
    fields.push_back(s.fold);
  return get(context, fields);
}

// `<` key `=` value (`,` key `=` value)* `>`
Attribute LaunchAttr::parse(AsmParser &parser, Type) {
  std::optional<int64_t> threads, subgroup;
  AffineMapAttr tiles;
  SmallVector<int64_t> dims, cluster;
  bool persistent = false;
  SMLoc start = parser.getCurrentLocation();
  auto parseEntry = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (key == "threads")
      return parser.parseInteger(threads.emplace());
    if (key == "subgroup")
      return parser.parseInteger(subgroup.emplace());
    if (key == "tiles")
      return parser.parseAttribute(tiles);
    if (key == "dims")
      return parseArray(parser, dims);
    if (key == "persistent")
      return parseFlag(parser, persistent);
    if (key == "cluster")
      return parseArray(parser, cluster);
    return parser.emitError(loc)
           << "unknown key '" << key
           << "'; known: threads, subgroup, tiles, dims, persistent, cluster";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseEntry))
    return {};
  if (!threads || !subgroup || !tiles) {
    parser.emitError(start) << "a launch needs 'threads', 'subgroup' and 'tiles'";
    return {};
  }
  return parser.getChecked<LaunchAttr>(start, parser.getContext(), *threads,
                                       *subgroup, tiles, dims, persistent,
                                       cluster);
}

void LaunchAttr::print(AsmPrinter &printer) const {
  auto array = [&](StringRef key, ArrayRef<int64_t> values) {
    printArray(printer, key, values);
  };
  printer << "<threads = " << getThreads() << ", subgroup = " << getSubgroup()
          << ", tiles = " << getTiles();
  array("dims", getDims());
  if (getPersistent())
    printer << ", persistent = true";
  array("cluster", getCluster());
  printer << ">";
}

LogicalResult ImageAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> dims, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> places, ArrayRef<int64_t> lower,
                                ArrayRef<int64_t> upper, ArrayRef<int64_t> steps,
                                ArrayRef<int64_t> taps, ArrayRef<int64_t> dilations,
                                ArrayRef<int64_t> windows, ArrayRef<int64_t> along,
                                ArrayRef<int64_t> extents) {
  if (dims.size() < 3 || dims.size() > 5)
    return emitError() << "images have 3 to 5 dims, their number and channels among "
                          "them, not "
                       << dims.size();
  bool isOpen = !windows.empty();
  for (ArrayRef<int64_t> each : {dims.drop_front(), strides, places})
    if (!isOpen && ShapedType::isDynamicShape(each))
      return emitError() << "only the number of images may be open without 'windows'";
  if (ShapedType::isDynamic(dims.back()))
    return emitError() << "has an open number of channels";
  if (strides.size() != dims.size() - 1)
    return emitError() << "has " << strides.size() << " strides for " << dims.size()
                       << " dims; channels lie side by side";
  SmallVector<ArrayRef<int64_t>> ofSpace{places, lower, upper, steps, taps, dilations};
  if (isOpen)
    ofSpace.append({windows, along, extents});
  for (ArrayRef<int64_t> each : ofSpace)
    if (each.size() != dims.size() - 2)
      return emitError() << "has " << each.size() << " entries for "
                         << dims.size() - 2 << " dims of space";
  return success();
}

LogicalResult LaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t threads, int64_t subgroup,
                                 AffineMapAttr tilesAttr, ArrayRef<int64_t> dims,
                                 bool, ArrayRef<int64_t> cluster) {
  AffineMap tiles = tilesAttr.getValue();
  if (threads < 1 || subgroup < 1 || threads % subgroup)
    return emitError() << "threads (" << threads
                       << ") must be a positive multiple of the subgroup size ("
                       << subgroup << ")";
  if (tiles.getNumDims() != 0 || tiles.getNumSymbols() * 2 != dims.size())
    return emitError() << "'tiles' needs one symbol per (operand, dim) pair of "
                          "'dims' and no dims";
  // A cluster has at most 8 blocks on every device that has clusters.
  constexpr int64_t kMostBlocks = 8;
  if (!cluster.empty() && (cluster.size() != tiles.getNumResults() ||
                           llvm::any_of(cluster, [](int64_t blocks) {
                             return blocks < 1 || blocks > kMostBlocks;
                           }) ||
                           llvm::product_of(cluster) > kMostBlocks))
    return emitError() << "'cluster' has the blocks along each of "
                       << tiles.getNumResults() << " tiled loops, 1 to "
                       << kMostBlocks << " in all";
  return success();
}
