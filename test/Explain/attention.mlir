// A kernel of attention is one op, and its operands have their names.
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %S/../Compiler/Inputs/attention.mlir --target=cuda:sm_80 -o /dev/null --explain 2>&1 | FileCheck %s

// CHECK:      main_attention_0: 1 op
// CHECK-NEXT: line 3 {{.*}}tilewright.attention{{.*}} attention: two contractions, a softmax between them -> 16x16xf32
// CHECK-NEXT: operands: read 16x16xf32 %q, read 128x16xf32 %k, read 128x16xf32 %v, write 16x16xf32 %o
