// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Aliased bindings, shared memory in vectors, scalar arguments.

#include "VulkanKernel.h"

#include <numeric>

using namespace tilewright::test;

TEST_F(VulkanKernel, CopiesVectorsAndTail) {
  std::vector<float> x(1027);
  std::iota(x.begin(), x.end(), 1.0f);
  Buffer in = bytesOf(x), out(in.size());
  run("func.func private @k(%a: memref<?xf32>, %o: memref<?xf32>, %n: index) " +
          launch(64) + " {" + kThreadIds + R"(
    %c64 = arith.constant 64 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %base = arith.muli %bx, %c64 : index
    %g = arith.addi %base, %tid : index
    %i = arith.muli %g, %c4 : index
    %e = arith.addi %i, %c4 : index
    %in = arith.cmpi sle, %e, %n : index
    scf.if %in {
      %v = vector.load %a[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
      vector.store %v, %o[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
    } else {
      scf.for %j = %i to %n step %c1 {
        %v = memref.load %a[%j] : memref<?xf32>
        memref.store %v, %o[%j] : memref<?xf32>
      }
    }
    return
  })",
      {&in, &out}, {i32(1027)}, 5);
  EXPECT_EQ(valuesOf<float>(out), x);
}

// 32 x 32 through shared memory: rows of vec4 in, scalars out of the same
// array.
TEST_F(VulkanKernel, TransposesThroughSharedMemory) {
  std::vector<float> x(1024), expected(1024);
  for (int i = 0; i < 1024; ++i)
    x[i] = float(i), expected[i % 32 * 32 + i / 32] = float(i);
  Buffer in = bytesOf(x), out(in.size());
  run("func.func private @k(%a: memref<?xf32>, %o: memref<?xf32>) " +
          launch(64) + " {" + R"(
    %s = memref.alloc() : memref<1152xf32, #tilewright.shared>
    )" + kThreadIds +
          R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c36 = arith.constant 36 : index
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    scf.for %t = %tid to %c256 step %c64 {
      %row = arith.divui %t, %c8 : index
      %col8 = arith.remui %t, %c8 : index
      %col = arith.muli %col8, %c4 : index
      %i = arith.muli %t, %c4 : index
      %v = vector.load %a[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
      %r = arith.muli %row, %c36 : index
      %si = arith.addi %r, %col : index
      vector.store %v, %s[%si] {alignment = 16} : memref<1152xf32, #tilewright.shared>, vector<4xf32>
    }
    gpu.barrier
    scf.for %t = %tid to %c256 step %c64 {
      %row = arith.divui %t, %c8 : index
      %col8 = arith.remui %t, %c8 : index
      %col = arith.muli %col8, %c4 : index
      %i0 = arith.muli %col, %c36 : index
      %j0 = arith.addi %i0, %row : index
      %j1 = arith.addi %j0, %c36 : index
      %j2 = arith.addi %j1, %c36 : index
      %j3 = arith.addi %j2, %c36 : index
      %v0 = memref.load %s[%j0] : memref<1152xf32, #tilewright.shared>
      %v1 = memref.load %s[%j1] : memref<1152xf32, #tilewright.shared>
      %v2 = memref.load %s[%j2] : memref<1152xf32, #tilewright.shared>
      %v3 = memref.load %s[%j3] : memref<1152xf32, #tilewright.shared>
      %v = vector.from_elements %v0, %v1, %v2, %v3 : vector<4xf32>
      %i = arith.muli %t, %c4 : index
      vector.store %v, %o[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
    }
    return
  })",
      {&in, &out}, {}, 1);
  EXPECT_EQ(valuesOf<float>(out), expected);
}

// Vectors of 16 bytes in every element type: reversed, so that elements are
// taken apart and put together.
TEST_F(VulkanKernel, ReversesVectorsOfSixteenBytes) {
  struct Case {
    const char *type;
    int bytes;
  };
  for (Case c : {Case{"i8", 1},
                 {"f16", 2},
                 {"bf16", 2},
                 {"i16", 2},
                 {"f32", 4},
                 {"i32", 4},
                 {"f64", 8},
                 {"i64", 8},
                 {"i1", 1}}) {
    SCOPED_TRACE(c.type);
    int n = 16 / c.bytes;
    Buffer in(16 * 64), out(16 * 64), expected(16 * 64);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = uint8_t(std::string(c.type) == "i1" ? i * 5 / 3 % 2
                      : c.bytes == 2              ? (i % 2 ? 0x3c : i / 2)
                                                  : i * 7 + 1);
    for (int v = 0; v < 64; ++v)
      for (int e = 0; e < n; ++e)
        std::memcpy(&expected[16 * v + c.bytes * e],
                    &in[16 * v + c.bytes * (n - 1 - e)], c.bytes);
    std::string ty = c.type,
                vec = "vector<" + std::to_string(n) + "x" + ty + ">";
    std::string elements, shared = "memref<" + std::to_string(64 * n) + "x" +
                                   ty + ", #tilewright.shared>";
    std::string body;
    for (int e = 0; e < n; ++e) {
      std::string name = "%e" + std::to_string(e);
      body += name + " = vector.extract %v[" + std::to_string(n - 1 - e) +
              "] : " + ty + " from " + vec + "\n";
      elements += (e ? ", " : "") + name;
    }
    // Through shared memory too: as a vector in, and out again.
    run("func.func private @k(%a: memref<?x" + ty + ">, %o: memref<?x" + ty +
            ">) " + launch(64) + " {\n%s = memref.alloc() : " + shared +
            kThreadIds + "%n = arith.constant " + std::to_string(n) +
            " : index\n%i = arith.muli %tid, %n : index\n"
            "%v = vector.load %a[%i] {alignment = 16} : memref<?x" +
            ty + ">, " + vec + "\n" + body + "%r = vector.from_elements " +
            elements + " : " + vec +
            "\nvector.store %r, %s[%i] {alignment = 16} : " + shared + ", " +
            vec + "\ngpu.barrier\n%w = vector.load %s[%i] {alignment = 16} : " +
            shared + ", " + vec +
            "\nvector.store %w, %o[%i] {alignment = 16} : memref<?x" + ty +
            ">, " + vec + "\nreturn\n}",
        {&in, &out}, {}, 1);
    EXPECT_EQ(out, expected);
  }
}

