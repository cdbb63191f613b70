// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles host programs, loads them, and runs them against a runtime made of
// a few vectors, which counts references and records what it is asked to do.

#include "tilewright/Target/Host/Host.h"

#include "tilewright/Dialect/Tilewright.h"

#include "../../../gpu-runtime/include/tilewright/program_abi.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace tilewright;

struct tw_view {
  std::shared_ptr<std::vector<float>> data;
  std::vector<int64_t> dims;
  int references = 1;
};

struct tw_context {
  std::string error, log, output;
  int live = 0;
  std::vector<float> constant = {5, 6};

  tw_view *make(std::vector<int64_t> dims,
                std::shared_ptr<std::vector<float>> data = nullptr) {
    int64_t count = 1;
    for (int64_t d : dims)
      count *= d;
    if (!data)
      data = std::make_shared<std::vector<float>>(count, -1.0f);
    ++live;
    return new tw_view{data, std::move(dims)};
  }
};

/// Kernel 0 adds 1 to each element of its last view; kernel 1 copies its first
/// view to its last; both then add their first scalar.
static void dispatch(tw_context *c, int32_t id, int32_t numViews,
                     tw_view *const *views, int32_t numScalars,
                     const uint64_t *scalars) {
  c->log += "dispatch " + std::to_string(id) + "/" + std::to_string(numViews) +
            "/" + std::to_string(numScalars) + "; ";
  tw_view *out = views[numViews - 1];
  for (int i = 0; i < numViews; ++i)
    ASSERT_GT(views[i]->references, 0);
  for (size_t i = 0; i < out->data->size(); ++i) {
    float &element = (*out->data)[i];
    element = id ? (*views[0]->data)[i] : element + 1;
    if (numScalars)
      element += int64_t(scalars[0]);
  }
}

static TilewrightHostApi makeApi() {
  TilewrightHostApi api = {};
  api.version = TW_PROGRAM_ABI_VERSION;
  api.alloc = [](tw_context *c, int32_t dtype, int32_t rank,
                 const int64_t *dims) {
    EXPECT_EQ(dtype, TW_F32);
    c->log += "alloc; ";
    return c->make({dims, dims + rank});
  };
  api.constant = [](tw_context *c, int32_t id) {
    auto data = std::shared_ptr<std::vector<float>>(&c->constant, [](void *) {});
    return c->make({2}, data);
  };
  api.retain = [](tw_context *, tw_view *v) { ++v->references; };
  api.release = [](tw_context *c, tw_view *v) {
    ASSERT_GT(v->references, 0);
    if (--v->references == 0) {
      --c->live;
      delete v;
    }
  };
  api.dim = [](tw_context *, const tw_view *v, int32_t d) { return v->dims[d]; };
  api.dispatch = dispatch;
  api.clone = [](tw_context *c, const tw_view *v) {
    c->log += "clone; ";
    return c->make(v->dims, std::make_shared<std::vector<float>>(*v->data));
  };
  api.copy = [](tw_context *c, tw_view *to, const tw_view *from) {
    if (to->data == from->data)
      return;
    c->log += "copy; ";
    *to->data = *from->data;
  };
  api.reshape = [](tw_context *c, tw_view *v, int32_t rank, const int64_t *dims) {
    return c->make({dims, dims + rank}, v->data);
  };
  api.map = [](tw_context *, tw_view *v, int32_t) -> void * {
    return v->data->data();
  };
  api.unmap = [](tw_context *, tw_view *) {};
  api.check = [](tw_context *c, int32_t ok, const char *message) {
    if (!ok && c->error.empty())
      c->error = message;
  };
  api.check_equal = [](tw_context *c, int64_t a, int64_t b, const char *message) {
    if (a != b && c->error.empty())
      c->error = std::string(message) + " (" + std::to_string(a) + " vs " +
                 std::to_string(b) + ")";
  };
  api.ok = [](tw_context *c) -> int32_t { return c->error.empty(); };
  api.print = [](tw_context *c, const char *text, int64_t n) {
    c->output.append(text, n);
  };
  api.print_i64 = [](tw_context *c, int64_t v) { c->output += std::to_string(v); };
  api.print_u64 = [](tw_context *c, uint64_t v) { c->output += std::to_string(v); };
  api.print_f64 = [](tw_context *c, double v) { c->output += std::to_string(v); };
  api.print_f32 = [](tw_context *c, float v) { c->output += std::to_string(v); };
  return api;
}

