# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicted times of kernels for GPUs that are not here. Everything that this package returns is a prediction.

    chips     what is known of each chip, every number with its source (chips.json)
    counts    what sampled blocks of a launch do, as the simulator counts it (PTXSIM_TRAFFIC)
    sass      what ptxas makes of the PTX: instructions with their control bits, basic blocks, registers
    ptx       the same guessed from the PTX alone, where ptxas or nvdisasm is missing
    blocks    how often each basic block runs, from the counts of PTX lines
    roles     what copies and wgmma do beside the warps that asked for them
    bound     the closed form: which resource a wave of blocks keeps busy the longest
    events    the event-driven form: the warps of a multiprocessor, simulated
    order     in which order they run basic blocks
    operations, machine, rings    what instructions need, the queues that have it, stages of shared memory
    predict   all of these, for one launch
    artifact  the launches of a compiled candidate
    score     how good predictions were

It is Python beside the sweeps: the compiler does not need it in process, and ptxas, nvdisasm and the simulator are commands.
"""
