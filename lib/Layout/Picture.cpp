// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws a layout as a table of owners.

#include "tilewright/Layout/DistributedLayout.h"

#include <algorithm>

using namespace tilewright::layout;

static std::string cellText(const DistributedLayout &l,
                            const std::vector<int64_t> &coords, bool replicas) {
  Place p = l.owner(coords);
  return std::to_string(l.firstWarp() + p.warp) + ":" + std::to_string(p.lane) +
         "/" + std::to_string(p.reg) + (replicas ? "+" : "");
}

static std::string padLeft(const std::string &s, size_t width) {
  return std::string(width > s.size() ? width - s.size() : 0, ' ') + s;
}

/// Draws the page of the last two dimensions at `coords`.
static void drawPage(const DistributedLayout &l, std::vector<int64_t> coords,
                     int64_t maxRows, int64_t maxColumns, std::string &out) {
  int rank = l.rank();
  int64_t rows = rank >= 2 ? l.shape()[rank - 2] : 1;
  int64_t columns = rank >= 1 ? l.shape()[rank - 1] : 1;
  int64_t shownRows = std::min(rows, maxRows);
  int64_t shownColumns = std::min(columns, maxColumns);
  bool replicas = l.isReplicated();

  size_t width = 1;
  std::vector<std::vector<std::string>> cells(shownRows);
  for (int64_t r = 0; r < shownRows; ++r)
    for (int64_t c = 0; c < shownColumns; ++c) {
      if (rank >= 2)
        coords[rank - 2] = r;
      if (rank >= 1)
        coords[rank - 1] = c;
      cells[r].push_back(cellText(l, coords, replicas));
      width = std::max(width, cells[r].back().size());
    }

  size_t margin = std::to_string(rows).size();
  out += std::string(margin, ' ') + " |";
  for (int64_t c = 0; c < shownColumns; ++c)
    out += " " + padLeft(std::to_string(c), width);
  out += shownColumns < columns ? " ...\n" : "\n";
  for (int64_t r = 0; r < shownRows; ++r) {
    out += padLeft(std::to_string(r), margin) + " |";
    for (const std::string &cell : cells[r])
      out += " " + padLeft(cell, width);
    out += shownColumns < columns ? " ...\n" : "\n";
  }
  if (shownRows < rows)
    out += padLeft("...", margin) + "\n";
}

std::string DistributedLayout::picture(int64_t maxRows,
                                       int64_t maxColumns) const {
  std::string out = print() + "\n";
  out += "warp:lane/register";
  out += isReplicated() ? " of the first owner\n" : "\n";
  constexpr int maxPages = 16;
  std::vector<int64_t> coords(rank(), 0);
  for (int page = 0;; ++page) {
    if (page == maxPages) {
      out += "...\n";
      return out;
    }
    if (rank() > 2) {
      out += "[";
      for (int d = 0; d < rank() - 2; ++d)
        out += std::to_string(coords[d]) + ", ";
      out += "*, *]\n";
    }
    drawPage(*this, coords, maxRows, maxColumns, out);
    int d = rank() - 3;
    for (; d >= 0; --d) {
      if (++coords[d] < extents[d])
        break;
      coords[d] = 0;
    }
    if (d < 0)
      return out;
  }
}