static const char *kKernels = R"(
  func.func private @inc(tensor<?xf32>) -> tensor<?xf32>
      attributes {tilewright.kernel, tilewright.access = ["readwrite"]}
  func.func private @copy(tensor<?xf32>, i32, tensor<?xf32>) -> tensor<?xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]}
)";

namespace {
struct HostTest : testing::Test {
  HostTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registry.insert<TilewrightDialect>();
    registerHostDialects(registry);
    context.appendDialectRegistry(registry);
  }
  ~HostTest() override {
    if (handle)
      dlclose(handle);
    if (file >= 0)
      close(file);
  }

  /// Compiles and loads; false with `error` filled on failure.
  bool compile(const std::string &text) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error += diagnostic.str() + "\n";
      return success();
    });
    auto module = parseSourceString<ModuleOp>(kKernels + text, &context);
    if (!module)
      return false;
    FailureOr<HostProgram> result = compileHost(*module, HostOptions());
    if (failed(result))
      return false;
    program = std::move(*result);
    file = memfd_create("host", 0);
    EXPECT_EQ(write(file, program.bytes.data(), program.bytes.size()),
              ssize_t(program.bytes.size()));
    handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW);
    if (!handle) {
      error = dlerror();
      return false;
    }
    auto query = reinterpret_cast<tw_program_query>(
        dlsym(handle, "tilewright_program_query"));
    exports = query(TW_PROGRAM_ABI_VERSION, &api);
    return exports != nullptr;
  }

  void call(unsigned function, std::vector<uint64_t> arguments) {
    std::fill(std::begin(results), std::end(results), 0);
    reinterpret_cast<tw_function>(exports->functions[function].address)(
        &run, arguments.data(), results);
  }
  tw_view *tensor(std::vector<float> values) {
    int64_t size = values.size();
    return run.make({size}, std::make_shared<std::vector<float>>(values));
  }
  static uint64_t slot(tw_view *view) { return reinterpret_cast<uint64_t>(view); }
  std::vector<float> take(unsigned number) {
    auto *view = reinterpret_cast<tw_view *>(results[number]);
    std::vector<float> values = *view->data;
    api.release(&run, view);
    return values;
  }

  MLIRContext context;
  TilewrightHostApi api = makeApi();
  std::string error;
  HostProgram program;
  const TilewrightProgramExports *exports = nullptr;
  void *handle = nullptr;
  int file = -1;
  tw_context run;
  uint64_t results[8] = {};
};
using Floats = std::vector<float>;
} // namespace

TEST_F(HostTest, DispatchesIntoANewTensor) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %s: i32) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = tilewright.dispatch @copy(%x, %s : tensor<?xf32>, i32)
             outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })")) << error;
  EXPECT_EQ(exports->numFunctions, 1u);
  EXPECT_STREQ(exports->functions[0].name, "main");
  EXPECT_EQ(program.dispatches, (std::vector<std::string>{"inc", "copy"}));
  EXPECT_TRUE(program.imports.empty());
  tw_view *x = tensor({1, 2, 3});
  call(0, {slot(x), uint64_t(-4)});
  EXPECT_EQ(take(0), (Floats{-3, -2, -1}));
  EXPECT_EQ(run.log, "alloc; dispatch 1/2/1; ");
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, CopiesDestinationsThatAreNeededLater) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %a = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
      %b = tilewright.dispatch @inc() outs(%a : tensor<?xf32>) -> tensor<?xf32>
      %c = tilewright.dispatch @inc() outs(%b : tensor<?xf32>) -> tensor<?xf32>
      return %a, %c : tensor<?xf32>, tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({1, 2});
  call(0, {slot(x)});
  EXPECT_EQ(take(0), (Floats{2, 3}));
  EXPECT_EQ(take(1), (Floats{4, 5}));
  EXPECT_EQ(*x->data, (Floats{1, 2}));
  EXPECT_EQ(run.log, "clone; dispatch 0/1/0; clone; dispatch 0/1/0; dispatch 0/1/0; ");
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, LoopsCarryTensorsInPlace) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf32> {
        %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      }
      return %r : tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({1});
  call(0, {slot(x), 3});
  EXPECT_EQ(take(0), (Floats{5}));
  EXPECT_EQ(run.log, "clone; dispatch 0/1/0; dispatch 0/1/0; dispatch 0/1/0; "
                     "dispatch 0/1/0; ");
  call(0, {slot(x), 0});
  EXPECT_EQ(take(0), (Floats{2}));
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, SwapsLoopCarriedTensors) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index)
        -> (tensor<?xf32>, tensor<?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %y)
          -> (tensor<?xf32>, tensor<?xf32>) {
        %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b, %s : tensor<?xf32>, tensor<?xf32>
      }
      return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({0}), *y = tensor({10});
  call(0, {slot(x), slot(y), 3});
  EXPECT_EQ(take(0), (Floats{12}));
  EXPECT_EQ(take(1), (Floats{1}));
  EXPECT_EQ(*x->data, (Floats{0}));
  EXPECT_EQ(*y->data, (Floats{10}));
  EXPECT_EQ(run.live, 2);
}

