# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The families of end-to-end cases: a module per family of operations.

Each has `functions()`, which yields functions.Function objects with their cases.
"""

from . import (across, asserts, attention, attention_backward, attention_hiding, attention_masks, attention_pages, attention_spellings, best_elements, chained, cluster_sums, clusters, concats, contraction,
               convolution, donated, dual, elementwise, producers, filling, fourier, fused, host, images, index_numbers, irregular, kept_rows, loop_programs, loops,
               marked, matrix_unit, memref_programs, memrefs, named, narrow, nonzero, norms, panels, parallel_loops, partial_inits, picked,
               reduction, relayout, ringed, row_norms, scan, scatter, sequential, softmax, sort, streams, tosa, unique, unit_dims, warpgroups,
               winograd)

ALL = (attention, attention_backward, attention_hiding, attention_masks, attention_pages, attention_spellings, contraction, convolution, matrix_unit, narrow,
       producers, norms, row_norms, fused, dual, elementwise, reduction, sequential, index_numbers, softmax, clusters, cluster_sums, kept_rows, marked, named, picked, relayout, memrefs, donated, partial_inits, loops, parallel_loops,
       loop_programs, memref_programs, host, unit_dims, tosa, irregular, best_elements, asserts, scatter, scan, sort, nonzero, unique,
       fourier, warpgroups, across, chained, ringed, streams, filling, panels, images, concats, winograd)
