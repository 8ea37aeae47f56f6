"""Intersect large sets on two Ray clusters and by the command, compare the rows, and print CPU time and memory.

Usage: large.py COMMAND [--rows N] [--shards N] [--workers N] [--steady] [--folder F]

Both clusters are on this machine. One worker is killed on the way, unless `--steady` is given. The sets have duplicates, a
key of one row in a hundred, and half of their keys in common. Exits with an error if the rows differ.

CPU time is of all processes of both clusters while the function of `foxtrot.ray` runs, from a dataset in Ray's object store to
another. `cpu_outside` is the time before and after: to start both clusters, to read files and to write them. The command's is
from file to file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import foxtrot
import numpy as np
import pyarrow as pa
from pyarrow import compute, csv

COMPANY = Path(__file__).resolve().parents[2] / "crates" / "python" / "tests" / "ray_company.py"
TICK = os.sysconf("SC_CLK_TCK")
PARTS = 8


def write(folder: Path, rows: int, first: int, seed: int) -> Path:
    """Write a set: parts for a cluster, and one file with all of them."""
    folder.mkdir()
    numbers = np.random.default_rng(seed).permutation(rows) + first
    # Duplicates of the row before, and a key that many rows have.
    numbers[1::100] = numbers[::100][: len(numbers[1::100])]
    numbers[50::100] = first + rows // 2
    whole = folder.with_suffix(".csv")
    with whole.open("wb") as file:
        for part in range(PARTS):
            start, end = rows * part // PARTS, rows * (part + 1) // PARTS
            texts = compute.utf8_lpad(pa.array(numbers[start:end]).cast(pa.string()), 9, "0")
            key = compute.binary_join_element_wise("user", texts, "@mail.org", "")
            city = compute.binary_join_element_wise("a city with a longer name, ", texts, "")
            table = pa.table({"row": np.arange(start, end), "key": key, "city": city})
            csv.write_csv(table, folder / f"{part}.csv")
            csv.write_csv(table, file, csv.WriteOptions(include_header=part == 0))
    return whole


class Costs(threading.Thread):
    """CPU seconds and most bytes of all processes below one, by what they do."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self._root, self._over, self._lock = root, threading.Event(), threading.Lock()
        self._seen: dict[tuple[int, str], int] = {}
        #: Ticks before, in and after the function.
        self._ticks: list[Counter[str]] = [Counter()]
        #: Most bytes that a worker has for itself.
        self.peak = 0

    def run(self) -> None:
        while not self._over.wait(0.2):
            self._look()

    def end(self) -> None:
        self._over.set()
        self.join()

    def next_phase(self) -> None:
        self._look()
        self._ticks.append(Counter())

    def _look(self) -> None:
        with self._lock:
            found: dict[int, tuple[int, str, int]] = {}
            for folder in Path("/proc").iterdir():
                try:
                    if folder.name.isdigit():
                        stat = (folder / "stat").read_text().rpartition(")")[2].split()
                        found[int(folder.name)] = int(stat[1]), stat[19], int(stat[11]) + int(stat[12])
                except (OSError, IndexError):
                    pass
            for process, (_, start, ticks) in found.items():
                if self._is_ours(process, found):
                    self._take(process, start, ticks)

    def _is_ours(self, process: int, found: dict[int, tuple[int, str, int]]) -> bool:
        return process == self._root or (process in found and self._is_ours(found[process][0], found))

    def _take(self, process: int, start: str, ticks: int) -> None:
        try:
            command = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
            status = Path(f"/proc/{process}/status").read_text()
        except OSError:
            return
        name = re.match(r"ray::\S+|\S+", command)
        title = "driver" if process == self._root else (name[0] if name else "?").rpartition("/")[2]
        self._ticks[-1][title] += ticks - self._seen.get((process, start), 0)
        self._seen[process, start] = ticks
        if "_Worker" in command and (anonymous := re.search(r"RssAnon:\s+(\d+)", status)):
            self.peak = max(self.peak, int(anonymous[1]) << 10)

    def table(self) -> dict[str, Any]:
        before, within, after = self._ticks
        return {
            "cpu": round(within.total() / TICK, 1),
            "cpu_outside": round((before.total() + after.total()) / TICK, 1),
            "cpu_of": {title: ticks / TICK for title, ticks in within.most_common() if ticks >= TICK / 10},
            "worker_peak": self.peak,
        }


def free() -> str:
    with socket.create_server(("127.0.0.1", 0)) as port:
        return f"127.0.0.1:{port.getsockname()[1]}"


