"""Intersect large sets on two Ray clusters and by the command, compare the rows, and print CPU time and memory.

Usage: large.py COMMAND [--rows N] [--shards N] [--workers N] [--steady] [--folder F]

Both clusters are on this machine. One worker is killed on the way, unless `--steady` is given. The sets have duplicates, a
key of one row in a hundred, and half of their keys in common. Exits with an error if the rows differ. `start` is what the same
takes with 800 rows, and `files` what Ray takes to read and write files, which the command does also.
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
    """CPU seconds and most bytes of all processes below some, by what they do."""

    def __init__(self, roots: list[int]) -> None:
        super().__init__(daemon=True)
        self._roots, self._over = roots, threading.Event()
        self._seen: dict[tuple[int, str], int] = {}
        self.seconds: list[Counter[str]] = [Counter() for _ in roots]
        #: Bytes that a worker has for itself.
        self.peak = [0 for _ in roots]

    def run(self) -> None:
        while not self._over.wait(0.2):
            self._look()

    def end(self) -> None:
        self._over.set()
        self.join()

    def _look(self) -> None:
        found: dict[int, tuple[int, str, int]] = {}
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit():
                    stat = (folder / "stat").read_text().rpartition(")")[2].split()
                    found[int(folder.name)] = int(stat[1]), stat[19], int(stat[11]) + int(stat[12])
            except (OSError, IndexError):
                pass
        for process, (_, start, ticks) in found.items():
            at, above = process, 0
            while at in found and at not in self._roots and above < 20:
                at, above = found[at][0], above + 1
            if at not in self._roots:
                continue
            try:
                command = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
                status = Path(f"/proc/{process}/status").read_text()
            except OSError:
                continue
            side = self._roots.index(at)
            name = re.match(r"ray::\S+|\S+", command)
            title = "driver" if process == at else (name[0] if name else "?").rpartition("/")[2]
            new = ticks - self._seen.get((process, start), 0)
            self._seen[process, start] = ticks
            self.seconds[side][title] += new
            if "_Worker" in command and (anonymous := re.search(r"RssAnon:\s+(\d+)", status)):
                self.peak[side] = max(self.peak[side], int(anonymous[1]) << 10)

    def sum(self, side: int, titles: str) -> float:
        return round(sum(ticks for title, ticks in self.seconds[side].items() if re.match(titles, title)) / TICK, 1)

    def table(self, side: int) -> dict[str, float]:
        return {title: round(ticks / TICK, 1) for title, ticks in self.seconds[side].most_common() if ticks >= TICK / 10}


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
        cpu.append(round(usage.ru_utime + usage.ru_stime, 1))
    rows = csv.read_csv(folder / "single.csv")["row"].to_pylist()
    return set(rows), cpu, time.monotonic() - began


def by_ray(
    folder: Path, keys: list[tuple[Path, str]], told: argparse.Namespace, steady: bool
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
            way |= {"output": str(output)} | ({} if steady else {"disturb": "_Worker"})
        environment = os.environ | {"RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
        parties.append(
            subprocess.Popen([sys.executable, str(COMPANY), json.dumps(way)], stdout=subprocess.PIPE, text=True, env=environment)
        )
    costs = Costs([party.pid for party in parties])
    costs.start()
    ends = []
    for party in parties:
        out, _ = party.communicate()
        assert party.returncode == 0, "a company failed"
        ends.append(json.loads(out.splitlines()[-1]))
        assert "error" not in ends[-1], ends[-1]
    costs.end()
    rows: list[int] = []
    for part in output.iterdir():
        rows += csv.read_csv(part)["row"].to_pylist()
    assert len(set(rows)) == len(rows)
    sides = {
        role: {
            "cpu": costs.table(side),
            "cpu_all": costs.sum(side, ""),
            "cpu_files": costs.sum(side, "ray::(ReadCSV|Write)"),
            "worker_peak": costs.peak[side],
        }
        | ends[side]
        for side, role in enumerate(("receiver", "sender"))
    }
    return set(rows), sides


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
        few = folder / "few"
        few.mkdir(exist_ok=True)
        for place, rows in ((folder, told.rows), (few, 800)):
            for name, first, seed in (("a", 0, 1), ("b", rows // 2, 2)):
                if not (place / name).exists():
                    write(place / name, rows, first, seed)
        load = os.getloadavg()[0]
        _, start = by_ray(few, keys, told, True)
        clusters, sides = by_ray(folder, keys, told, told.steady)
        single, cpu, seconds = by_command(told.command, folder, [folder / "a.csv", folder / "b.csv"], keys)
        part = {
            "all": sum(side["cpu_all"] for side in sides.values()),
            "start": sum(side["cpu_all"] for side in start.values()),
            "files": sum(side["cpu_files"] for side in sides.values()),
        }
        more, less = part["all"] - part["start"], part["all"] - part["start"] - part["files"]
        result = {
            "rows": told.rows, "common": len(single), "shards": told.shards, "workers": told.workers, "equal": clusters == single,
            "load": [load, os.getloadavg()[0]], "cpu_of_the_command": cpu, "seconds_of_the_command": round(seconds, 1),
            "cpu_of_ray": part, "overhead": round(more / sum(cpu) - 1, 2), "overhead_without_files": round(less / sum(cpu) - 1, 2),
            "sides": sides,
        }
        print(json.dumps(result, indent=1))
        assert clusters == single, "the rows differ"
        if not told.steady:
            assert sides["receiver"]["retries"] >= 1, "no worker was killed"
    finally:
        if told.folder is None:
            shutil.rmtree(folder)


main()
