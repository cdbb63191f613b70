/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The interface between a compiled host program (ELF inside an artifact) and
 * the runtime. The compiler emits loads from these tables by field order, so
 * fields are only ever appended and TW_PROGRAM_ABI_VERSION counts changes.
 *
 * Conventions: every function takes the call's context first. A `tw_view *`
 * result is owned by the caller (one reference) and dropped with `release`.
 * After a recorded error every function is a no-op that returns 0 / null; null
 * views are accepted everywhere and ignored.
 */
#ifndef TILEWRIGHT_PROGRAM_ABI_H
#define TILEWRIGHT_PROGRAM_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_PROGRAM_ABI_VERSION 5u

/* Element types; the numbers are part of the ABI. */
typedef enum tw_dtype {
  TW_F64 = 1, TW_F32 = 2, TW_F16 = 3, TW_BF16 = 4, TW_F8E4M3FN = 5,
  TW_F8E5M2 = 6, TW_I64 = 7, TW_I32 = 8, TW_I16 = 9, TW_I8 = 10,
  TW_I4 = 11, TW_I1 = 12, TW_INDEX = 13, TW_F8E4M3FNUZ = 14,
  TW_F8E5M2FNUZ = 15, TW_I2 = 16
} tw_dtype;

typedef struct tw_view tw_view;       /* a tensor on the program's device */
typedef struct tw_context tw_context; /* one call of one function */

/* Functions the runtime gives to the host program. */
typedef struct TilewrightHostApi {
  uint32_t version;
  uint32_t reserved;
  /* A new, uninitialised, dense tensor on the device. dims: rank values,
   * elements; a negative dim or an overflowing size is a recorded error. */
  tw_view *(*alloc)(tw_context *, int32_t dtype, int32_t rank,
                    const int64_t *dims);
  /* Constant number `id` of the manifest; uploaded once per loaded program. */
  tw_view *(*constant)(tw_context *, int32_t id);
  void (*retain)(tw_context *, tw_view *);
  void (*release)(tw_context *, tw_view *);
  /* Size of dim d, elements. */
  int64_t (*dim)(tw_context *, const tw_view *, int32_t d);
  /* Launches dispatch number `id` of the manifest on views (numViews, in
   * operand order) and scalars (numScalars slots of 64 bits). Asynchronous. */
  void (*dispatch)(tw_context *, int32_t id, int32_t numViews,
                   tw_view *const *views, int32_t numScalars,
                   const uint64_t *scalars);
  /* A new tensor holding a copy of the source (same device, asynchronous). */
  tw_view *(*clone)(tw_context *, const tw_view *);
  /* dst := src, same dtype and shape (asynchronous). */
  void (*copy)(tw_context *, tw_view *dst, const tw_view *src);
  /* The same elements under another shape (row-major order kept); shares the
   * buffer. The number of elements must agree. */
  tw_view *(*reshape)(tw_context *, tw_view *, int32_t rank,
                      const int64_t *dims);
  /* Waits for the device and returns a host pointer to the elements, dense
   * row-major, valid until unmap. If `write` is non-zero the contents go back
   * to the device at unmap. Null after an error: host code tests it before it
   * touches an element. */
  void *(*map)(tw_context *, tw_view *, int32_t write);
  void (*unmap)(tw_context *, tw_view *);
  /* Records an error with the message unless condition is non-zero. */
  void (*check)(tw_context *, int32_t condition, const char *message);
  /* Records "message (a vs b)" unless a == b. */
  void (*check_equal)(tw_context *, int64_t a, int64_t b, const char *message);
  /* 1 while no error is recorded. */
  int32_t (*ok)(tw_context *);
  /* Writes text to the program's output (stdout unless redirected). */
  void (*print)(tw_context *, const char *text, int64_t length);
  void (*print_i64)(tw_context *, int64_t value);
  void (*print_u64)(tw_context *, uint64_t value);
  void (*print_f64)(tw_context *, double value);
  void (*print_f32)(tw_context *, float value);
  /* Version 2. A window of a tensor, which shares its buffer: `sizes` elements
   * from `offsets` in steps of `strides` (rank values each); dims with a bit in
   * `dropped` have size 1 and are left out. A window that is not dense is an
   * operand of dispatches and nothing else. */
  tw_view *(*window)(tw_context *, tw_view *, int32_t rank,
                     const int64_t *offsets, const int64_t *sizes,
                     const int64_t *strides, uint64_t dropped);
  /* Elements between neighbours along dim d. */
  int64_t (*stride)(tw_context *, const tw_view *, int32_t d);
  /* Version 3. Every window of a tensor, which shares its buffer: `rank` dims
   * of `sizes`; one step along dim i of the result moves by
   * steps[d * rank + i] along dim d of the source, for each of its sourceRank
   * dims. Windows that leave the source are a recorded error; `what` names the
   * op in front of its message. */
  tw_view *(*im2col)(tw_context *, tw_view *, int32_t rank,
                     const int64_t *sizes, int32_t sourceRank,
                     const int64_t *steps, const char *what);
  /* Version 4. A new, uninitialised, dense tensor in the buffer of another,
   * `offset` bytes from its first element on. */
  tw_view *(*place)(tw_context *, tw_view *, int64_t offset, int32_t dtype,
                    int32_t rank, const int64_t *dims);
  /* A tensor with `low` elements more in front and `high` behind
   * along each of its `rank` dims, which shares its buffer: what it has more is
   * nowhere. It, and windows of it, are operands of dispatches whose kernels
   * know what is inside, and nothing else. */
  tw_view *(*pad)(tw_context *, tw_view *, int32_t rank, const int64_t *low,
                  const int64_t *high, const char *what);
  /* Version 5. An error with message n if n, which the work so far leaves in a
   * tensor of one i32, is less than `count`. Asynchronous: whoever synchronises
   * the stream next hears of it. */
  void (*check_later)(tw_context *, tw_view *number, int32_t count,
                      const char *const *messages);
} TilewrightHostApi;

/* args / results: one 64-bit slot each, a tw_view * (borrowed for arguments,
 * owned by the caller for results) or a scalar's bits. */
typedef void (*tw_function)(tw_context *, const uint64_t *args,
                            uint64_t *results);
/* A CPU kernel, called once per block. */
typedef void (*tw_cpu_kernel)(const uint64_t *params, uint32_t x, uint32_t y,
                              uint32_t z);

typedef struct TilewrightNamed {
  const char *name;
  void (*address)(void);
} TilewrightNamed;

typedef struct TilewrightProgramExports {
  uint32_t version;
  uint32_t numFunctions;
  uint32_t numKernels;
  uint32_t reserved;
  const TilewrightNamed *functions; /* tw_function, in manifest order */
  const TilewrightNamed *kernels;   /* tw_cpu_kernel, by variant name */
} TilewrightProgramExports;

typedef const TilewrightProgramExports *(*tw_program_query)(
    uint32_t abiVersion, const TilewrightHostApi *api);

#ifdef __cplusplus
}
#endif
#endif