def by_command(command: str, folder: Path, files: list[Path], keys: list[tuple[Path, str]]) -> tuple[set[int], list[float], float]:
    """The rows of one intersection by the command, CPU seconds of both sides, and seconds."""
    address, began = free(), time.monotonic()
    ends = [["receive", files[0], "-o", folder / "single.csv", "--listen", address], ["send", files[1], "--connect", address]]
    parties = [
        subprocess.Popen(
            [command, "psi", *map(str, it), "--key", "key", "--yes", "--identity", str(own[0]), "--peer", other[1]],
            stderr=subprocess.DEVNULL,
        )
        for it, own, other in zip(ends, keys, reversed(keys))
    ]
    cpu = []
    for party in parties:
        _, status, usage = os.wait4(party.pid, 0)
        assert status == 0, "the command failed"
        cpu.append(round(usage.ru_utime + usage.ru_stime, 2))
    rows = csv.read_csv(folder / "single.csv")["row"].to_pylist()
    return set(rows), cpu, time.monotonic() - began


def by_ray(
    folder: Path, keys: list[tuple[Path, str]], told: argparse.Namespace
) -> tuple[set[int], dict[str, Any]]:
    """The rows of one intersection on two clusters, and what it cost."""
    address = free()
    output = folder / "ray"
    shutil.rmtree(output, ignore_errors=True)
    parties = []
    for role, files, own, other in zip(("receive", "send"), ("a", "b"), keys, reversed(keys)):
        options: dict[str, Any] = {"identity": str(own[0]), "peers": [other[1]], "shards": told.shards, "workers": told.workers}
        options["connect" if role == "receive" else "listen"] = address
        way = {"role": role, "files": str(folder / files), "cpus": told.workers, "options": options, "store": 2 << 30}
        if role == "receive":
            way |= {"output": str(output)} | ({} if told.steady else {"disturb": "_Worker"})
        environment = os.environ | {"RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
        parties.append(
            subprocess.Popen([sys.executable, str(COMPANY), json.dumps(way)], stdout=subprocess.PIPE, text=True, env=environment)
        )
    costs = [Costs(party.pid) for party in parties]
    last = ["", ""]

    def follow(side: int) -> None:
        for line in parties[side].stdout or ():
            if line.strip() in ("begins", "ended"):
                costs[side].next_phase()
            last[side] = line

    threads = [threading.Thread(target=follow, args=(side,)) for side in (0, 1)]
    for thread in [*costs, *threads]:
        thread.start()
    for side, party in enumerate(parties):
        threads[side].join()
        assert party.wait() == 0, "a company failed"
        costs[side].end()
        assert "retries" in last[side], last[side]
    rows: list[int] = []
    for part in output.iterdir():
        rows += csv.read_csv(part)["row"].to_pylist()
    assert len(set(rows)) == len(rows)
    return set(rows), {role: costs[side].table() | json.loads(last[side]) for side, role in enumerate(("receiver", "sender"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", help="the command foxtrot")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1, help="CPUs and workers of each cluster")
    parser.add_argument("--steady", action="store_true", help="kill no worker")
    parser.add_argument("--folder", type=Path, help="where files are made, and kept")
    told = parser.parse_args()
    folder = told.folder or Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    try:
        keys = []
        for name in ("r", "s"):
            file = folder / f"{name}.pem"
            identity = foxtrot.Identity.load(file) if file.exists() else foxtrot.Identity.generate(file)
            keys.append((file, identity.fingerprint))
        for name, first, seed in (("a", 0, 1), ("b", told.rows // 2, 2)):
            if not (folder / name).exists():
                write(folder / name, told.rows, first, seed)
        load = os.getloadavg()[0]
        clusters, sides = by_ray(folder, keys, told)
        single, cpu, seconds = by_command(told.command, folder, [folder / "a.csv", folder / "b.csv"], keys)
        ours = sum(side["cpu"] for side in sides.values())
        result = {
            "rows": told.rows, "common": len(single), "shards": told.shards, "workers": told.workers, "equal": clusters == single,
            "load": [load, os.getloadavg()[0]], "cpu_of_the_command": cpu, "seconds_of_the_command": round(seconds, 1),
            "overhead": round(ours / sum(cpu) - 1, 2), "sides": sides,
        }
        print(json.dumps(result, indent=1))
        assert clusters == single, "the rows differ"
        if not told.steady:
            assert sides["receiver"]["retries"] >= 1, "no worker was killed"
    finally:
        if told.folder is None:
            shutil.rmtree(folder)


main()
