"""Print the rows of a CSV file that the peer also has.

Usage: psi_receiver.py HOST:PORT IDENTITY PEER FILE.csv    (needs pandas)
"""

import sys

import foxtrot
import pandas as pd

address, identity, fingerprint, file = sys.argv[1:]
me = foxtrot.Identity.load(identity)
with foxtrot.connect(address, identity=me, peers=[fingerprint]) as peer:
    table = pd.read_csv(file)
    common = foxtrot.psi.receive(peer, table, on="email", normalize="email", progress=True)
print(common.to_string())