TEST_F(VulkanKernel, CopiesNarrowAlignment) {
  std::vector<uint16_t> x(512);
  std::iota(x.begin(), x.end(), 0);
  Buffer in = bytesOf(x), out(in.size());
  run("func.func private @k(%a: memref<?xf16>, %o: memref<?xf16>) " +
          launch(64) + " {" + kThreadIds + R"(
    %c8 = arith.constant 8 : index
    %i = arith.muli %tid, %c8 : index
    %v = vector.load %a[%i] {alignment = 4} : memref<?xf16>, vector<8xf16>
    vector.store %v, %o[%i] {alignment = 8} : memref<?xf16>, vector<8xf16>
    return
  })",
      {&in, &out}, {}, 1);
  EXPECT_EQ(valuesOf<uint16_t>(out), x);
}

TEST_F(VulkanKernel, PassesScalars) {
  Buffer out(6 * 8);
  run("func.func private @k(%o: memref<?xf64>, %a: index, %b: i64, %c: f32, "
      "%d: i8, %e: i1, %f: f16) " +
          launch(8) + " {" + R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %ai = arith.index_cast %a : index to i32
    %a64 = arith.sitofp %ai : i32 to f64
    %b64 = arith.sitofp %b : i64 to f64
    %c64 = arith.extf %c : f32 to f64
    %d64 = arith.sitofp %d : i8 to f64
    %e64 = arith.uitofp %e : i1 to f64
    %f64 = arith.extf %f : f16 to f64
    memref.store %a64, %o[%c0] : memref<?xf64>
    memref.store %b64, %o[%c1] : memref<?xf64>
    memref.store %c64, %o[%c2] : memref<?xf64>
    memref.store %d64, %o[%c3] : memref<?xf64>
    memref.store %e64, %o[%c4] : memref<?xf64>
    memref.store %f64, %o[%c5] : memref<?xf64>
    return
  })",
      {&out},
      {i32(-7), i64(int64_t(1) << 40), f32(0.5f), i32(-3), i32(1), i32(0x3e00)},
      1);
  EXPECT_EQ(
      valuesOf<double>(out),
      (std::vector<double>{-7, double(int64_t(1) << 40), 0.5, -3, 1, 1.5}));
}

TEST_F(VulkanKernel, PassesManyScalarsInUniformBuffer) {
  std::string args, body = "%s0 = arith.constant 0 : i32\n";
  std::vector<Scalar> scalars;
  for (int i = 0; i < 40; ++i) {
    std::string n = std::to_string(i);
    args += ", %a" + n + ": i32";
    body += "%s" + std::to_string(i + 1) + " = arith.addi %s" + n + ", %a" + n +
            " : i32\n";
    scalars.push_back(i32(1 + i * i));
  }
  Buffer out(4);
  run("func.func private @k(%o: memref<?xi32>" + args + ") " + launch(8) +
          " {\n" + body +
          "%c0 = arith.constant 0 : index\n"
          "memref.store %s40, %o[%c0] : memref<?xi32>\nreturn\n}",
      {&out}, scalars, 1);
  EXPECT_EQ(valuesOf<int32_t>(out)[0], 40 + 39 * 40 * 79 / 6);
}

TEST_F(VulkanKernel, IndexesWith64Bits) {
  std::vector<float> x(128, 3.0f);
  Buffer in = bytesOf(x), out(in.size());
  std::string attributes = launch(64);
  attributes.insert(attributes.find('{') + 1,
                    "tilewright.index_bits = 64 : i64, ");
  run("func.func private @k(%a: memref<?xf32>, %o: memref<?xf32>, %n: index) " +
          attributes + " {" + kThreadIds + R"(
    %c64 = arith.constant 64 : index
    %base = arith.muli %bx, %c64 : index
    %i = arith.addi %base, %tid : index
    %big = arith.constant 8589934592 : index
    %far = arith.addi %i, %big : index
    %back = arith.subi %far, %n : index
    %v = memref.load %a[%back] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %o[%back] : memref<?xf32>
    return
  })",
      {&in, &out}, {i64(8589934592)}, 2);
  EXPECT_EQ(valuesOf<float>(out), std::vector<float>(128, 6.0f));
}
