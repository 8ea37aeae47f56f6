"""Simulate one intersection on two clusters, from terms that were measured, and print a table.

Usage: schedule.py [--rows N] [--cores N] [--gigabits F] [--disk F] [--spread F]

Both sides have this many rows and cores, one core for each worker. The two workers of a shard take turns: neither computes
while the other does. All pieces of shards are spilled to a disk and read again. One worker dies half-way through its shard. To
read and write files is left out. Needs the package `foxtrot`.

The constants are of `large.py --steady --shards 4` with 10^7 rows, and of single calls on the same machine.
"""

from __future__ import annotations

import argparse
import heapq
import random
import threading

from foxtrot import pair
from foxtrot.psi import agree_on_shards

#: CPU microseconds of a row: to divide (`_partition`), and to join the result (`_rows`, half of the rows in common).
DIVIDE, JOIN = 0.20, 0.13
#: CPU microseconds of a key in a shard of 2.5 million (`_Worker.intersect`), of the receiver and the sender.
RECEIVE, SEND = 0.89, 0.81
#: Seconds of a shard without rows, and until a worker that was killed is there again.
SHARD, AGAIN = 0.034, 2.0
#: Seconds in which a worker starts, and drivers meet.
START, MEET = 1.2, 0.035
#: Bytes of a key, to the receiver and to the sender.
DOWN, UP = 14.0, 117.0
#: Bytes of a worker's memory, for itself and for a key of each side: what `foxtrot.ray` reserves.
WORKER, KEY = 448 << 20, 2 * 100
#: Bytes of a row in pieces of shards.
ROW = 36


def load_of(rows: int, shards: int) -> int:
    """The number of keys of a shard, on which two sides with this many rows agree."""
    ours, theirs = pair()
    same = {"shards": shards, "max_peer_keys": 1 << 30}
    other = threading.Thread(target=agree_on_shards, args=(theirs, "sender", rows), kwargs=same)
    other.start()
    load = agree_on_shards(ours, "receiver", rows, **same).load("receiver")
    other.join()
    return load


def rounds(durations: list[float], pairs: int) -> float:
    """The time of all shards: in order, so many at once, one of which has to be tried again after the others."""
    died = len(durations) // 2
    free = [0.0] * pairs
    for shard, duration in enumerate(durations):
        begins = heapq.heappop(free)
        heapq.heappush(free, begins + (duration / 2 + AGAIN if shard == died else duration))
    return max(free) + 2 * MEET + durations[died]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--gigabits", type=float, default=10.0, help="rate of the link between both clusters, per second")
    parser.add_argument("--disk", type=float, default=0.5, help="gigabytes that all disks of a cluster write or read per second")
    parser.add_argument("--spread", type=float, default=0.2, help="how much longer than measured a shard may take")
    told = parser.parse_args()
    draw = random.Random(1)
    divide = told.rows * (DIVIDE * 1e-6 / told.cores + 2 * ROW / (told.disk * 1e9))
    join = told.rows * JOIN * 1e-6 / told.cores
    rate = told.gigabits * 1e9 / 8 / told.cores
    print("| shards | keys of a shard | reserved for a worker, GiB | divide, s | shards, s | all, h | to the receiver, GB | to the sender, GB |")
    print("|---|---|---|---|---|---|---|---|")
    for shards in (64, 128, 256, 512, 1024):
        load = load_of(told.rows, shards)
        once = SHARD + load * ((RECEIVE + SEND) * 1e-6 + (DOWN + UP) / rate)
        durations = [once * (1 + told.spread * draw.random()) for _ in range(shards)]
        intersect = START + MEET + rounds(durations, told.cores)
        memory = (WORKER + KEY * load) / 2**30
        down, up = (it * load * shards / 1e9 for it in (DOWN, UP))
        print(
            f"| {shards} | {load} | {memory:.2f} | {divide:.0f} | {intersect:.0f} | {(divide + intersect + join) / 3600:.2f} "
            f"| {down:.0f} | {up:.0f} |"
        )


main()
