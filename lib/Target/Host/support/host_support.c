/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of every host program that is the same in all of them: the query
 * function, and one small function per thing that generated code asks of the
 * runtime. Compiled at build time, kept inside the compiler, linked into every
 * artifact. Freestanding: nothing here may call a library.
 *
 * It exists twice. Programs of the reference target (TILEWRIGHT_REFERENCE)
 * compute on the host, where going on after an error would touch memory that
 * does not exist: their functions get a `run` in place of the runtime's
 * context, and an error leaves the whole call.
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

#ifdef TILEWRIGHT_REFERENCE
#if defined(__aarch64__)
/* Clang's __builtin_setjmp is not for this processor. The registers that a call keeps
 * (AAPCS64, section 6.1): x19-x30, sp, d8-d15. */
typedef uint64_t jump_buffer[21];
__attribute__((naked, returns_twice)) static int set_jump(uint64_t *buffer) {
  __asm__("stp x19, x20, [x0]\n stp x21, x22, [x0, #16]\n stp x23, x24, [x0, #32]\n"
          "stp x25, x26, [x0, #48]\n stp x27, x28, [x0, #64]\n stp x29, x30, [x0, #80]\n"
          "mov x9, sp\n str x9, [x0, #96]\n"
          "stp d8, d9, [x0, #104]\n stp d10, d11, [x0, #120]\n"
          "stp d12, d13, [x0, #136]\n stp d14, d15, [x0, #152]\n"
          "mov w0, #0\n ret");
}
__attribute__((naked, noreturn)) static void jump_to(uint64_t *buffer) {
  __asm__("ldp x19, x20, [x0]\n ldp x21, x22, [x0, #16]\n ldp x23, x24, [x0, #32]\n"
          "ldp x25, x26, [x0, #48]\n ldp x27, x28, [x0, #64]\n ldp x29, x30, [x0, #80]\n"
          "ldr x9, [x0, #96]\n mov sp, x9\n"
          "ldp d8, d9, [x0, #104]\n ldp d10, d11, [x0, #120]\n"
          "ldp d12, d13, [x0, #136]\n ldp d14, d15, [x0, #152]\n"
          "mov w0, #1\n ret");
}
#else
typedef void *jump_buffer[5];
#define set_jump __builtin_setjmp
#define jump_to(buffer) __builtin_longjmp(buffer, 1)
#endif
enum { MAX_MAPPED = 4096 };
typedef struct twh_context {
  tw_context *context;
  jump_buffer jump;
  int32_t mapped;
  tw_view *views[MAX_MAPPED];
  int32_t constants[MAX_MAPPED]; /* their numbers; -1: arguments */
  void *data[MAX_MAPPED];
} twh_context;
#define CONTEXT(c) ((c)->context)

/* Leaves the call if an error is recorded. */
static void leave_on_error(twh_context *c) {
  if (!api->ok(c->context))
    jump_to(c->jump);
}
#else
typedef tw_context twh_context;
#define CONTEXT(c) (c)
static void leave_on_error(twh_context *c) { (void)c; }
#endif

/* Tensors. */

tw_view *twh_alloc(twh_context *c, int32_t dtype, int32_t rank,
                   const int64_t *dims) {
  return api->alloc(CONTEXT(c), dtype, rank, dims);
}

/* A tensor in the bytes of another from `offset` on. */
tw_view *twh_place(twh_context *c, tw_view *arena, int64_t offset, int32_t dtype,
                   int32_t rank, const int64_t *dims) {
  return api->place(CONTEXT(c), arena, offset, dtype, rank, dims);
}

enum { MAX_RANK = 32 };

static void read_dims(twh_context *c, const tw_view *view, int32_t rank,
                      int64_t *dims) {
  for (int32_t d = 0; d < rank; ++d)
    dims[d] = api->dim(CONTEXT(c), view, d);
}

/* A new tensor with the type and shape of another, contents undefined. */
tw_view *twh_alloc_like(twh_context *c, const tw_view *view, int32_t dtype,
                        int32_t rank) {
  int64_t dims[MAX_RANK];
  if (rank > MAX_RANK) {
    api->check(CONTEXT(c), 0, "a tensor has more than 32 dims");
    return 0;
  }
  read_dims(c, view, rank, dims);
  return api->alloc(CONTEXT(c), dtype, rank, dims);
}

