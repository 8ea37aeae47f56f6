// Reads the file and talks to the peer, beside the page. The file's bytes go nowhere from here.
import { Table, connect, init } from "./foxtrot.js";

const ready = init();
let file, table, keys, found, peer;

const decoder = new TextDecoder();
const say = (what, more = {}) => postMessage({ what, ...more });

// All bytes of the file, some at a time.
async function* pieces(of) {
  const reader = of.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

const jobs = {
  // Names of columns, and how the file seems to be made.
  async look({ file: chosen, delimiter, header }) {
    file = chosen;
    const first = new Uint8Array(await file.slice(0, 1 << 18).arrayBuffer());
    delimiter ??= Table.guess(file.name, first);
    const head = new Table(delimiter, header, new Uint32Array(), [], 0);
    try {
      head.push(first);
      // A file without a line end at all.
      if (file.size <= first.length) head.end();
    } catch (e) {
      if (e.code !== "empty" || head.names.length === 0) throw e;
    }
    const names = head.names;
    head.free();
    return { delimiter, names };
  },

  // All rows, with these key columns.
  async read({ delimiter, header, columns, normalisers }) {
    keys?.free();
    table?.free();
    keys = undefined;
    table = new Table(delimiter, header, Uint32Array.from(columns), normalisers, 8);
    let read = 0, told = 0;
    for await (const piece of pieces(file)) {
      // The reader's memory grows with its rows only.
      for (let at = 0; at < piece.length; at += 1 << 20) table.push(piece.subarray(at, at + (1 << 20)));
      read += piece.length;
      if (read - told > 1 << 22) say("reading", { part: read / file.size, rows: table.rows });
      if (read - told > 1 << 22) told = read;
    }
    table.end();
    keys = table.takeKeys();
    const { rows, blank, terms } = table, { length, duplicates, empty } = keys;
    return { rows, blank, terms, keys: length, duplicates, empty, sample: table.sample() };
  },

  async terms({ address, token, name }) {
    const other = await connect(address, { token, name });
    try {
      return await other.terms();
    } finally {
      other.close();
    }
  },

  async run({ address, token, name, options }) {
    peer = await connect(address, { token, name });
    say("connected");
    try {
      found = await peer.psiReceive(keys, options, (done, of) => say("progress", { done, of }));
    } finally {
      peer.close();
    }
    const { rows, common, peerKeys, peerColumns } = found;
    return { rows: rows.length, common, peerKeys, peerColumns, names: table.names };
  },

  // Fields of some of the rows that were found.
  async rows({ from, count }) {
    const places = table.places(found.rows.subarray(from, from + count));
    const all = [];
    for (let i = 0; i < places.length; i += 2) {
      const bytes = file.slice(places[i], places[i] + places[i + 1]).arrayBuffer();
      all.push(bytes.then((it) => table.fields(new Uint8Array(it))));
    }
    return { from, rows: await Promise.all(all) };
  },

  // A file with the header and all rows that were found, byte for byte.
  async save() {
    const places = table.places(found.rows), parts = [table.above];
    let next = 0, begin = 0, last = 10;
    const end = () => places[next] + places[next + 1];
    for await (const piece of pieces(file)) {
      const stop = begin + piece.length, some = [];
      while (next < places.length && places[next] < stop) {
        const part = piece.slice(Math.max(0, places[next] - begin), Math.min(piece.length, end() - begin));
        if (last !== 10 && places[next] >= begin) some.push(Uint8Array.of(10));
        some.push(part);
        if (part.length) last = part[part.length - 1];
        if (end() > stop) break;
        next += 2;
      }
      // Millions of parts would cost more than their bytes.
      if (some.length) parts.push(new Blob(some));
      begin = stop;
    }
    if (last !== 10) parts.push(Uint8Array.of(10));
    return { blob: new Blob(parts, { type: "text/csv;charset=utf-8" }) };
  },
};

onmessage = async ({ data: { id, job, ...rest } }) => {
  try {
    await ready;
    say("done", { id, result: await jobs[job](rest) });
  } catch (e) {
    const { code = "other", message, differences, line, detail } = e;
    say("failed", { id, error: { code, message: String(message ?? e), differences, line, detail } });
  }
};
