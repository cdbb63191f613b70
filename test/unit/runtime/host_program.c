/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A host program by hand, with cpu kernels, for the runtime's tests. Its
 * functions, kernels and dispatches are numbered as in test_program.cpp.
 */
#include "tilewright/program_abi.h"

static const TilewrightHostApi *api;

static float *floats(uint64_t slot) { return (float *)(uintptr_t)slot; }

static float asFloat(uint64_t bits) {
  union {
    uint32_t u;
    float f;
  } cast = {(uint32_t)bits};
  return cast.f;
}

/*===-- Kernels -----------------------------------------------------------===*/

/* C[y*4.., x] = A B, one block per element of C. (A, B, C, K, N) */
static void matmul(const uint64_t *p, uint32_t x, uint32_t y, uint32_t z) {
  (void)z;
  int64_t K = (int32_t)p[3], N = (int32_t)p[4];
  float sum = 0;
  for (int64_t k = 0; k < K; ++k)
    sum += floats(p[0])[y * K + k] * floats(p[1])[k * N + x];
  floats(p[2])[y * N + x] = sum;
}

/* out = in * s + bias[0]; blocks of 8. (in, bias, out, n, s) */
static void scale(const uint64_t *p, uint32_t x, uint32_t y, uint32_t z) {
  (void)y, (void)z;
  int64_t n = (int64_t)p[3];
  for (int64_t i = x * 8; i < n && i < x * 8 + 8; ++i)
    floats(p[2])[i] = floats(p[0])[i] * asFloat(p[4]) + floats(p[1])[0];
}

/* data += 1. (data) */
static void increment(const uint64_t *p, uint32_t x, uint32_t y, uint32_t z) {
  (void)y, (void)z;
  ((int32_t *)(uintptr_t)p[0])[x] += 1;
}

/* Waits until data[0] is not zero. (data) */
static void spin(const uint64_t *p, uint32_t x, uint32_t y, uint32_t z) {
  (void)x, (void)y, (void)z;
  while (*(volatile int32_t *)(uintptr_t)p[0] == 0)
    ;
}

/* A block takes about a millisecond: work that can be stopped between blocks. */
static void crawl(const uint64_t *p, uint32_t x, uint32_t y, uint32_t z) {
  (void)x, (void)y, (void)z;
  for (volatile int32_t i = 0; i < 300000; ++i)
    ;
  ((volatile int32_t *)(uintptr_t)p[0])[1] = 1;
}

/*===-- Functions ---------------------------------------------------------===*/

static void main_(tw_context *c, const uint64_t *args, uint64_t *results) {
  tw_view *a = (tw_view *)(uintptr_t)args[0];
  tw_view *b = (tw_view *)(uintptr_t)args[1];
  int64_t dims[2] = {api->dim(c, a, 0), api->dim(c, b, 1)};
  tw_view *out = api->alloc(c, TW_F32, 2, dims);
  tw_view *views[3] = {a, b, out};
  api->dispatch(c, 0, 3, views, 0, 0);
  results[0] = (uintptr_t)out;
}

/* y = x * s + bias, and the sum of y, read back on the host. */
static void scaleAndSum(tw_context *c, const uint64_t *args,
                        uint64_t *results) {
  tw_view *x = (tw_view *)(uintptr_t)args[0];
  int64_t n = api->dim(c, x, 0);
  tw_view *bias = api->constant(c, 0);
  tw_view *y = api->alloc(c, TW_F32, 1, &n);
  tw_view *views[3] = {x, bias, y};
  uint64_t scalars[1] = {args[1]};
  api->dispatch(c, 1, 3, views, 1, scalars);
  api->release(c, bias);
  float sum = 0;
  float *elements = (float *)api->map(c, y, 0);
  for (int64_t i = 0; elements && i < n; ++i)
    sum += elements[i];
  api->unmap(c, y);
  union {
    float f;
    uint32_t u;
  } cast = {sum};
  results[0] = (uintptr_t)y;
  results[1] = cast.u;
}

static void inplace(tw_context *c, const uint64_t *args, uint64_t *results) {
  (void)results;
  tw_view *data = (tw_view *)(uintptr_t)args[0];
  api->dispatch(c, 2, 1, &data, 0, 0);
}

/* An error in the middle, with a temporary alive. */
static void fail(tw_context *c, const uint64_t *args, uint64_t *results) {
  (void)args;
  int64_t n = 16;
  tw_view *temporary = api->alloc(c, TW_I32, 1, &n);
  api->check_equal(c, 3, 4, "linalg.matmul: K of the operands differs");
  api->check(c, 0, "never reached");
  tw_view *more = api->alloc(c, TW_I32, 1, &n);
  api->release(c, more);
  results[0] = (uintptr_t)temporary;
}

