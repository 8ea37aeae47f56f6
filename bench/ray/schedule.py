"""Simulate one intersection on two clusters, from terms that `large.py` has measured, and print a table.

Usage: schedule.py [--rows N] [--cores N] [--gigabits N] [--spread F]

Both sides have this many rows and cores, one core for each worker. The two workers of a shard take turns: neither computes
while the other does. One worker dies half-way through its shard. Needs the package `foxtrot`.
"""

from __future__ import annotations

import argparse
import heapq
import random

from foxtrot.psi import Ticket

#: CPU microseconds of a row: to divide, and to join the result. The receiver's, which are more.
DIVIDE, JOIN = 0.0, 0.0
#: CPU microseconds of a key in a shard, of the receiver and the sender, with reading its rows.
RECEIVE, SEND = 0.0, 0.0
#: Seconds of a shard whatever its size, and until a worker that died is there again.
SHARD, AGAIN = 0.0, 0.0
#: Seconds in which workers start, and drivers meet: three times.
START, MEET = 0.0, 0.0
#: Bytes of a key, to the receiver and to the sender, and of a worker's memory, for itself and for a key.
DOWN, UP = 0.0, 0.0
WORKER, KEY = 0, 0
#: Bytes of a row in Ray's object store, and that a disk of a machine writes and reads again in a second.
ROW, DISK = 0.0, 500e6


def rounds(durations: list[float], pairs: int) -> float:
    """The time of all shards: in order, so many at once, one of which has to be tried again after the others."""
    died = len(durations) // 2
    free = [0.0] * pairs
    for shard, duration in enumerate(durations):
        begins = heapq.heappop(free)
        heapq.heappush(free, begins + (duration / 2 + AGAIN if shard == died else duration))
    return max(free) + MEET + durations[died] + MEET


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--gigabits", type=float, default=10.0, help="rate of the link between both clusters, per second")
    parser.add_argument("--spread", type=float, default=0.2, help="how much longer than measured a shard may take")
    told = parser.parse_args()
    draw = random.Random(1)
    divide = told.rows * (DIVIDE * 1e-6 / told.cores + 2 * ROW / DISK)
    join = told.rows * JOIN * 1e-6 / told.cores
    rate = told.gigabits * 1e9 / 8 / told.cores
    print("| shards | keys of a shard | memory of a worker, GiB | divide, s | shards, s | all, h | to the receiver, GB | to the sender, GB |")
    print("|---|---|---|---|---|---|---|---|")
    for shards in (64, 128, 256, 512, 1024):
        zero = "0" * 64
        head = "foxtrot shards 1"
        ticket = Ticket(f"{head}\nsession {zero}\ncoin {zero}\nshards {shards}\nreceiver {told.rows}\nsender {told.rows}\n")
        load = ticket.load("receiver")
        once = SHARD + load * ((RECEIVE + SEND) * 1e-6 + (DOWN + UP) / rate)
        durations = [once * (1 + told.spread * draw.random()) for _ in range(shards)]
        intersect = START + rounds(durations, told.cores)
        memory = (WORKER + KEY * load) / 2**30
        down, up = (it * load * shards / 1e9 for it in (DOWN, UP))
        print(
            f"| {shards} | {load} | {memory:.2f} | {divide:.0f} | {intersect:.0f} | {(divide + intersect + join) / 3600:.2f} "
            f"| {down:.0f} | {up:.0f} |"
        )


main()
