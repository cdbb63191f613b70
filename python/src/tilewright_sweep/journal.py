# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A journal: a file of JSON lines to which records are only added, so that nothing that was measured is lost.

A record stands there as a whole or, where the process or the machine ended within it, as a last line that is none; the
next run ends that line and measures what it was about again. Two processes never write one journal.
"""

import fcntl
import json
import os
import pathlib


class JournalBusy(RuntimeError):
    """Another process writes it."""


def read_results(paths):
    """The results in journals that somebody named, once each: one that is not there, or is none, is an error."""
    found = {}
    for path in map(pathlib.Path, paths):
        if not path.exists():
            raise FileNotFoundError(f"there are no results {path}")
        records = [r for r in read_records(path) if "problem" in r]
        if not records and not _is_begun(path.read_text(errors="replace")):
            raise ValueError(f"{path} is neither a tuning database nor a file of results")
        for record in records:
            key = identity(record)
            if key not in found or knowledge(record) > knowledge(found[key]):
                found[key] = record
    return list(found.values())


def _parses(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_begun(text):
    """Whether a file without results is empty, or a journal that was cut off in its first record."""
    lines = [line for line in text.splitlines() if line.strip()]
    if any(map(_parses, [text, *lines])):
        return False
    return lines in ([], ["{"]) or any(line.startswith('{"') for line in lines)


def end_line(file):
    """Ends a last line that was cut off, so that what comes next is none of it; the file is open for reading and appending bytes."""
    if file.seek(0, os.SEEK_END):
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def append(path, record):
    """Adds a record to a file of JSON lines that one process at a time writes."""
    # Of a pipe (/dev/stdout) nothing can be read back.
    is_file = os.path.isfile(str(path)) or not os.path.exists(str(path))
    with open(str(path), "a+b" if is_file else "ab") as file:
        if is_file:
            end_line(file)
        file.write(json.dumps(record).encode() + b"\n")


def read_records(path):
    """The records of a journal, none where it is not begun; lines that were cut off are left out."""
    records, path = [], pathlib.Path(path)
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def identity(record):
    """What makes a measurement another one: of the same on the same device by the same driver there is one record. What
    other tools measured, which have no candidates, is told apart by all that they say."""
    if "candidate" not in record:
        return json.dumps(record, sort_keys=True)
    return (record["candidate"], record["artifact"], record["device"], record["uuid"], record["driver"])


CHECKED, FAILED, TIMED, FINAL, WRONG = range(5)


def knowledge(record):
    """How much a record says of its candidate: of several the one that says most counts. What was wrong once is wrong,
    however fast it was another time."""
    if record.get("verdict") == "mismatch":
        return WRONG
    if record.get("verdict") != "ok":
        return FAILED
    if record.get("median_s") is None:
        return CHECKED
    return FINAL if record.get("final") else TIMED


def is_bad(record):
    return record["verdict"] not in ("ok", "not compiled", "not for this device")


class Journal:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"{path} is no plain file, which a journal has to be: it is read when a run goes on")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            self.file = open(str(self.path), "a+b")
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self.file.close()
                raise JournalBusy(f"{path} is being written by another process") from None
            # Who held it may have collected and removed it since it was opened.
            if self.path.exists() and os.path.samestat(os.fstat(self.file.fileno()), self.path.stat()):
                break
            self.file.close()
        self.done = {}  # the record that says most, by identity
        for record in read_records(path):
            if "problem" in record:
                self._note(record)
        end_line(self.file)

    def _note(self, record):
        """Whether it says more than what is there."""
        key = identity(record)
        if key in self.done and knowledge(record) <= knowledge(self.done[key]):
            return False
        self.done[key] = record
        return True

    def of(self, record):
        """What there is of the same candidate on the same device; None where there is nothing."""
        return self.done.get(identity(record))

    def add(self, record):
        """Unless there is one that says as much; on the disk when this returns."""
        if not self._note(record):
            return
        self.file.write(json.dumps(record).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def close(self):
        self.file.close()
