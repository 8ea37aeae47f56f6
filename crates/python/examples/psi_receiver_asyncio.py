"""Print the rows of a CSV file that the peer also has, while the event loop goes on.

Usage: psi_receiver_asyncio.py HOST:PORT IDENTITY PEER FILE.csv    (needs polars)
"""

import asyncio
import sys

import foxtrot
import polars as pl


async def main() -> None:
    address, identity, fingerprint, file = sys.argv[1:]
    me = foxtrot.Identity.load(identity)
    async with await foxtrot.aio.connect(address, identity=me, peers=[fingerprint]) as peer:
        table = pl.read_csv(file)
        print(await foxtrot.aio.psi.receive(peer, table, on="email", normalize="email"))


asyncio.run(main())
