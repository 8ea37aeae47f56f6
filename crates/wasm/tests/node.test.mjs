// The npm package in Node: vectors, properties, and both parties over streams. FOXTROT_PACKAGE is its folder;
// PORTABLE, if it is set, has the module without vectors tested.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(process.env.FOXTROT_PACKAGE + "/");
// An engine without vectors, for the other module.
if (process.env.PORTABLE) WebAssembly.validate = () => false;
const foxtrot = await import(new URL("foxtrot.js", folder));
assert.equal(foxtrot.module.href.includes("simd"), !process.env.PORTABLE);
await foxtrot.init(await readFile(foxtrot.module));
const { Keys, Table, itemOf, over, selfTest } = foxtrot;

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => new TextEncoder().encode(text);

// Both ends of a stream in memory; `change` sees what goes to the responder.
function ends([here, there] = ["a token", "a token"], change) {
  const [near, far] = [new TransformStream(change && { transform: change }), new TransformStream()];
  return [
    over({ readable: far.readable, writable: near.writable }, { initiator: true, token: here }),
    over({ readable: near.readable, writable: far.writable }, { initiator: false, token: there }),
  ];
}

async function both([here, there], one, other) {
  const all = await Promise.allSettled([one(here), other(there)]);
  here.close();
  there.close();
  return all;
}

const values = (all) => all.map((it) => {
  if (it.status === "rejected") throw it.reason;
  return it.value;
});

test("items are those of the command's document", async () => {
  const vectors = new URL("../../foxtrot/tests/vectors/psi-items.json", import.meta.url);
  const { cases } = JSON.parse(await readFile(vectors));
  assert.ok(cases.length > 20);
  for (const { parts, terms, item } of cases) {
    const found = itemOf(parts, terms.split(";"));
    assert.equal(found && hex(found), item ?? undefined, JSON.stringify(parts));
  }
});

test("a run with fixed seeds has the messages and the result of other machines", async () => {
  const runs = JSON.parse(await readFile(new URL("runs.json", import.meta.url)));
  for (const { n, hash } of runs) assert.equal(selfTest(n), hash, `n = ${n}`);
});

test("intersections of random sets are those of a Set", async () => {
  let state = 1;
  const random = (n) => (state = (state * 48271) % 2147483647) % n;
  for (const [n, m, of, options] of [
    [0, 5, 9, {}], [5, 0, 9, {}], [1, 1, 1, {}], [200, 300, 400, {}], [3000, 500, 4000, { assumption: "lpn" }],
    [300, 300, 500, { semiHonest: true }],
  ]) {
    const list = (n) => Array.from({ length: n }, () => ["", "ä", "😀 "][random(3)] + random(of));
    const [ours, theirs] = [list(n), list(m)];
    const [found, told] = values(await both(ends(),
      (peer) => peer.psiReceive(Keys.of(ours), options), (peer) => peer.psiSend(Keys.of(theirs), options)));
    const set = new Set(theirs);
    assert.deepEqual([...found.rows], [...ours.keys()].filter((i) => set.has(ours[i])));
    assert.equal(found.common, new Set(ours.filter((it) => set.has(it))).size);
    assert.deepEqual([found.peerKeys, told.peerKeys], [set.size, new Set(ours).size]);
    assert.equal(found.session, told.session);
  }
});

test("jobs follow one another: join, random OT, chosen messages", async () => {
  const rows = ["ann", "bob"], n = 1000;
  const [[joined, random, messages], pairs] = values(await both(ends(), async (peer) => [
    await peer.joinReceive(Keys.of(["eve", "bob", "ann", "bob"]), 3),
    await peer.rotReceive(n),
    await peer.otReceive([true, false]),
  ], async (peer) => {
    await peer.joinSend(Keys.of(rows), bytes("A--B--"), 3);
    const pairs = await peer.rotSend(n);
    await peer.otSend([[bytes("no"), bytes("yes")], [bytes("left"), bytes("right")]]);
    return pairs;
  }));
  assert.deepEqual(joined.matches.map(({ row, payload }) => [row, Buffer.from(payload).toString()]).sort(),
    [[1, "B--"], [2, "A--"], [3, "B--"]]);
  for (let i = 0; i < n; i++) {
    const choice = random.choices[i >> 3] >> (i & 7) & 1, at = 32 * i + 16 * choice;
    assert.equal(hex(random.keys.subarray(16 * i, 16 * i + 16)), hex(pairs.subarray(at, at + 16)));
  }
  assert.deepEqual(messages.map((it) => Buffer.from(it).toString()), ["yes", "left"]);
});

test("both sides learn their matches, and counts", async () => {
  const ours = Keys.of(["eve", "bob", "ann", "bob"]), theirs = Keys.of(["ann", "bob", "cid"]);
  const [[matches, few, many], [sent, ...told]] = values(await both(ends(), async (peer) => [
    await peer.psiReceiveBoth(ours), await peer.countReceive(ours, { minCount: 2 }), await peer.countReceive(ours, { minCount: 3 }),
  ], async (peer) => [
    await peer.psiSendBoth(theirs), await peer.countSend(theirs, { minCount: 2 }), await peer.countSend(theirs, { minCount: 3 }),
  ]));
  assert.deepEqual([[...matches.rows], [...sent.rows]], [[1, 2, 3], [0, 1]]);
  assert.deepEqual([few, many, ...told].map((it) => it.count), [2, undefined, 2, undefined]);
  assert.deepEqual([few.peerKeys, few.sum], [3, undefined]);
});

