// RUN: python3 %S/Inputs/many-tensors.py | tilewright-opt --tilewright-form-dispatches | FileCheck %s

// A sum of 80 tensors is computed by several kernels, of which none reads and writes more than 32.

// CHECK-COUNT-3: tilewright.dispatch