tw_view *twh_constant(twh_context *c, int32_t id) { return api->constant(CONTEXT(c), id); }
tw_view *twh_clone(twh_context *c, const tw_view *view) {
  return api->clone(CONTEXT(c), view);
}
void twh_copy(twh_context *c, tw_view *dst, const tw_view *src) {
  api->copy(CONTEXT(c), dst, src);
}
tw_view *twh_reshape(twh_context *c, tw_view *view, int32_t rank,
                     const int64_t *dims) {
  return api->reshape(CONTEXT(c), view, rank, dims);
}
void twh_retain(twh_context *c, tw_view *view) { api->retain(CONTEXT(c), view); }
void twh_release(twh_context *c, tw_view *view) { api->release(CONTEXT(c), view); }

int64_t twh_dim(twh_context *c, const tw_view *view, int64_t d, int64_t rank) {
  if (d < 0 || d >= rank) {
    api->check(CONTEXT(c), 0, "tensor.dim: the tensor has no such dim");
    return 0;
  }
  return api->dim(CONTEXT(c), view, (int32_t)d);
}

int64_t twh_stride(twh_context *c, const tw_view *view, int32_t d) {
  return api->stride(CONTEXT(c), view, d);
}

tw_view *twh_window(twh_context *c, tw_view *view, int32_t rank,
                    const int64_t *offsets, const int64_t *sizes,
                    const int64_t *strides, uint64_t dropped) {
  return api->window(CONTEXT(c), view, rank, offsets, sizes, strides, dropped);
}

tw_view *twh_im2col(twh_context *c, tw_view *view, int32_t rank,
                    const int64_t *sizes, int32_t sourceRank,
                    const int64_t *steps, const char *what) {
  return api->im2col(CONTEXT(c), view, rank, sizes, sourceRank, steps, what);
}

tw_view *twh_pad(twh_context *c, tw_view *view, int32_t rank,
                 const int64_t *low, const int64_t *high, const char *what) {
  return api->pad(CONTEXT(c), view, rank, low, high, what);
}

void twh_dispatch(twh_context *c, int32_t id, int32_t numViews,
                  tw_view *const *views, int32_t numScalars,
                  const uint64_t *scalars) {
  api->dispatch(CONTEXT(c), id, numViews, views, numScalars, scalars);
}

/* Single elements. Offset of the element at `indices`, or -1 with an error. */
static int64_t offset(twh_context *c, const tw_view *view, int32_t rank,
                      const int64_t *indices, const char *message) {
  int64_t result = 0;
  for (int32_t d = 0; d < rank; ++d) {
    int64_t size = api->dim(CONTEXT(c), view, d);
    if (indices[d] < 0 || indices[d] >= size) {
      api->check(CONTEXT(c), 0, message);
      return -1;
    }
    result = result * size + indices[d];
  }
  return result;
}

/* The bits of one element of `bytes` bytes; 0 after an error. */
uint64_t twh_extract(twh_context *c, tw_view *view, int32_t bytes, int32_t rank,
                     const int64_t *indices) {
  int64_t at = offset(c, view, rank, indices,
                      "tensor.extract: an index is out of bounds");
  const unsigned char *data =
      at < 0 ? 0 : (const unsigned char *)api->map(CONTEXT(c), view, 0);
  if (!data)
    return 0;
  uint64_t value = 0;
  for (int32_t i = 0; i < bytes; ++i)
    value |= (uint64_t)data[at * bytes + i] << (8 * i);
  api->unmap(CONTEXT(c), view);
  return value;
}

void twh_insert(twh_context *c, tw_view *view, int32_t bytes, int32_t rank,
                const int64_t *indices, uint64_t value) {
  int64_t at = offset(c, view, rank, indices,
                      "tensor.insert: an index is out of bounds");
  unsigned char *data = at < 0 ? 0 : (unsigned char *)api->map(CONTEXT(c), view, 1);
  if (!data)
    return;
  for (int32_t i = 0; i < bytes; ++i)
    data[at * bytes + i] = (unsigned char)(value >> (8 * i));
  api->unmap(CONTEXT(c), view);
}

/* The first `count` elements from 64-bit slots. */
void twh_fill(twh_context *c, tw_view *view, int32_t bytes, int64_t count,
              const uint64_t *slots) {
  unsigned char *data = count ? (unsigned char *)api->map(CONTEXT(c), view, 1) : 0;
  if (!data)
    return;
  for (int64_t n = 0; n < count; ++n)
    for (int32_t i = 0; i < bytes; ++i)
      data[n * bytes + i] = (unsigned char)(slots[n] >> (8 * i));
  api->unmap(CONTEXT(c), view);
}

/* Whole tensors on the host. Null after an error. */
void *twh_map(twh_context *c, tw_view *view, int32_t write) {
  return api->map(CONTEXT(c), view, write);
}
void twh_unmap(twh_context *c, tw_view *view) { api->unmap(CONTEXT(c), view); }

