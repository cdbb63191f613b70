/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of every host program that is the same in all of them: the query
 * function, and one small function per thing that generated code asks of the
 * runtime. Compiled at build time, kept inside the compiler, linked into every
 * artifact. Freestanding: nothing here may call a library.
 */
#include "tilewright/program_abi.h"

/* From the generated module. */
extern const TilewrightProgramExports twh_exports;

static const TilewrightHostApi *api;

__attribute__((visibility("default"))) const TilewrightProgramExports *
tilewright_program_query(uint32_t abiVersion, const TilewrightHostApi *table) {
  if (abiVersion < TW_PROGRAM_ABI_VERSION || !table ||
      table->version < TW_PROGRAM_ABI_VERSION)
    return 0;
  api = table;
  return &twh_exports;
}

/* Tensors. */

tw_view *twh_alloc(tw_context *c, int32_t dtype, int32_t rank,
                   const int64_t *dims) {
  return api->alloc(c, dtype, rank, dims);
}

enum { MAX_RANK = 32 };

static void read_dims(tw_context *c, const tw_view *view, int32_t rank,
                      int64_t *dims) {
  for (int32_t d = 0; d < rank; ++d)
    dims[d] = api->dim(c, view, d);
}

/* A new tensor with the type and shape of another, contents undefined. */
tw_view *twh_alloc_like(tw_context *c, const tw_view *view, int32_t dtype,
                        int32_t rank) {
  int64_t dims[MAX_RANK];
  if (rank > MAX_RANK) {
    api->check(c, 0, "a tensor has more than 32 dims");
    return 0;
  }
  read_dims(c, view, rank, dims);
  return api->alloc(c, dtype, rank, dims);
}

tw_view *twh_constant(tw_context *c, int32_t id) { return api->constant(c, id); }
tw_view *twh_clone(tw_context *c, const tw_view *view) {
  return api->clone(c, view);
}
void twh_copy(tw_context *c, tw_view *dst, const tw_view *src) {
  api->copy(c, dst, src);
}
tw_view *twh_reshape(tw_context *c, tw_view *view, int32_t rank,
                     const int64_t *dims) {
  return api->reshape(c, view, rank, dims);
}
void twh_retain(tw_context *c, tw_view *view) { api->retain(c, view); }
void twh_release(tw_context *c, tw_view *view) { api->release(c, view); }

int64_t twh_dim(tw_context *c, const tw_view *view, int64_t d, int64_t rank) {
  if (d < 0 || d >= rank) {
    api->check(c, 0, "tensor.dim: the tensor has no such dim");
    return 0;
  }
  return api->dim(c, view, (int32_t)d);
}

void twh_dispatch(tw_context *c, int32_t id, int32_t numViews,
                  tw_view *const *views, int32_t numScalars,
                  const uint64_t *scalars) {
  api->dispatch(c, id, numViews, views, numScalars, scalars);
}

/* Single elements. Offset of the element at `indices`, or -1 with an error. */
static int64_t offset(tw_context *c, const tw_view *view, int32_t rank,
                      const int64_t *indices, const char *message) {
  int64_t result = 0;
  for (int32_t d = 0; d < rank; ++d) {
    int64_t size = api->dim(c, view, d);
    if (indices[d] < 0 || indices[d] >= size) {
      api->check(c, 0, message);
      return -1;
    }
    result = result * size + indices[d];
  }
  return result;
}

/* The bits of one element of `bytes` bytes; 0 after an error. */
uint64_t twh_extract(tw_context *c, tw_view *view, int32_t bytes, int32_t rank,
                     const int64_t *indices) {
  int64_t at = offset(c, view, rank, indices,
                      "tensor.extract: an index is out of bounds");
  const unsigned char *data =
      at < 0 ? 0 : (const unsigned char *)api->map(c, view, 0);
  if (!data)
    return 0;
  uint64_t value = 0;
  for (int32_t i = 0; i < bytes; ++i)
    value |= (uint64_t)data[at * bytes + i] << (8 * i);
  api->unmap(c, view);
  return value;
}

void twh_insert(tw_context *c, tw_view *view, int32_t bytes, int32_t rank,
                const int64_t *indices, uint64_t value) {
  int64_t at = offset(c, view, rank, indices,
                      "tensor.insert: an index is out of bounds");
  unsigned char *data = at < 0 ? 0 : (unsigned char *)api->map(c, view, 1);
  if (!data)
    return;
  for (int32_t i = 0; i < bytes; ++i)
    data[at * bytes + i] = (unsigned char)(value >> (8 * i));
  api->unmap(c, view);
}

/* The first `count` elements from 64-bit slots. */
void twh_fill(tw_context *c, tw_view *view, int32_t bytes, int64_t count,
              const uint64_t *slots) {
  unsigned char *data = count ? (unsigned char *)api->map(c, view, 1) : 0;
  if (!data)
    return;
  for (int64_t n = 0; n < count; ++n)
    for (int32_t i = 0; i < bytes; ++i)
      data[n * bytes + i] = (unsigned char)(slots[n] >> (8 * i));
  api->unmap(c, view);
}

/* Whole tensors on the host. Null after an error. */
void *twh_map(tw_context *c, tw_view *view, int32_t write) {
  return api->map(c, view, write);
}
void twh_unmap(tw_context *c, tw_view *view) { api->unmap(c, view); }

/* Errors and output. */

void twh_check(tw_context *c, int32_t condition, const char *message) {
  if (!condition)
    api->check(c, 0, message);
}
void twh_check_equal(tw_context *c, int64_t a, int64_t b, const char *message) {
  if (a != b)
    api->check_equal(c, a, b, message);
}
int32_t twh_ok(tw_context *c) { return api->ok(c); }
void twh_print(tw_context *c, const char *text, int64_t length) {
  api->print(c, text, length);
}
void twh_print_i64(tw_context *c, int64_t value) { api->print_i64(c, value); }
void twh_print_u64(tw_context *c, uint64_t value) { api->print_u64(c, value); }
void twh_print_f64(tw_context *c, double value) { api->print_f64(c, value); }
void twh_print_f32(tw_context *c, float value) { api->print_f32(c, value); }