/* Prints, and writes through map: result[i] = i. */
static void print(tw_context *c, const uint64_t *args, uint64_t *results) {
  int64_t n = (int64_t)args[0];
  api->print(c, "n = ", 4);
  api->print_i64(c, n);
  api->print(c, ", ", 2);
  api->print_f32(c, 1.5f);
  api->print(c, "\n", 1);
  tw_view *out = api->alloc(c, TW_I64, 1, &n);
  int64_t *elements = (int64_t *)api->map(c, out, 1);
  for (int64_t i = 0; elements && i < n; ++i)
    elements[i] = i;
  api->unmap(c, out);
  results[0] = (uintptr_t)out;
}

/* n increments of a copy of the input, as a matrix of 2 columns. */
static void loop(tw_context *c, const uint64_t *args, uint64_t *results) {
  tw_view *in = (tw_view *)(uintptr_t)args[0];
  tw_view *data = api->clone(c, in);
  for (int64_t i = 0; i < (int64_t)args[1] && api->ok(c); ++i) {
    tw_view *next = api->clone(c, data);
    api->dispatch(c, 2, 1, &next, 0, 0);
    api->copy(c, data, next);
    api->release(c, next);
  }
  int64_t dims[2] = {api->dim(c, data, 0) / 2, 2};
  tw_view *shaped = api->reshape(c, data, 2, dims);
  api->release(c, data);
  results[0] = (uintptr_t)shaped;
}

static void hang(tw_context *c, const uint64_t *args, uint64_t *results) {
  (void)results;
  tw_view *data = (tw_view *)(uintptr_t)args[0];
  api->dispatch(c, 3, 1, &data, 0, 0);
}

static void crawlOn(tw_context *c, const uint64_t *args, uint64_t *results) {
  (void)results;
  tw_view *data = (tw_view *)(uintptr_t)args[0];
  api->dispatch(c, 4, 1, &data, 0, 0);
}

/* Has many tensors, releases every other one and makes more in their place. Then uses
 * one that it has released. */
static void stale(tw_context *c, const uint64_t *args, uint64_t *results) {
  (void)args, (void)results;
  tw_view *views[50];
  for (int64_t i = 0; i < 40; ++i)
    views[i] = api->alloc(c, TW_I32, 1, &i);
  for (int64_t i = 0; i < 40; i += 2)
    api->release(c, views[i]);
  for (int64_t i = 40; i < 50; ++i)
    views[i] = api->alloc(c, TW_I32, 1, &i);
  for (int64_t i = 1; i < 50; i += i < 40 ? 2 : 1)
    api->check_equal(c, api->dim(c, views[i], 0), i, "another tensor");
  api->dispatch(c, 2, 1, &views[0], 0, 0);
}

/* The number of the first check that fails, which a kernel computes, and then an
 * error of the host where the second argument is not 0. */
static void checkLater(tw_context *c, const uint64_t *args, uint64_t *results) {
  static const char *const messages[] = {"index is negative", "index is too large"};
  tw_view *in = (tw_view *)(uintptr_t)args[0];
  tw_view *number = api->clone(c, in);
  api->dispatch(c, 2, 1, &number, 0, 0);
  api->check_later(c, number, 2, messages);
  api->check_later(c, number, 1, messages + 1);
  api->check(c, args[1] == 0, "the host says no");
  results[0] = (uintptr_t)number;
}

/*===-- Exports -----------------------------------------------------------===*/

typedef void (*Address)(void);
static const TilewrightNamed functions[] = {
    {"main", (Address)main_},       {"scale_and_sum", (Address)scaleAndSum},
    {"inplace", (Address)inplace},  {"fail", (Address)fail},
    {"print", (Address)print},      {"loop", (Address)loop},
    {"hang", (Address)hang},        {"stale", (Address)stale},
    {"crawl", (Address)crawlOn},    {"check_later", (Address)checkLater}};
static const TilewrightNamed kernels[] = {{"matmul", (Address)matmul},
                                          {"scale", (Address)scale},
                                          {"increment", (Address)increment},
                                          {"spin", (Address)spin},
                                          {"crawl", (Address)crawl}};
static const TilewrightProgramExports table = {
    TW_PROGRAM_ABI_VERSION, 10, 5, 0, functions, kernels};

const TilewrightProgramExports *
tilewright_program_query(uint32_t version, const TilewrightHostApi *given) {
  if (version < TW_PROGRAM_ABI_VERSION)
    return 0;
  api = given;
  return &table;
}
