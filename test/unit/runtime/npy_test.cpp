// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npy files: round trips, foreign orders, damage; and the float formats.

#include "npy.h"
#include "number_formats.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tilewright::run;

namespace {

std::string npy(const std::string &header, const std::string &data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  uint16_t length = static_cast<uint16_t>(header.size());
  bytes.append(reinterpret_cast<const char *>(&length), 2);
  return bytes + header + data;
}

std::string failure(const std::string &bytes, tw_dtype wanted = TW_F32) {
  try {
    parseNpy("f.npy", bytes, wanted);
  } catch (const RunError &e) {
    return e.what();
  }
  return "";
}

TEST(Npy, RoundTrips) {
  for (tw_dtype dtype :
       {TW_F64, TW_F32, TW_F16, TW_BF16, TW_F8E4M3FN, TW_F8E5M2,
        TW_F8E4M3FNUZ, TW_F8E5M2FNUZ, TW_I64, TW_I32,
        TW_I16, TW_I8, TW_I4, TW_I1, TW_INDEX})
    for (std::vector<int64_t> dims :
         {std::vector<int64_t>{}, {3}, {0, 4}, {2, 3, 5}}) {
      HostTensor tensor = makeTensor(dtype, dims);
      for (int64_t i = 0; i < tensor.elements(); ++i)
        tensor.setBits(i, i & 1);
      std::string bytes = formatNpy(tensor);
      HostTensor back = parseNpy("f.npy", bytes, dtype);
      EXPECT_EQ(back.type(), tensor.type());
      EXPECT_EQ(back.bytes, tensor.bytes);
      size_t data = dtype == TW_I4 ? tensor.elements() : tensor.bytes.size();
      EXPECT_EQ((bytes.size() - data) % 64, 0u);
    }
}

TEST(Npy, Int4IsPackedInMemoryAndByteByByteInAFile) {
  HostTensor tensor = makeTensor(TW_I4, {2, 3});
  EXPECT_EQ(tensor.bytes.size(), 3u);
  const int64_t values[] = {1, -8, 7, -1, 0, 5};
  for (int64_t i = 0; i < 6; ++i)
    tensor.setBits(i, values[i]);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(tensor.bits(i), values[i]);
  EXPECT_EQ(tensor.bytes[0], 0x81); // the first element in the low half
  std::string bytes = formatNpy(tensor);
  EXPECT_EQ(bytes.substr(bytes.size() - 6), std::string("\x01\xf8\x07\xff\x00\x05", 6));
  bytes[bytes.size() - 1] = 16;
  EXPECT_EQ(failure(bytes, TW_I4),
            "f.npy: element 5 is 16, which does not fit i4: -8 to 15");
}

TEST(Npy, PacksInt2) {
  HostTensor tensor = makeTensor(TW_I2, {2, 3});
  ASSERT_EQ(tensor.bytes.size(), 2u);
  const int64_t values[] = {1, -2, 0, -1, 1, -2};
  for (int64_t i = 0; i < 6; ++i)
    tensor.setBits(i, values[i]);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(tensor.bits(i), values[i]);
  EXPECT_EQ(tensor.bytes[0], 0xc9); // the first element in the lowest bits
  std::string bytes = formatNpy(tensor);
  EXPECT_EQ(bytes.substr(bytes.size() - 6), std::string("\x01\xfe\x00\xff\x01\xfe", 6));
  bytes[bytes.size() - 1] = 4;
  EXPECT_EQ(failure(bytes, TW_I2),
            "f.npy: element 5 is 4, which does not fit i2: -2 to 3");
}

TEST(Npy, ReadsOtherOrders) {
  // [[1, 2, 3], [4, 5, 6]] by columns, big-endian.
  std::string data;
  for (char c : {1, 4, 2, 5, 3, 6})
    data += std::string("\0", 1) + c;
  HostTensor tensor = parseNpy(
      "f.npy",
      npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", data),
      TW_I16);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(tensor.bits(i), i + 1);
}

TEST(Npy, WordsBecomeWhatIsWanted) {
  std::string header =
      "{'descr': '|V2', 'fortran_order': False, 'shape': (1,)}";
  HostTensor tensor = parseNpy("f.npy", npy(header, "\x80\x3f"), TW_BF16);
  EXPECT_EQ(tensor.dtype, TW_BF16);
  EXPECT_EQ(tensor.number(0), 1.0);
  header.replace(header.find("|V2"), 3, "<u2");
  EXPECT_EQ(parseNpy("f.npy", npy(header, "\x80\x3f"), TW_BF16).number(0), 1.0);
  EXPECT_EQ(parseNpy("f.npy", npy(header, "\x80\x3f"), TW_I16).dtype, TW_I16);
}

TEST(Npy, Errors) {
  EXPECT_EQ(failure("hello world"),
            "f.npy: not a .npy file: it does not start with 93 NUMPY");
  std::string good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(failure(npy(good, "12345678")), "");
  EXPECT_EQ(failure(npy(good, "1234567")),
            "f.npy: has 7 bytes of data; 2xf32 takes 8");
  EXPECT_EQ(failure(npy(good, "123456789")),
            "f.npy: has 9 bytes of data; 2xf32 takes 8");
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return failure(npy(text, "12345678"));
  };
  EXPECT_NE(with("<f4", "<c8").find("element type '<c8'"), std::string::npos);
  EXPECT_NE(with("<f4", "<f16").find("element type"), std::string::npos);
  EXPECT_NE(with("<f4", "|O").find("element type"), std::string::npos);
  EXPECT_NE(with("'<f4'", "[('a', '<f4')]").find("structured"),
            std::string::npos);
  EXPECT_NE(with("False", "Maybe").find("True or False"), std::string::npos);
  EXPECT_NE(with("(2,)", "2").find("expected '('"), std::string::npos);
  EXPECT_NE(with("(2,)", "(-2,)").find("tuple of integers"), std::string::npos);
  EXPECT_NE(with("(2,)", "(99999999999999999999,)").find("beyond 64 bits"),
            std::string::npos);
  EXPECT_NE(with("(2,)", "(4611686018427387904, 4)").find("larger than"),
            std::string::npos);
  EXPECT_NE(with("'shape'", "'form'").find("unknown key"), std::string::npos);
}

