// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A runtime made of a few vectors, which counts references and records what it
// is asked to do, for tests of compiled host programs.

#ifndef TILEWRIGHT_TEST_MOCKRUNTIME_H
#define TILEWRIGHT_TEST_MOCKRUNTIME_H

#include "tilewright/Target/Host/Host.h"
#include "tilewright/Target/Reference/Reference.h"

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
inline void mockDispatch(tw_context *c, int32_t id, int32_t numViews,
                     tw_view *const *views, int32_t numScalars,
                     const uint64_t *scalars) {
  c->log += "dispatch " + std::to_string(id) + "/" + std::to_string(numViews) +
            "/" + std::to_string(numScalars) + "; ";
  tw_view *out = views[numViews - 1];
  for (int i = 0; i < numViews; ++i)
    ASSERT_GT(views[i]->references, 0);
  for (int64_t i = 0; i < out->dims[0]; ++i) {
    float &element = (*out->data)[i];
    element = id ? (*views[0]->data)[i] : element + 1;
    if (numScalars)
      element += int64_t(scalars[0]);
  }
}

inline TilewrightHostApi makeApi() {
  TilewrightHostApi api = {};
  api.version = TW_PROGRAM_ABI_VERSION;
  api.alloc = [](tw_context *c, int32_t dtype, int32_t rank,
                 const int64_t *dims) {
    c->log += "alloc; ";
    int64_t bytes = dtype == TW_F64 || dtype == TW_I64 || dtype == TW_INDEX ? 8
                    : dtype == TW_F32 || dtype == TW_I32                    ? 4
                    : dtype == TW_I8 || dtype == TW_I1                      ? 1
                                                                            : 2;
    for (int32_t d = 0; d < rank; ++d)
      bytes *= dims[d];
    if (bytes < 0 || bytes > 1 << 28) {
      c->error = "no memory";
      return static_cast<tw_view *>(nullptr);
    }
    return c->make({dims, dims + rank},
                   std::make_shared<std::vector<float>>(bytes / 4 + 1, -1.0f));
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
  api.dispatch = mockDispatch;
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

struct MockRuntimeTest : testing::Test {
  MockRuntimeTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registry.insert<TilewrightDialect>();
    registerHostDialects(registry);
    registerReferenceDialects(registry);
    context.appendDialectRegistry(registry);
  }
  ~MockRuntimeTest() override {
    if (handle)
      dlclose(handle);
    if (file >= 0)
      close(file);
  }

  using Compiler = FailureOr<HostProgram>(ModuleOp, HostOptions);

  /// Compiles and loads; false with `error` filled on failure.
  bool load(const std::string &text, llvm::function_ref<Compiler> compiler) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error += diagnostic.str() + "\n";
      return success();
    });
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return false;
    FailureOr<HostProgram> result = compiler(*module, HostOptions());
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
    return tensor(values, {size});
  }
  tw_view *tensor(std::vector<float> values, std::vector<int64_t> dims) {
    return run.make(dims, std::make_shared<std::vector<float>>(values));
  }
  static uint64_t slot(tw_view *view) { return reinterpret_cast<uint64_t>(view); }
  std::vector<float> take(unsigned number) {
    auto *view = reinterpret_cast<tw_view *>(results[number]);
    int64_t count = 1;
    for (int64_t d : view->dims)
      count *= d;
    std::vector<float> values(view->data->begin(), view->data->begin() + count);
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

#endif