test("the smaller module receives what the larger one sends, and does nothing else", async () => {
  const small = await import(new URL("foxtrot.js?receiver", folder));
  assert.ok((await readFile(small.receiver)).length < 0.7 * (await readFile(small.module)).length);
  await small.initReceiver(await readFile(small.receiver));
  assert.equal(small.selfTest, undefined);
  const [near, far] = [new TransformStream(), new TransformStream()];
  const here = small.over({ readable: far.readable, writable: near.writable }, { initiator: true, token: "a token" });
  const there = over({ readable: near.readable, writable: far.writable }, { initiator: false, token: "a token" });
  const [found, told] = values(await both([here, there],
    (peer) => peer.psiReceive(small.Keys.of(["eve", "bob"])), (peer) => peer.psiSend(Keys.of(["bob", "ann"]))));
  assert.deepEqual([[...found.rows], told.peerKeys], [[1], 2]);
});

test("texts of others are escaped, and formulas are none", () => {
  assert.equal(foxtrot.escaped("Mu\u0308ller\u202e\u0007"), "Mu\u0308ller\\u{202e}\\u{7}");
  assert.equal(foxtrot.printable("\n".repeat(65)), "\\n".repeat(64) + "…");
  assert.deepEqual(["=1", "-5", "a"].map(foxtrot.safe), ["'=1", "-5", "a"]);
});

test("the page is told what the table of all doors says", async () => {
  const table = new URL("../../foxtrot/tests/doors.json", import.meta.url);
  const { cases } = JSON.parse(await readFile(table));
  // Senders of the library wait one after another.
  const senders = spawn(process.env.FOXTROT_DOORS, ["--ignored", "--nocapture", "senders_wait"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(senders, "exit"), lines = createInterface({ input: senders.stdout })[Symbol.asyncIterator]();
  const names = ["ann@example.org", "bob@example.org"], camel = (it) => it.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  for (const { name, receiver = {}, finds, blame, says, hint } of cases) {
    let found = null;
    while (!found) {
      const { value, done } = await lines.next();
      assert.ok(!done, name);
      found = value.match(/listens on (.*):(\d+)/);
    }
    const socket = connect(Number(found[2]), found[1]);
    await once(socket, "connect");
    const peer = over(Duplex.toWeb(socket), { initiator: true });
    const options = { normalize: "email/2" };
    for (const [key, value] of Object.entries(receiver)) options[camel(key)] = value;
    const job = options.with ? peer.psiReceiveWith(Keys.of(names), options) : peer.psiReceive(Keys.of(names), options);
    if (finds) {
      assert.deepEqual([...(await job).rows].map((row) => names[row]), finds, name);
    } else {
      const error = await job.then(() => assert.fail(name), (error) => error);
      const spelled = hint?.replace(/\{(.*?)\}/g, (_, option) => camel(option));
      assert.ok(error.message.includes(says), `${name}: ${error.message}`);
      assert.deepEqual([error.blame, error.hint], [blame, spelled], name);
    }
    peer.close();
  }
  lines.return();
  assert.deepEqual(await ended, [0, null]);
});

test("another token is refused on both sides", async () => {
  const all = await both(ends(["a token", "another"]),
    (peer) => peer.psiReceive(Keys.of(["a"])), (peer) => peer.psiSend(Keys.of(["a"])));
  assert.deepEqual(all.map((it) => it.reason.code), ["token", "token"]);
});

test("different terms are named with both values", async () => {
  const all = await both(ends(), (peer) => peer.psiReceive(Keys.of(["a"]), { normalize: "email/1" }),
    (peer) => peer.psiSend(Keys.of(["a"])));
  assert.deepEqual(all[0].reason.differences, [{ key: "normalize", here: "email/1", peer: "none/1" }]);
  assert.equal(all[1].reason.code, "terms");
});

test("a stream whose bytes change, end or are cut ends with an error on both sides", async () => {
  for (const at of [0, 9, 60, 300, 5000, 40000]) {
    let seen = 0;
    const flip = (chunk, to) => {
      const copy = Uint8Array.from(chunk);
      if (seen <= at && at < seen + copy.length) copy[at - seen] ^= 1;
      seen += copy.length;
      to.enqueue(copy);
    };
    const ours = Keys.of(Array.from({ length: 2000 }, (_, i) => `${i}`));
    const peers = ends(undefined, flip);
    const end = (run) => async (peer) => {
      try {
        return await run(peer);
      } finally {
        peer.close();
      }
    };
    const all = await both(peers, end((peer) => peer.psiReceive(ours)), end((peer) => peer.psiSend(ours)));
    assert.ok(seen > at, `${seen} bytes`);
    assert.ok(all.some((it) => it.status === "rejected"), `byte ${at}`);
    assert.equal(all[0].status, "rejected", `byte ${at}: the receiver took a result`);
  }
});

test("a table is read alike in pieces of any size", () => {
  const text = "\ufeffid;name\r\n1;\"Ä;\"\"x\"\"\"\r\n\r\n2;b\r\n1;c\r\n;d";
  const all = bytes(text);
  for (const size of [1, 2, 3, 7, 100]) {
    const table = new Table(Table.guess("a.csv", all), true, Uint32Array.of(0), ["trim"], 3);
    for (let at = 0; at < all.length; at += size) table.push(all.subarray(at, at + size));
    table.end();
    const keys = table.takeKeys();
    assert.deepEqual([table.rows, table.blank, keys.length, keys.duplicates, keys.empty], [4, 1, 2, 1, 1]);
    assert.deepEqual([...table.names], ["id", "name"]);
    const [at, length] = table.places(Uint32Array.of(0));
    assert.deepEqual([...table.fields(all.subarray(at, at + length))], ["1", "Ä;\"x\""]);
  }
  assert.throws(() => {
    const table = new Table(",", true, Uint32Array.of(0), ["none"], 0);
    table.push(bytes("a,b\n1,2,3\n"));
    table.end();
  }, (e) => e.code === "width" && e.line === 2);
});
