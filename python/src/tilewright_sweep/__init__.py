# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright-sweep: finds, proves and keeps the best lowering configs.

    problems.py   what is to be computed: suites and the command line become .mlir
    plan.py       the candidates of each problem, out of the compiler's list
    compiler.py   tilewright-compile as a server, with limits of time and memory
    build.py      all candidates to artifacts, by tasks on an executor; cached
    bundle.py     one file that holds everything to measure, and this package
    measure.py    the process that runs candidates: checks them, times them
    run.py        what is measured when: halving, budget, watchdog, journal
    ceilings.py   what the device can do at most, and what share of it is reached
    libraries.py  cuBLAS and OpenBLAS, for the same
    surroundings.py  clocks, power, throttling, load while something is measured
    spread.py     problems as tasks of an executor, one at a time on a device
    best.py       results to a tuning database
    report.py     results to a page
    rooflines.py  its part about shares of what the device can do; pictures.py, its PNGs
    on_gpu.py     one file with everything to ask of a GPU that is borrowed
    session.py    asks it

The measuring side (bundle, session, measure, watch, run, journal, runtime, values, contest, ceilings, libraries, surroundings, spread, executors) needs Python 3.8 and
nothing else.
docs/sweeping.md is for those who use it.
"""

SCHEMA = 1
