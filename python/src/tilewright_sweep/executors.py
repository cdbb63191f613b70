# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where tasks run: any concurrent.futures.Executor.

    local[:N]       threads of this process, each with a compiler, or a process that measures, of its own (the number of
                    processors)
    mpi             mpi4py.futures; started as  mpiexec -n 9 python3 -m mpi4py.futures $(which tilewright-sweep) …
    dask:ADDRESS    the workers of a Dask scheduler
    slurm[:ARGS]    jobs by submitit; ARGS as partition=gpu,timeout_min=60

The folder of the sweep lies where all of them see it under the same path.
"""

import concurrent.futures
import contextlib
import os
import sys

from tilewright_sweep import processes


class ExecutorError(RuntimeError):
    pass


class _Waiting(concurrent.futures.ThreadPoolExecutor):
    """Jobs of submitit are no futures; a thread waits for each."""

    def __init__(self, jobs):
        super().__init__(max_workers=256)
        self.jobs, self.given = jobs, []

    def submit(self, function, *arguments):
        self.given.append(self.jobs.submit(function, *arguments))
        return super().submit(self.given[-1].result)

    def cancel(self):
        """All that are not done; one that the scheduler has forgotten, or does not cancel, keeps none of the others."""
        for job in self.given:
            try:
                if not job.done():
                    job.cancel(check=False)
            except Exception as error:  # what ends the sweep is why this is called
                print(f"a job was not cancelled, {type(error).__name__}: {error}", file=sys.stderr)


def completed(futures):
    """Each when it is done. Python sees an interrupt that comes right before a wait only behind it, so none is long."""
    left = set(futures)
    while left:
        done, left = concurrent.futures.wait(left, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
        yield from done


def give(executor, tasks, over, what):
    """Runs tasks, {name: (function, arguments)}, and calls over(name, result) for each; those that were lost with their
    process are given again, up to three times. The names of those that were lost every time. Those that wait are
    cancelled where this is interrupted."""
    left = dict(tasks)
    for _ in range(3):
        running = {}
        try:
            for name, (function, arguments) in left.items():
                running[executor.submit(function, *arguments)] = name
            for future in completed(running):
                name = running[future]
                try:
                    result = future.result()
                except Exception as error:  # of the executor: its process is gone
                    said = f"{what}: a task was lost, {type(error).__name__}: {error}; it is given again"
                    print(said, file=sys.stderr)
                    continue
                del left[name]
                over(name, result)
        except BaseException:
            for future in running:
                future.cancel()
            raise
        if not left:
            break
    return list(left)


@contextlib.contextmanager
def _ending(pool, end):
    """An executor that waits for its tasks when it is closed: an exception, as of Ctrl-C, ends them first."""
    with pool:
        try:
            yield pool
        except BaseException:
            end()
            raise


@contextlib.contextmanager
def open_executor(text):
    kind, _, rest = text.partition(":")
    try:
        if kind == "local":
            processes.resume()
            pool = concurrent.futures.ThreadPoolExecutor(int(rest or os.cpu_count() or 1))
            with _ending(pool, processes.end_all):
                yield pool
        elif kind == "mpi":
            from mpi4py.futures import MPIPoolExecutor

            with MPIPoolExecutor() as pool:
                yield pool
        elif kind == "dask":
            from dask.distributed import Client

            with Client(rest) as client:
                yield client.get_executor(pure=False)
        elif kind == "slurm":
            import submitit

            jobs = submitit.AutoExecutor(folder="slurm-logs/%j", cluster="slurm")
            jobs.update_parameters(
                **{k: int(v) if v.isdigit() else v for k, v in (x.split("=") for x in rest.split(",") if x)}
            )
            pool = _Waiting(jobs)
            with _ending(pool, pool.cancel):
                yield pool
        else:
            raise ExecutorError(f"no executor '{kind}'; there are local[:N], mpi, dask:ADDRESS, slurm[:ARGS]")
    except ImportError as error:
        raise ExecutorError(f"--executor={kind} needs a package: {error}") from error
