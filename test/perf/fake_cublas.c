/* Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * cuBLAS that multiplies nothing, and refuses what the real one would: types
 * that do not belong together, scalars of another type, sizes that do not. */

typedef void *handle_t;
static int made;
static void *queue;

int cublasCreate_v2(handle_t *handle) {
  *handle = &made;
  return 0;
}

int cublasSetStream_v2(handle_t handle, void *stream) {
  queue = stream;
  return handle == &made && stream ? 0 : 1;
}

/* cudaDataType and cublasComputeType_t, by their numbers. */
enum { F32 = 0, F64 = 1, F16 = 2, I8 = 3, I32 = 10, BF16 = 14 };

static int fits(int operand, int result, int compute) {
  switch (compute) {
  case 68: /* 32F */
    return ((operand == F16 || operand == BF16) &&
            (result == operand || result == F32)) ||
           (operand == F32 && result == F32);
  case 70: /* 64F */
    return operand == F64 && result == F64;
  case 72: /* 32I */
    return operand == I8 && result == I32;
  }
  return 0;
}

static int is_number(const void *scalar, int compute, int number) {
  return compute == 68   ? *(const float *)scalar == number
         : compute == 70 ? *(const double *)scalar == number
                         : *(const int *)scalar == number;
}

int cublasGemmEx(handle_t handle, int transposed_a, int transposed_b, int m,
                 int n, int k, const void *alpha, const void *a, int a_type,
                 int lda, const void *b, int b_type, int ldb, const void *beta,
                 void *c, int c_type, int ldc, int compute, int algorithm) {
  if (handle != &made || !queue || a_type != b_type ||
      !fits(a_type, c_type, compute))
    return 7;
  if (transposed_a != 1 || transposed_b != 0 || lda < k || ldb < k || ldc < m ||
      m <= 0 || n <= 0 || !a || !b || !c || algorithm != -1)
    return 7;
  return is_number(alpha, compute, 1) && is_number(beta, compute, 0) ? 0 : 7;
}
