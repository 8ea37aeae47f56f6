"""One company with a Ray cluster of its own, in a process of its own: `test_ray.py` starts two.

Usage: ray_company.py JSON, with: role, keys, on, columns (of text, by name), cpus, and options of the function. `disturb` names
actors of which one process is killed when the first shard is finished. `forgets` makes a receiver ask for a shard once more. `files` is a folder of CSV files in place of keys, and
`output` one for the result. The last line printed is of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import foxtrot
import pyarrow
import ray


def parents() -> dict[int, tuple[int, str]]:
    """The parent and the command of each process."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit():
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(folder.name)] = parent, (folder / "cmdline").read_text()
        except (OSError, IndexError):
            pass
    return found


def kill_one(actors: str) -> None:
    """Kill a process of this cluster that runs such an actor."""
    processes = parents()

    def is_ours(process: int) -> bool:
        return process == os.getpid() or (process in processes and is_ours(processes[process][0]))

    ours = [it for it, (_, command) in processes.items() if command.startswith(f"ray::{actors}") and is_ours(it)]
    # One that has a shard, if there is one.
    busy = [it for it in ours if "intersect" in processes[it][1]]
    os.kill((busy or ours)[0], signal.SIGKILL)


def main() -> None:
    told: dict[str, Any] = json.loads(sys.argv[1])
    ray.init(
        address="local", num_cpus=told["cpus"], include_dashboard=False, log_to_driver=False, logging_level="error",
        object_store_memory=told.get("store", 100 << 20),
    )
    disturb, steps = told.get("disturb"), []

    def progress(done: int, of: int, unit: str) -> None:
        if disturb and done and not any(step[0] for step in steps):
            kill_one(disturb)
        steps.append((done, of, unit))
        if told.get("cancel") and done:
            raise KeyboardInterrupt

    if "files" in told:
        dataset = ray.data.read_csv(told["files"]).materialize()
        print("begins", flush=True)
    else:
        keys: list[Any] = told["keys"]
        table = pyarrow.table({"row": range(len(keys)), "key": pyarrow.array(keys, pyarrow.string()), **told.get("columns", {})})
        # Blocks of several sizes.
        bounds = [0, len(keys) // 2, len(keys) * 3 // 4, len(keys)]
        dataset = ray.data.from_arrow([table.slice(first, end - first) for first, end in zip(bounds, bounds[1:])])
    if told.get("forgets"):
        # A receiver that says in the first round that it has no rows of shard 0.
        common = foxtrot.ray._common

        def forgetful(watch: Any, job: Any, route: str, facts: list[str], *more: Any) -> set[str]:
            said = [fact for fact in facts if fact != "shard 0"] if ":round:0:" in route else facts
            return common(watch, job, route, said, *more)

        foxtrot.ray._common = forgetful
    function = getattr(foxtrot.ray, f"psi_{told['role']}")
    options = dict(told["options"])
    if told["role"] != "send":
        options["details"] = True
    try:
        report = function(dataset, told.get("on", "key"), progress=progress, **options)
    except (foxtrot.FoxtrotError, KeyboardInterrupt) as error:
        print(json.dumps({"error": type(error).__name__, "words": str(error)}))
        return
    if "files" in told:
        print("ended", flush=True)
    result: dict[str, Any] = {
        "retries": len(report.retries), "workers": report.workers, "shards": report.shards, "steps": steps[-1],
        "bytes": [report.bytes_sent, report.bytes_received], "seconds": report.seconds,
        "tested": report.most_tested,
    }
    if "output" in told:
        report.rows_in_common.write_csv(told["output"])
    elif told["role"] != "send":
        result["rows"] = report.rows_in_common.take_all()
    print(json.dumps(result))


main()
