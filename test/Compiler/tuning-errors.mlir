// Tuning databases that are none.
// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t
// RUN: echo '{"records": []}' > %t/schema.json
// RUN: not tilewright-compile %s --target=cpu --tuning=%t/schema.json -o - 2>&1 | FileCheck %s --check-prefix=SCHEMA
// SCHEMA: error: {{.*}}schema.json: is no tuning database of schema 1, as 'tilewright-sweep best' writes it
// RUN: echo '{"schema": 1, "records": [{"target": "cpu", "shape": [1], "config": "x"}]}' > %t/member.json
// RUN: not tilewright-compile %s --target=cpu --tuning=%t/member.json -o - 2>&1 | FileCheck %s --check-prefix=MEMBER
// MEMBER: error: {{.*}}member.json: record 0 lacks target, problem, shape or config
// RUN: echo '{"schema": 1, "records": [{"target": "cpu", "chip": "A", "problem": {}, "shape": [1], "config": "x"}, {"target": "cpu", "chip": "B", "problem": {}, "shape": [1], "config": "x"}]}' > %t/chips.json
// RUN: not tilewright-compile %s --target=cpu --tuning=%t/chips.json -o - 2>&1 | FileCheck %s --check-prefix=CHIPS
// CHIPS: error: {{.*}}chips.json: has records of 'A' and 'B' for cpu; name one by --tuning-chip
// RUN: not tilewright-compile %s --target=cpu --tuning=%t/chips.json --tuning-chip=C -o - 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: {{.*}}chips.json: has no records of chip 'C'
// RUN: tilewright-compile %s --target=cpu --tuning=%t/chips.json --tuning-chip=A -o %t/a.tw
// RUN: not tilewright-compile %s --target=cpu --tuning=%t/missing.json -o - 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot read '{{.*}}missing.json': No such file or directory
func.func @f(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %m = linalg.exp ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %m : tensor<8xf32>
}
