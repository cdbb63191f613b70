// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zstandard, from RFC 8878: frames of blocks; a compressed block is literals (raw, repeated or Huffman-coded) and
// sequences (literal length, match length, offset) whose codes are read from finite-state tables, backwards through the
// bits.

#include "driver/Decompress.h"

#include <array>

namespace tilewright::ptxsim {
namespace {

/// Bits of a byte range from the front, least significant first.
class ForwardBits {
public:
  ForwardBits(const uint8_t *data, size_t size) : data(data), bits(size * 8) {}
  uint32_t take(unsigned count) {
    uint32_t value = 0;
    for (unsigned i = 0; i < count; ++i, ++position)
      if (position < bits)
        value |= uint32_t(data[position / 8] >> (position % 8) & 1) << i;
    return value;
  }
  void giveBack(unsigned count) { position -= count; }
  bool overrun() const { return position > bits; }
  size_t bytesUsed() const { return (position + 7) / 8; }

private:
  const uint8_t *data;
  size_t bits;
  size_t position = 0;
};

/// Bits from the back: the last byte's highest set bit marks the end. Reading past the start gives zeros.
class BackwardBits {
public:
  BackwardBits(const uint8_t *data, size_t size) : data(data) {
    if (size == 0 || data[size - 1] == 0)
      return;
    valid = true;
    unsigned top = 7;
    while (!(data[size - 1] >> top & 1))
      --top;
    left = static_cast<int64_t>((size - 1) * 8 + top);
  }
  uint64_t take(unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      --left;
      value = value << 1 | (left >= 0 ? data[left / 8] >> (left % 8) & 1 : 0);
    }
    return value;
  }
  bool valid = false;
  int64_t left = 0;

private:
  const uint8_t *data;
};

struct FseTable {
  struct Cell {
    uint16_t symbol;
    uint8_t bits;
    uint16_t base;
  };
  unsigned log = 0;
  std::vector<Cell> cells;
};

unsigned highBit(uint32_t value) { return 31u - static_cast<unsigned>(__builtin_clz(value)); }

bool buildFse(const std::vector<int> &counts, unsigned log, FseTable &table) {
  uint32_t size = 1u << log;
  table.log = log;
  table.cells.assign(size, {});
  std::vector<uint16_t> next(counts.size());
  uint32_t high = size;
  for (size_t symbol = 0; symbol < counts.size(); ++symbol) {
    next[symbol] = static_cast<uint16_t>(counts[symbol] == -1 ? 1 : counts[symbol]);
    if (counts[symbol] == -1) {
      if (high == 0)
        return false;
      table.cells[--high].symbol = static_cast<uint16_t>(symbol);
    }
  }
  uint32_t step = (size >> 1) + (size >> 3) + 3, position = 0;
  for (size_t symbol = 0; symbol < counts.size(); ++symbol)
    for (int i = 0; i < counts[symbol]; ++i) {
      table.cells[position].symbol = static_cast<uint16_t>(symbol);
      do
        position = (position + step) & (size - 1);
      while (position >= high && high != 0);
    }
  if (position != 0)
    return false;
  for (FseTable::Cell &cell : table.cells) {
    uint32_t state = next[cell.symbol]++;
    if (state == 0)
      return false;
    cell.bits = static_cast<uint8_t>(log - highBit(state));
    cell.base = static_cast<uint16_t>((state << cell.bits) - size);
  }
  return true;
}

/// Reads a table description; `used` is its length in bytes.
bool readFse(const uint8_t *data, size_t size, unsigned maxLog, size_t maxSymbols, FseTable &table, size_t &used) {
  ForwardBits bits(data, size);
  unsigned log = bits.take(4) + 5;
  if (log > maxLog)
    return false;
  std::vector<int> counts;
  int remaining = (1 << log) + 1;
  while (remaining > 1) {
    if (counts.size() >= maxSymbols || bits.overrun())
      return false;
    unsigned width = highBit(static_cast<uint32_t>(remaining)) + 1;
    uint32_t value = bits.take(width);
    uint32_t lowMask = (1u << (width - 1)) - 1;
    uint32_t threshold = (1u << width) - 1 - static_cast<uint32_t>(remaining);
    if ((value & lowMask) < threshold) {
      bits.giveBack(1);
      value &= lowMask;
    } else if (value > lowMask) {
      value -= threshold;
    }
    int count = static_cast<int>(value) - 1;
    remaining -= count < 0 ? -count : count;
    counts.push_back(count);
    if (count != 0)
      continue;
    uint32_t repeat;
    do {
      repeat = bits.take(2);
      counts.insert(counts.end(), repeat, 0);
      if (counts.size() > maxSymbols)
        return false;
    } while (repeat == 3 && !bits.overrun());
  }
  if (remaining != 1 || bits.overrun())
    return false;
  used = bits.bytesUsed();
  return buildFse(counts, log, table);
}

void singleSymbol(uint16_t symbol, FseTable &table) {
  table.log = 0;
  table.cells = {{symbol, 0, 0}};
}

struct Huffman {
  unsigned maxBits = 0;
  struct Cell {
    uint8_t symbol, bits;
  };
  std::vector<Cell> cells;
};

bool buildHuffman(std::vector<uint8_t> weights, Huffman &huffman) {
  uint32_t sum = 0;
  for (uint8_t weight : weights)
    sum += weight ? 1u << (weight - 1) : 0;
  if (sum == 0 || sum >= 1u << 12)
    return false;
  unsigned maxBits = highBit(sum) + 1;
  uint32_t rest = (1u << maxBits) - sum;
  if (rest & (rest - 1) || maxBits > 11)
    return false;
  weights.push_back(static_cast<uint8_t>(highBit(rest) + 1));
  huffman.maxBits = maxBits;
  huffman.cells.assign(size_t(1) << maxBits, {});
  uint32_t at = 0;
  for (unsigned weight = 1; weight <= maxBits; ++weight)
    for (size_t symbol = 0; symbol < weights.size(); ++symbol) {
      if (weights[symbol] != weight)
        continue;
      uint32_t span = 1u << (weight - 1);
      if (at + span > huffman.cells.size())
        return false;
      for (uint32_t i = 0; i < span; ++i)
        huffman.cells[at++] = {static_cast<uint8_t>(symbol), static_cast<uint8_t>(maxBits + 1 - weight)};
    }
  return at == huffman.cells.size();
}

bool readHuffman(const uint8_t *data, size_t size, Huffman &huffman, size_t &used) {
  if (size == 0)
    return false;
  unsigned header = data[0];
  std::vector<uint8_t> weights;
  if (header >= 128) {
    size_t count = header - 127;
    used = 1 + (count + 1) / 2;
    if (used > size)
      return false;
    for (size_t i = 0; i < count; ++i)
      weights.push_back(i % 2 == 0 ? data[1 + i / 2] >> 4 : data[1 + i / 2] & 15);
    return buildHuffman(std::move(weights), huffman);
  }
  used = 1 + header;
  if (used > size)
    return false;
  FseTable table;
  size_t tableBytes;
  if (!readFse(data + 1, header, 6, 13, table, tableBytes) || tableBytes >= header)
    return false;
  BackwardBits bits(data + 1 + tableBytes, header - tableBytes);
  if (!bits.valid)
    return false;
  // Two states take turns until the bits are used up.
  uint32_t states[2];
  states[0] = static_cast<uint32_t>(bits.take(table.log));
  states[1] = static_cast<uint32_t>(bits.take(table.log));
  for (unsigned turn = 0; weights.size() < 255; turn ^= 1) {
    const FseTable::Cell &cell = table.cells[states[turn]];
    weights.push_back(static_cast<uint8_t>(cell.symbol));
    if (bits.left < cell.bits) {
      weights.push_back(static_cast<uint8_t>(table.cells[states[turn ^ 1]].symbol));
      return buildHuffman(std::move(weights), huffman);
    }
    states[turn] = cell.base + static_cast<uint32_t>(bits.take(cell.bits));
  }
  return false;
}

bool decodeHuffman(const Huffman &huffman, const uint8_t *data, size_t size, size_t count, std::vector<uint8_t> &out) {
  BackwardBits bits(data, size);
  if (!bits.valid)
    return false;
  uint32_t state = static_cast<uint32_t>(bits.take(huffman.maxBits));
  for (size_t i = 0; i < count; ++i) {
    Huffman::Cell cell = huffman.cells[state];
    out.push_back(cell.symbol);
    state = (state << cell.bits | static_cast<uint32_t>(bits.take(cell.bits))) & ((1u << huffman.maxBits) - 1);
  }
  return bits.left == -static_cast<int64_t>(huffman.maxBits);
}

/// Base value and extra bits of a code.
struct CodeRange {
  uint32_t base;
  uint8_t bits;
};

CodeRange literalCode(unsigned code) {
  static constexpr CodeRange ranges[] = {{16, 1},    {18, 1},    {20, 1},     {22, 1},     {24, 2},
                                         {28, 2},    {32, 3},    {40, 3},     {48, 4},     {64, 6},
                                         {128, 7},   {256, 8},   {512, 9},    {1024, 10},  {2048, 11},
                                         {4096, 12}, {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};
  return code < 16 ? CodeRange{code, 0} : ranges[code - 16];
}
CodeRange matchCode(unsigned code) {
  static constexpr CodeRange ranges[] = {{35, 1},     {37, 1},     {39, 1},    {41, 1},    {43, 2},    {47, 2},
                                         {51, 3},     {59, 3},     {67, 4},    {83, 4},    {99, 5},    {131, 7},
                                         {259, 8},    {515, 9},    {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13},
                                         {16387, 14}, {32771, 15}, {65539, 16}};
  return code < 32 ? CodeRange{code + 3, 0} : ranges[code - 32];
}

const std::vector<int> literalDefaults = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                          2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
const std::vector<int> matchDefaults = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
const std::vector<int> offsetDefaults = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                         1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

class Frame {
public:
  Frame(size_t limit, std::vector<uint8_t> &out) : limit(limit), out(out) {}

  bool decode(const uint8_t *in, size_t size) {
    const uint8_t *at = in, *end = in + size;
    if (size < 6 || at[0] != 0x28 || at[1] != 0xb5 || at[2] != 0x2f || at[3] != 0xfd)
      return false;
    uint8_t descriptor = at[4];
    at += 5;
    bool single = descriptor >> 5 & 1;
    unsigned sizeFlag = descriptor >> 6;
    static constexpr unsigned dictionaryBytes[] = {0, 1, 2, 4};
    unsigned sizeBytes = sizeFlag == 0 ? single : 1u << sizeFlag;
    size_t header = (single ? 0 : 1) + dictionaryBytes[descriptor & 3] + sizeBytes;
    if ((descriptor & 8) || header > static_cast<size_t>(end - at))
      return false;
    at += header;
    for (bool last = false; !last;) {
      if (end - at < 3)
        return false;
      uint32_t block = at[0] | uint32_t(at[1]) << 8 | uint32_t(at[2]) << 16;
      at += 3;
      last = block & 1;
      unsigned kind = block >> 1 & 3;
      size_t length = block >> 3;
      size_t stored = kind == 1 ? 1 : length;
      if (stored > static_cast<size_t>(end - at) || kind == 3)
        return false;
      if (kind == 2 ? !compressed(at, length) : length > limit - out.size())
        return false;
      if (kind == 0)
        out.insert(out.end(), at, at + length);
      else if (kind == 1)
        out.insert(out.end(), length, *at);
      at += stored;
    }
    return true;
  }

private:
  bool readLiterals(const uint8_t *&at, const uint8_t *end, std::vector<uint8_t> &literals) {
    if (at == end)
      return false;
    unsigned kind = at[0] & 3, format = at[0] >> 2 & 3;
    size_t left = static_cast<size_t>(end - at);
    if (kind < 2) {
      unsigned bytes = format == 1 ? 2 : format == 3 ? 3 : 1;
      if (left < bytes)
        return false;
      size_t count = bytes == 1   ? at[0] >> 3
                     : bytes == 2 ? (at[0] | at[1] << 8) >> 4
                                  : (at[0] | at[1] << 8 | at[2] << 16) >> 4;
      at += bytes;
      size_t stored = kind == 0 ? count : 1;
      if (count > limit || stored > static_cast<size_t>(end - at))
        return false;
      if (kind == 0)
        literals.assign(at, at + count);
      else
        literals.assign(count, *at);
      at += stored;
      return true;
    }
    unsigned bytes = format < 2 ? 3 : format + 2, width = format < 2 ? 10 : format == 2 ? 14 : 18;
    if (left < bytes)
      return false;
    uint64_t header = 0;
    for (unsigned i = 0; i < bytes; ++i)
      header |= uint64_t(at[i]) << 8 * i;
    size_t count = header >> 4 & ((1u << width) - 1), size = header >> (4 + width) & ((1u << width) - 1);
    at += bytes;
    if (size > static_cast<size_t>(end - at) || count > limit)
      return false;
    const uint8_t *data = at, *dataEnd = at + size;
    at = dataEnd;
    if (kind == 2) {
      size_t used;
      if (!readHuffman(data, size, huffman, used))
        return false;
      data += used;
    }
    if (huffman.cells.empty())
      return false;
    if (format == 0)
      return decodeHuffman(huffman, data, static_cast<size_t>(dataEnd - data), count, literals);
    if (dataEnd - data < 6)
      return false;
    size_t each = (count + 3) / 4, sizes[4];
    for (unsigned i = 0; i < 3; ++i)
      sizes[i] = data[2 * i] | size_t(data[2 * i + 1]) << 8;
    data += 6;
    size_t total = sizes[0] + sizes[1] + sizes[2];
    if (total > static_cast<size_t>(dataEnd - data) || 3 * each > count)
      return false;
    sizes[3] = static_cast<size_t>(dataEnd - data) - total;
    for (unsigned i = 0; i < 4; ++i) {
      if (!decodeHuffman(huffman, data, sizes[i], i < 3 ? each : count - 3 * each, literals))
        return false;
      data += sizes[i];
    }
    return true;
  }

  static bool readTable(unsigned mode, const std::vector<int> &defaults, unsigned defaultLog, unsigned maxLog,
                        size_t maxSymbols, const uint8_t *&at, const uint8_t *end, FseTable &table) {
    switch (mode) {
    case 0:
      return buildFse(defaults, defaultLog, table);
    case 1:
      if (at == end || *at >= maxSymbols)
        return false;
      singleSymbol(*at++, table);
      return true;
    case 2: {
      size_t used;
      if (!readFse(at, static_cast<size_t>(end - at), maxLog, maxSymbols, table, used) ||
          used > static_cast<size_t>(end - at))
        return false;
      at += used;
      return true;
    }
    default:
      return !table.cells.empty();
    }
  }

  bool copyMatch(size_t offset, size_t length) {
    if (offset == 0 || offset > out.size() || length > limit - out.size())
      return false;
    for (; length > 0; --length)
      out.push_back(out[out.size() - offset]);
    return true;
  }

  /// The three most recent offsets are codes of their own.
  size_t resolveOffset(uint64_t value, bool noLiterals) {
    if (value > 3) {
      recent = {value - 3, recent[0], recent[1]};
      return recent[0];
    }
    unsigned index = static_cast<unsigned>(value) - 1 + noLiterals;
    uint64_t offset = index < 3 ? recent[index] : recent[0] - 1;
    if (index >= 2)
      recent = {offset, recent[0], recent[1]};
    else if (index == 1)
      recent = {offset, recent[0], recent[2]};
    return offset;
  }

  bool compressed(const uint8_t *at, size_t size) {
    const uint8_t *end = at + size;
    std::vector<uint8_t> literals;
    if (!readLiterals(at, end, literals) || at == end)
      return false;
    size_t count = *at++;
    if (count >= 128) {
      if (at == end)
        return false;
      if (count < 255) {
        count = ((count - 128) << 8) + *at++;
      } else {
        if (end - at < 2)
          return false;
        count = (at[0] | size_t(at[1]) << 8) + 0x7f00;
        at += 2;
      }
    }
    size_t literal = 0;
    if (count != 0 && !sequences(at, end, count, literals, literal))
      return false;
    if (literals.size() - literal > limit - out.size())
      return false;
    out.insert(out.end(), literals.begin() + static_cast<ptrdiff_t>(literal), literals.end());
    return true;
  }

  bool sequences(const uint8_t *at, const uint8_t *end, size_t count, const std::vector<uint8_t> &literals,
                 size_t &literal) {
    if (at == end)
      return false;
    unsigned modes = *at++;
    if (!readTable(modes >> 6, literalDefaults, 6, 9, 36, at, end, literalTable) ||
        !readTable(modes >> 4 & 3, offsetDefaults, 5, 8, 32, at, end, offsetTable) ||
        !readTable(modes >> 2 & 3, matchDefaults, 6, 9, 53, at, end, matchTable))
      return false;
    BackwardBits bits(at, static_cast<size_t>(end - at));
    if (!bits.valid)
      return false;
    auto start = [&](const FseTable &table) { return static_cast<uint32_t>(bits.take(table.log)); };
    uint32_t literalState = start(literalTable), offsetState = start(offsetTable), matchState = start(matchTable);
    for (size_t i = 0; i < count; ++i) {
      const FseTable::Cell &literalCell = literalTable.cells[literalState];
      const FseTable::Cell &offsetCell = offsetTable.cells[offsetState];
      const FseTable::Cell &matchCell = matchTable.cells[matchState];
      if (literalCell.symbol > 35 || matchCell.symbol > 52 || offsetCell.symbol > 31)
        return false;
      uint64_t offsetValue = (uint64_t(1) << offsetCell.symbol) + bits.take(offsetCell.symbol);
      CodeRange match = matchCode(matchCell.symbol), run = literalCode(literalCell.symbol);
      size_t matchLength = match.base + bits.take(match.bits);
      size_t literalLength = run.base + bits.take(run.bits);
      if (bits.left < 0 || literalLength > literals.size() - literal || literalLength > limit - out.size())
        return false;
      out.insert(out.end(), literals.begin() + static_cast<ptrdiff_t>(literal),
                 literals.begin() + static_cast<ptrdiff_t>(literal + literalLength));
      literal += literalLength;
      if (!copyMatch(resolveOffset(offsetValue, literalLength == 0), matchLength))
        return false;
      if (i + 1 == count)
        break;
      literalState = literalCell.base + static_cast<uint32_t>(bits.take(literalCell.bits));
      matchState = matchCell.base + static_cast<uint32_t>(bits.take(matchCell.bits));
      offsetState = offsetCell.base + static_cast<uint32_t>(bits.take(offsetCell.bits));
    }
    return bits.left == 0;
  }

  size_t limit;
  std::vector<uint8_t> &out;
  Huffman huffman;
  FseTable literalTable, offsetTable, matchTable;
  std::array<uint64_t, 3> recent = {1, 4, 8};
};

} // namespace

bool decompressZstd(const uint8_t *in, size_t size, size_t limit, std::vector<uint8_t> &out) {
  out.clear();
  return Frame(limit, out).decode(in, size);
}

} // namespace tilewright::ptxsim
