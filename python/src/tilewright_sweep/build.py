# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All candidates of a plan to artifacts: tasks on an executor, each a few candidates in one server.

    FOLDER/cache/KEY.json     what became of a candidate: {"ok", "artifact", "diagnostics", "seconds", "ended"}
    FOLDER/cache/SHA.tw       artifacts by their own hash, so that equal ones are one

KEY is the hash of the compiler, its options, the program and the configs. What is in the cache is not compiled again,
so a build that was cut off goes on, and several machines that share the folder share the work; but what a limit of time
or memory ended is tried again, since the limits are none of its own. Each file is there as a
whole or not at all.
"""

import errno
import hashlib
import io
import json
import os
import pathlib
import sys
import tempfile
import threading
import time

from tilewright_sweep import compiler as compilers
from tilewright_sweep import executors

#: Candidates of a task: few, so that a task that is lost costs little.
BATCH = 8

_servers = threading.local()

# It is the process's: to be read before there are threads.
MASK = os.umask(0)
os.umask(MASK)


def _server(path, target, options, limits):
    """The server of this thread, made anew where other options are asked for."""
    wanted = (path, target, tuple(options), tuple(sorted(limits.items())))
    if getattr(_servers, "wanted", None) != wanted:
        if getattr(_servers, "server", None):
            _servers.server.close()
        _servers.server, _servers.wanted = compilers.Server(path, target, options, **limits), wanted
    return _servers.server


def write_whole(path, data):
    """The file has these bytes, or what it had."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device, a pipe
        return
    path = path.resolve()  # a link keeps pointing to where it points
    try:
        made, name = tempfile.mkstemp(dir=str(path.parent), prefix=path.name)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(made, "wb") as file:
            file.write(data)
        os.chmod(name, 0o666 & ~MASK)  # others of a group may share the folder
        os.replace(name, str(path))
    except BaseException:
        os.unlink(name)
        raise


def check_output(path):
    """Raises where a file could not be written there, before there is something to write."""
    path = pathlib.Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    place = path if path.exists() and not path.is_file() else path.resolve().parent
    if not os.access(str(place), os.W_OK):
        code = errno.EACCES if place.exists() else errno.ENOENT
        raise OSError(code, os.strerror(code), str(path))


def key_of(plan, candidate, text):
    parts = [
        plan["compiler"]["sha256"],
        plan["target"],
        *plan["options"],
        text,
        candidate["kernel"] or "",
        candidate["program"] or "",
        candidate["config"],
    ]
    if candidate.get("tuning"):
        parts.append(pathlib.Path(candidate["tuning"]).read_text())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _is_known(path):
    """Whether an entry of the cache says what becomes of its candidate, under any limits."""
    return path.exists() and json.loads(path.read_text())["ended"] not in compilers.LIMITS


def compile_batch(folder, path, target, options, limits, jobs):
    """A task for any process: compiles `jobs`, [{"key", "input", "configs", "options"}], into the cache; how many failed."""
    cache, failed = pathlib.Path(folder) / "cache", 0
    for job in jobs:
        if _is_known(cache / f"{job['key']}.json"):
            continue
        server = _server(path, target, options + job["options"], limits)
        made = cache / f"{job['key']}.{os.getpid()}.{threading.get_ident()}.part"
        begin = time.monotonic()
        try:
            reply = server.ask({"input": job["input"], "output": str(made), "configs": job["configs"]})
        except BaseException:
            if made.exists():
                made.unlink()
            raise
        entry = {
            "ok": reply["ok"],
            "diagnostics": reply["diagnostics"].strip(),
            "seconds": time.monotonic() - begin,
            "ended": reply.get("ended", ""),
            "artifact": None,
        }
        if reply["ok"]:
            entry["artifact"] = hashlib.sha256(made.read_bytes()).hexdigest()
            os.replace(str(made), str(cache / f"{entry['artifact']}.tw"))
        elif made.exists():
            made.unlink()
        failed += not reply["ok"]
        write_whole(cache / f"{job['key']}.json", json.dumps(entry).encode())
    return failed


class Progress:
    """A line that says how far it is and what remains; rewritten on a terminal, else now and then."""

    def __init__(self, total, what, stream=sys.stderr):
        self.total, self.what, self.stream = total, what, stream
        self.begin, self.said, self.done = time.monotonic(), 0.0, 0

    def step(self, count=1, more=""):
        self.done += count
        now = time.monotonic()
        live = self.stream.isatty()
        if self.done < self.total and now - self.said < (0.2 if live else 10):
            return
        self.said = now
        left = (now - self.begin) / max(self.done, 1) * (self.total - self.done)
        filled = 24 * self.done // max(self.total, 1)
        text = (
            f"{self.what} [{'#' * filled}{'.' * (24 - filled)}] {self.done}/{self.total}, "
            f"{now - self.begin:.0f} s, {left:.0f} s remain{more}"
        )
        end = "\n" if not live or self.done >= self.total else ""
        self.stream.write(("\r\x1b[K" if live else "") + text + end)
        self.stream.flush()


def known_entries(plan, folder):
    """{candidate id: entry of the cache} of those candidates that were compiled, or refused, before."""
    folder, found = pathlib.Path(folder), {}
    for candidate in plan["candidates"]:
        text = (folder / "problems" / f"{candidate['problem']}.mlir").read_text()
        entry = folder / "cache" / f"{key_of(plan, candidate, text)}.json"
        if entry.exists():
            found[candidate["id"]] = json.loads(entry.read_text())
    return found


def build(plan, folder, candidates, executor, limits, quiet=False):
    """{candidate id: entry of the cache} of all candidates; tasks that were lost with their process are given again."""
    folder = pathlib.Path(folder).resolve()
    cache = folder / "cache"
    cache.mkdir(exist_ok=True)
    path = compilers.find_compiler()
    if compilers.identify(path)["sha256"] != plan["compiler"]["sha256"]:
        raise compilers.CompilerError(
            f"{path} is not the compiler that made the plan, and configs may mean another thing "
            "to it; make the plan anew"
        )
    texts = {p["name"]: (folder / "problems" / f"{p['name']}.mlir").read_text() for p in plan["problems"]}
    jobs = {}
    for candidate in candidates:
        configs = {candidate["kernel"]: {candidate["program"]: candidate["config"]}} if candidate["kernel"] else {}
        key = key_of(plan, candidate, texts[candidate["problem"]])
        tuning = candidate.get("tuning")
        jobs[key] = {
            "key": key,
            "configs": configs,
            "options": [f"--tuning={tuning}"] if tuning else [],
            "input": str(folder / "problems" / f"{candidate['problem']}.mlir"),
        }
    missing = [job for key, job in jobs.items() if not _is_known(cache / f"{key}.json")]
    progress = Progress(len(missing), "compile", io.StringIO() if quiet else sys.stderr)
    batches = [missing[i : i + BATCH] for i in range(0, len(missing), BATCH)]
    given = (str(folder), path, plan["target"], plan["options"], limits)
    lost = executors.give(
        executor,
        {number: (compile_batch, (*given, batch)) for number, batch in enumerate(batches)},
        lambda number, _: progress.step(len(batches[number])),
        "compile",
    )
    if lost:
        raise compilers.CompilerError(f"{len(lost)} tasks were lost three times; start again to go on with them")
    return {
        c["id"]: json.loads((cache / f"{key_of(plan, c, texts[c['problem']])}.json").read_text()) for c in candidates
    }
