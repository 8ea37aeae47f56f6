"""Let one peer find out which of its rows are also in a CSV file.

Usage: psi_sender.py HOST:PORT IDENTITY PEER FILE.csv    (needs polars)
"""

import sys

import foxtrot
import polars as pl

address, identity, fingerprint, file = sys.argv[1:]
me = foxtrot.Identity.load(identity)
with foxtrot.bind(address, identity=me, peers=[fingerprint]) as listener:
    print(f"listening on {listener.address}", file=sys.stderr, flush=True)
    with listener.accept() as peer:
        report = foxtrot.psi.send(peer, pl.read_csv(file), on="email", normalize="email", progress=True)
print(f"the peer compared {report.peer_keys} keys of its column {report.peer_columns}")