TEST(Npy, SurvivesTruncationAndDamage) {
  HostTensor tensor = makeTensor(TW_F32, {3, 4});
  std::string good = formatNpy(tensor);
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(failure(good.substr(0, size)), "") << size;
  for (size_t i = 0; i < good.size(); ++i)
    for (char c : {'\0', '\xff', '(', '\'', '9'}) {
      std::string bad = good;
      bad[i] = c;
      failure(bad);
    }
}

TEST(NumberFormats, KnownValues) {
  struct {
    tw_dtype dtype;
    uint64_t bits;
    double value;
  } cases[] = {
      {TW_F16, 0x3c00, 1.0},       {TW_F16, 0x7bff, 65504.0},
      {TW_F16, 0x0001, 0x1p-24},   {TW_F16, 0xc000, -2.0},
      {TW_BF16, 0x3f80, 1.0},      {TW_BF16, 0x7f7f, 0x1.fep127},
      {TW_BF16, 0x0001, 0x1p-133}, {TW_F8E4M3FN, 0x38, 1.0},
      {TW_F8E4M3FN, 0x7e, 448.0},  {TW_F8E4M3FN, 0x01, 0x1p-9},
      {TW_F8E5M2, 0x3c, 1.0},      {TW_F8E5M2, 0x7b, 57344.0},
      {TW_F8E5M2, 0x01, 0x1p-16},  {TW_F32, 0x3f800000, 1.0},
      {TW_F8E4M3FNUZ, 0x40, 1.0},  {TW_F8E4M3FNUZ, 0xff, -240.0},
      {TW_F8E4M3FNUZ, 1, 0x1p-10}, {TW_F8E5M2FNUZ, 0x7f, 57344.0},
      {TW_F8E5M2FNUZ, 1, 0x1p-17},
  };
  for (auto &c : cases) {
    EXPECT_EQ(decodeFloat(c.dtype, c.bits), c.value);
    EXPECT_EQ(encodeFloat(c.dtype, c.value), c.bits);
  }
}

TEST(NumberFormats, EveryWordSurvives) {
  for (tw_dtype dtype : {TW_F16, TW_BF16, TW_F8E4M3FN, TW_F8E5M2, TW_F8E4M3FNUZ,
                         TW_F8E5M2FNUZ}) {
    uint64_t count = dtype == TW_F16 || dtype == TW_BF16 ? 65536 : 256;
    for (uint64_t bits = 0; bits < count; ++bits) {
      double value = decodeFloat(dtype, bits);
      if (!std::isnan(value)) {
        EXPECT_EQ(encodeFloat(dtype, value), bits);
      } else {
        EXPECT_TRUE(std::isnan(decodeFloat(dtype, encodeFloat(dtype, value))));
      }
    }
  }
}

TEST(NumberFormats, RoundsToNearestEven) {
  EXPECT_EQ(encodeFloat(TW_F16, 1 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(encodeFloat(TW_F16, 1 + 3 * 0x1p-11), 0x3c02u);
  EXPECT_EQ(encodeFloat(TW_F16, 65519.0), 0x7bffu);
  EXPECT_EQ(encodeFloat(TW_F16, 65520.0), 0x7c00u);
  EXPECT_EQ(encodeFloat(TW_F16, -1e300), 0xfc00u);
  EXPECT_EQ(encodeFloat(TW_F16, 0x1p-25), 0u);
  EXPECT_EQ(encodeFloat(TW_F16, 0x1.8p-25), 1u);
  EXPECT_EQ(encodeFloat(TW_F16, 0x1.ffcp-15 + 0x1p-26), 0x0400u);
  EXPECT_EQ(encodeFloat(TW_F8E4M3FN, 464.0), 0x7eu);
  EXPECT_EQ(encodeFloat(TW_F8E4M3FN, 465.0), 0x7fu);
  EXPECT_EQ(encodeFloat(TW_BF16, -0.0), 0x8000u);
  // What has no infinity and no -0.
  for (tw_dtype dtype : {TW_F8E4M3FNUZ, TW_F8E5M2FNUZ}) {
    EXPECT_EQ(encodeFloat(dtype, -0.0), 0u);
    EXPECT_EQ(encodeFloat(dtype, -0x1p-40), 0u);
    EXPECT_EQ(encodeFloat(dtype, 1e30), 0x80u);
    EXPECT_EQ(encodeFloat(dtype, -INFINITY), 0x80u);
  }
  EXPECT_EQ(encodeFloat(TW_F8E4M3FNUZ, -247.0), 0xffu);
  EXPECT_EQ(encodeFloat(TW_F8E4M3FNUZ, -248.0), 0x80u);
}

} // namespace