TEST_F(HostTest, BranchesKeepWhatTheyYield) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>, %c: i1) -> (tensor<?xf32>, tensor<?xf32>) {
      %r = scf.if %c -> tensor<?xf32> {
        %b = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      } else {
        scf.yield %x : tensor<?xf32>
      }
      %d = tilewright.dispatch @inc() outs(%r : tensor<?xf32>) -> tensor<?xf32>
      return %r, %d : tensor<?xf32>, tensor<?xf32>
    })")) << error;
  tw_view *x = tensor({1});
  call(0, {slot(x), 1});
  EXPECT_EQ(take(0), (Floats{2}));
  EXPECT_EQ(take(1), (Floats{3}));
  call(0, {slot(x), 0});
  EXPECT_EQ(take(0), (Floats{1}));
  EXPECT_EQ(take(1), (Floats{2}));
  EXPECT_EQ(run.live, 1);
}

TEST_F(HostTest, LooksAtElementsAndLoopsOnThem) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, f32) {
      %c0 = arith.constant 0 : index
      %limit = arith.constant 10.0 : f32
      %r = scf.while (%t = %x) : (tensor<?xf32>) -> tensor<?xf32> {
        %v = tensor.extract %t[%c0] : tensor<?xf32>
        %go = arith.cmpf olt, %v, %limit : f32
        scf.condition(%go) %t : tensor<?xf32>
      } do {
      ^bb0(%t: tensor<?xf32>):
        %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %b : tensor<?xf32>
      }
      %v = tensor.extract %r[%c0] : tensor<?xf32>
      return %r, %v : tensor<?xf32>, f32
    }
    func.func @out_of_bounds(%x: tensor<?xf32>, %i: index) -> f32 {
      %v = tensor.extract %x[%i] : tensor<?xf32>
      return %v : f32
    })")) << error;
  tw_view *x = tensor({3, 0});
  call(0, {slot(x)});
  EXPECT_EQ(take(0), (Floats{10, 7}));
  float v;
  memcpy(&v, &results[1], 4);
  EXPECT_EQ(v, 10);
  EXPECT_EQ(run.live, 1);
  call(1, {slot(x), 2});
  EXPECT_EQ(run.error, "tensor.extract: an index is out of bounds");
}

TEST_F(HostTest, WritesBuffersInPlace) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%m: memref<?xf32>) {
      %t = bufferization.to_tensor %m restrict writable : memref<?xf32> to tensor<?xf32>
      %b = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
      bufferization.materialize_in_destination %b in restrict writable %m
          : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
    func.func @from(%m: memref<?xf32>, %x: tensor<?xf32>) {
      bufferization.materialize_in_destination %x in restrict writable %m
          : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    })")) << error;
  tw_view *m = tensor({1, 2}), *x = tensor({7, 8});
  call(0, {slot(m)});
  EXPECT_EQ(*m->data, (Floats{2, 3}));
  EXPECT_EQ(run.log, "dispatch 0/1/0; ");
  call(1, {slot(m), slot(x)});
  EXPECT_EQ(*m->data, (Floats{7, 8}));
  EXPECT_EQ(run.live, 2);
}

