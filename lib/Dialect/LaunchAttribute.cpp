// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and verification of #tilewright.launch.

#include "AttributeText.h"
#include "tilewright/Dialect/Tilewright.h"

using namespace mlir;
using namespace tilewright;

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
                                       *subgroup, tiles, ArrayRef<int64_t>(dims),
                                       persistent, ArrayRef<int64_t>(cluster));
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
