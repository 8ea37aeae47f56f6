// Reads the file and talks to the peer, beside the page. The file's bytes go nowhere from here.
import { Table, connect, escaped, init, initReceiver, printable, safe } from "./foxtrot.js";

// Counts and sums take a larger module, which few need.
const ready = initReceiver();
let hasAll = false, file, table, keys, found, peer, asRead;

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

// Texts of the file and of the other side as they can be shown: without characters that steer or hide others.
const shown = (object) => Object.fromEntries(Object.entries(object).map((both) => both.map((it) => escaped(it))));

// The other side's columns of one of the rows that were found.
const theirs = (number) => found.fields?.slice(number * found.with.length, (number + 1) * found.with.length) ?? [];

const jobs = {
  // Names of columns, and how the file seems to be made.
  async look({ file: chosen, delimiter, header }) {
    file = chosen;
    const first = new Uint8Array(await file.slice(0, 1 << 18).arrayBuffer());
    delimiter ??= Table.guess(file.name, first);
    const head = new Table(delimiter, header, new Uint32Array(), [], 0);
    head.push(first);
    // A file without a line end at all.
    if (file.size <= first.length) head.end();
    const names = head.names;
    head.free();
    return { delimiter, names, shown: names.map(printable) };
  },

  // All rows, with these key columns.
  async read(how) {
    const { delimiter, header, columns, normalisers } = asRead = how;
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
      const { role, terms } = await other.terms();
      return { role, terms, shown: shown(terms) };
    } finally {
      other.close();
    }
  },

  async run({ address, token, name, kind, options }) {
    if (["count", "sum"].includes(kind) && !hasAll) {
      await init();
      hasAll = true;
      // The larger module has a memory of its own.
      keys = table = undefined;
      await jobs.read(asRead);
    }
    peer = await connect(address, { token, name });
    say("connected");
    try {
      const tell = (done, of) => say("progress", { done, of });
      found = await {
        intersection: () => peer.psiReceive(keys, options, tell), join: () => peer.psiReceiveWith(keys, options, tell),
        both: () => peer.psiReceiveBoth(keys, options, tell),
        count: () => peer.countReceive(keys, options), sum: () => peer.countReceive(keys, options),
      }[kind]();
    } finally {
      peer.close();
    }
    found.with = kind === "join" ? options.with : [];
    const { rows, common, count, sum, peerKeys, peerColumns } = found;
    const names = [...table.names, ...found.with].map(printable);
    return { rows: rows?.length, common, count, sum, peerKeys, peerColumns: peerColumns && escaped(peerColumns), names };
  },

  // Fields of some of the rows that were found.
  async rows({ from, count }) {
    const places = table.places(found.rows.subarray(from, from + count));
    const all = [];
    for (let i = 0; i < places.length; i += 2) {
      const bytes = file.slice(places[i], places[i] + places[i + 1]).arrayBuffer();
      const more = theirs(from + i / 2);
      all.push(bytes.then((it) => [...table.fields(new Uint8Array(it)), ...more].map(printable)));
    }
    return { from, rows: await Promise.all(all) };
  },

  // A file with the header and all rows that were found, byte for byte, and the other side's columns behind them. For a
  // spreadsheet these are without formulas.
  async save({ isSafe }) {
    const fields = (number) => (isSafe ? theirs(number).map(safe) : theirs(number));
    const places = table.places(found.rows), { header } = table, wider = found.with.length > 0;
    const parts = [wider && header ? table.extended(table.above, found.with) : table.above];
    let next = 0, begin = 0, held = [];
    for await (const piece of pieces(file)) {
      const stop = begin + piece.length, some = [];
      while (next < places.length && places[next] < stop) {
        const end = places[next] + places[next + 1];
        const part = piece.slice(Math.max(0, places[next] - begin), Math.min(piece.length, end - begin));
        if (end > stop) {
          held.push(part);
          break;
        }
        if (!wider && part[part.length - 1] === 10) {
          some.push(...held, part);
        } else {
          const row = held.length ? new Uint8Array(await new Blob([...held, part]).arrayBuffer()) : part;
          some.push(table.extended(row, wider ? fields(next / 2) : []));
        }
        held = [];
        next += 2;
      }
      // Millions of parts would cost more than their bytes.
      if (some.length) parts.push(new Blob(some));
      begin = stop;
    }
    return { blob: new Blob(parts, { type: "text/csv;charset=utf-8" }) };
  },
};

onmessage = async ({ data: { id, job, ...rest } }) => {
  try {
    await ready;
    say("done", { id, result: await jobs[job](rest) });
  } catch (e) {
    const { code = "other", line } = e, text = (it) => it && printable(String(it));
    const differences = e.differences?.map(({ key, here, peer }) => ({ key: text(key), here: here && escaped(here), peer: peer && escaped(peer) }));
    say("failed", { id, error: { code, message: text(e.message ?? e), differences, line, detail: text(e.detail) } });
  }
};