TEST_F(HostTest, CallsShareAndReshape) {
  ASSERT_TRUE(compile(R"(
    func.func private @identity(%x: tensor<?xf32>) -> tensor<?xf32> {
      return %x : tensor<?xf32>
    }
    func.func @main(%x: tensor<?xf32>) -> (tensor<1x?xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %y = func.call @identity(%x) : (tensor<?xf32>) -> tensor<?xf32>
      %z = tensor.expand_shape %y [[0, 1]] output_shape [1, %n] : tensor<?xf32> into tensor<1x?xf32>
      %w = tensor.collapse_shape %z [[0, 1]] : tensor<1x?xf32> into tensor<?xf32>
      %r = tilewright.dispatch @inc() outs(%w : tensor<?xf32>) -> tensor<?xf32>
      %s = tensor.cast %r : tensor<?xf32> to tensor<4xf32>
      return %z, %s : tensor<1x?xf32>, tensor<4xf32>
    })")) << error;
  tw_view *x = tensor({1, 2, 3, 4});
  call(0, {slot(x)});
  EXPECT_EQ(take(0), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(take(1), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(run.live, 1);
  tw_view *y = tensor({1});
  call(0, {slot(y)});
  EXPECT_EQ(run.error, "tensor.cast: dim 0 is not what was promised (1 vs 4)");
}

TEST_F(HostTest, ConstantsAreNotOverwritten) {
  ASSERT_TRUE(compile(R"(
    func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) {
      %k = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
      %t = tensor.cast %k : tensor<2xf32> to tensor<?xf32>
      %r = tilewright.dispatch @inc() outs(%t : tensor<?xf32>) -> tensor<?xf32>
      %s = tensor.cast %r : tensor<?xf32> to tensor<2xf32>
      %c1 = arith.constant 1 : index
      %v = arith.constant 9.0 : f32
      %f = tensor.from_elements %v, %v, %v : tensor<3xf32>
      %z = arith.constant 1.0 : f32
      %g = tensor.insert %z into %f[%c1] : tensor<3xf32>
      return %k, %s, %g : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>
    })")) << error;
  ASSERT_EQ(program.constants.size(), 1u);
  FailureOr<std::string> bytes = getConstantBytes(program.constants[0]);
  ASSERT_TRUE(succeeded(bytes));
  EXPECT_EQ(memcmp(bytes->data(), run.constant.data(), 8), 0);
  call(0, {});
  EXPECT_EQ(take(0), (Floats{5, 6}));
  EXPECT_EQ(take(1), (Floats{6, 7}));
  EXPECT_EQ(take(2), (Floats{9, 1, 9}));
  EXPECT_EQ(run.live, 0);
}

TEST_F(HostTest, PrintsAndChecks) {
  ASSERT_TRUE(compile(R"(
    func.func @main(%a: i32, %b: i32, %f: f16) -> i32 {
      %v = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
      vector.print %v : vector<2x2xi32>
      vector.print str "q = "
      %q = arith.floordivsi %a, %b : i32
      vector.print %q : i32
      vector.print %f : f16
      %c0 = arith.constant 0 : i32
      %ok = arith.cmpi ne, %q, %c0 : i32
      cf.assert %ok, "the quotient is zero"
      return %q : i32
    })")) << error;
  call(0, {uint64_t(-7), 2, 0x3c00});
  EXPECT_EQ(int32_t(results[0]), -4);
  EXPECT_EQ(run.output, "( ( 1, 2 ), ( 3, 4 ) )\nq = -4\n1.000000\n");
  EXPECT_EQ(run.error, "");
  call(0, {1, 2, 0});
  EXPECT_EQ(run.error, "the quotient is zero");
  run.error.clear();
  call(0, {1, 0, 0});
  EXPECT_NE(run.error.find("arith.floordivsi: the result does not exist"),
            std::string::npos);
}

TEST_F(HostTest, ImportsOnlyWhatIsDeclared) {
  ASSERT_TRUE(compile(R"(
    func.func private @labs(i64) -> i64
    func.func @main(%a: i64) -> i64 {
      %r = func.call @labs(%a) : (i64) -> i64
      return %r : i64
    })")) << error;
  EXPECT_EQ(program.imports, std::vector<std::string>{"labs"});
  call(0, {uint64_t(-3)});
  EXPECT_EQ(results[0], 3u);
}

TEST_F(HostTest, ExplainsWhatItRefuses) {
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<*xf32>) { return })"));
  EXPECT_NE(error.find("ranked tensors"), std::string::npos) << error;
  error.clear();
  EXPECT_FALSE(compile(R"(
    func.func private @f(tensor<4xf32>)
    func.func @main() { return })"));
  EXPECT_NE(error.find("external functions take scalars"), std::string::npos)
      << error;
  error.clear();
  EXPECT_FALSE(compile(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
      %0 = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
      return %0 : tensor<2xf32>
    })"));
  EXPECT_NE(error.find("tensor.extract_slice"), std::string::npos) << error;
}

TEST_F(HostTest, TwoCompilationsAreIdentical) {
  std::string text = R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %a = tilewright.dispatch @inc() outs(%x : tensor<?xf32>) -> tensor<?xf32>
      return %a : tensor<?xf32>
    })";
  auto module = parseSourceString<ModuleOp>(kKernels + text, &context);
  ASSERT_TRUE(bool(module));
  FailureOr<HostProgram> one = compileHost(*module, HostOptions());
  FailureOr<HostProgram> two = compileHost(*module, HostOptions());
  ASSERT_TRUE(succeeded(one) && succeeded(two));
  EXPECT_EQ(one->bytes, two->bytes);
}