/* Errors and output. */

void twh_check(twh_context *c, int32_t condition, const char *message) {
  if (condition)
    return;
  api->check(CONTEXT(c), 0, message);
  leave_on_error(c);
}
void twh_check_equal(twh_context *c, int64_t a, int64_t b, const char *message) {
  if (a == b)
    return;
  api->check_equal(CONTEXT(c), a, b, message);
  leave_on_error(c);
}
/* An error after the call if a number on the device is that of a message. */
void twh_check_later(twh_context *c, tw_view *number, int32_t count,
                     const char *const *messages) {
  api->check_later(CONTEXT(c), number, count, messages);
}
int32_t twh_ok(twh_context *c) { return api->ok(CONTEXT(c)); }
void twh_print(twh_context *c, const char *text, int64_t length) {
  api->print(CONTEXT(c), text, length);
}
void twh_print_i64(twh_context *c, int64_t value) { api->print_i64(CONTEXT(c), value); }
void twh_print_u64(twh_context *c, uint64_t value) { api->print_u64(CONTEXT(c), value); }
void twh_print_f64(twh_context *c, double value) { api->print_f64(CONTEXT(c), value); }
void twh_print_f32(twh_context *c, float value) { api->print_f32(CONTEXT(c), value); }

#ifdef TILEWRIGHT_REFERENCE
static void *map_whole(twh_context *c, tw_view *view, int32_t constant, int32_t write) {
  twh_check(c, c->mapped < MAX_MAPPED, "more than 4096 tensor arguments and parameters");
  void *data = api->map(c->context, view, write);
  leave_on_error(c);
  c->views[c->mapped] = view;
  c->constants[c->mapped] = constant;
  c->data[c->mapped++] = data;
  return data;
}

/* The host memory of an argument; one view may be several arguments. */
void *twr_map(twh_context *c, tw_view *view, int32_t write) {
  for (int32_t i = 0; i < c->mapped; ++i)
    if (c->views[i] == view)
      return c->data[i];
  return map_whole(c, view, -1, write);
}

/* That of a constant of the parameter file. */
void *twr_parameter(twh_context *c, int32_t constant) {
  for (int32_t i = 0; i < c->mapped; ++i)
    if (c->constants[i] == constant)
      return c->data[i];
  tw_view *view = api->constant(c->context, constant);
  leave_on_error(c);
  return map_whole(c, view, constant, 0);
}

enum { HEADER = 64, POINTER = 8 };

/* Memory for temporaries: a tensor of bytes whose first 64 hold its view. */
void *twr_allocate(twh_context *c, int64_t bytes) {
  twh_check(c, bytes >= 0 && bytes <= INT64_MAX - HEADER,
            "a temporary tensor is too large");
  int64_t dims[1] = {bytes + HEADER};
  tw_view *view = api->alloc(c->context, TW_I8, 1, dims);
  leave_on_error(c);
  char *data = (char *)api->map(c->context, view, 0);
  leave_on_error(c);
  __builtin_memcpy(data, &view, POINTER);
  return data + HEADER;
}

void twr_free(twh_context *c, void *memory) {
  if (!memory)
    return;
  tw_view *view;
  __builtin_memcpy(&view, (char *)memory - HEADER, POINTER);
  api->unmap(c->context, view);
  api->release(c->context, view);
}

/* A result: a tensor with these elements. */
tw_view *twr_result(twh_context *c, int32_t dtype, int32_t rank,
                    const int64_t *dims, const void *elements,
                    int64_t elementBytes) {
  tw_view *view = api->alloc(c->context, dtype, rank, dims);
  leave_on_error(c);
  int64_t bytes = elementBytes;
  for (int32_t d = 0; d < rank; ++d)
    bytes *= dims[d];
  if (bytes) {
    void *data = api->map(c->context, view, 1);
    leave_on_error(c);
    __builtin_memcpy(data, elements, bytes);
    api->unmap(c->context, view);
  }
  return view;
}

/* Runs the body of a function. */
void twr_run(tw_context *context,
             void (*body)(twh_context *, const uint64_t *, uint64_t *),
             const uint64_t *arguments, uint64_t *results) {
  twh_context run;
  run.context = context;
  run.mapped = 0;
  if (!api->ok(context))
    return;
  if (set_jump(run.jump) == 0)
    body(&run, arguments, results);
  for (int32_t i = 0; i < run.mapped; ++i)
    api->unmap(context, run.views[i]);
}
#endif
