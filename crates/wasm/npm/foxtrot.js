// The package foxtrot-mpc: peers over WebSockets or any other stream. Call it in a Web Worker: jobs compute for long.

// The smallest module with a vector: an engine that can compile it takes the faster of the two.
const VECTOR = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11);
const ending = WebAssembly.validate(VECTOR) ? "_simd" : "";

/** The address of the WebAssembly that suits this engine. */
export const module = new URL(`foxtrot_wasm${ending}_bg.wasm`, import.meta.url);
/** The address of the smaller one, for receivers. */
export const receiver = new URL(`foxtrot_receive${ending}_bg.wasm`, import.meta.url);

// They are there when `init` is done: a worker that waited for them in its first lines would lose messages.
export let Keys, Table, escaped, itemOf, printable, safe, selfTest;
let Session;
const loading = {};

async function load(part, from) {
  const made = await import(`./${part}${ending}.js`);
  const wasm = await made.default({ module_or_path: from });
  ({ Session, Keys, Table, escaped, itemOf, printable, safe, selfTest } = made);
  return wasm;
}

function once(part, from) {
  loading[part] ??= load(part, from).catch((e) => {
    loading[part] = undefined;
    throw e;
  });
  return loading[part];
}

/** Loads the WebAssembly, once: of an address, of a response, or of bytes. Everything else here works when it is done. */
export const init = (from = module) => once("foxtrot_wasm", from);

/**
 * Loads a smaller WebAssembly in place of it, which reads files and receives: `psiReceive`, `psiReceiveWith`,
 * `psiReceiveBoth`, `terms`. `init` may follow; each has its own `Keys` and `Table`.
 */
export const initReceiver = (from = receiver) => once("foxtrot_receive", from);

// More than this that the system has not sent yet makes a job wait, until less than this is left.
const FULL = 4 << 20, EMPTY = 1 << 20;

/** A peer. Jobs run one after another; one that fails ends the connection. */
export class Peer {
  #session; #end; #timer;

  constructor(session, end, timeout) {
    [this.#session, this.#end] = [session, end];
    let idle = 0;
    this.heard = () => { idle = 0; };
    // Ticks are late while a job computes, so a wait is counted in ticks and not by a clock.
    this.#timer = setInterval(() => {
      idle = session.waits ? idle + 1 : 0;
      if (idle > timeout) this.#stop("timeout");
    }, 1000);
  }

  psiReceive(keys, options = {}, tell) { return this.#session.psiReceive(keys, options, tell); }
  psiSend(keys, options = {}, tell) { return this.#session.psiSend(keys, options, tell); }
  joinReceive(keys, length, options = {}, tell) { return this.#session.joinReceive(keys, length, options, tell); }
  joinSend(keys, payloads, length, options = {}, tell) {
    return this.#session.joinSend(keys, payloads, length, options, tell);
  }
  psiReceiveWith(keys, options, tell) { return this.#session.psiReceiveWith(keys, options, tell); }
  psiReceiveBoth(keys, options = {}, tell) { return this.#session.psiReceiveBoth(keys, options, tell); }
  psiSendBoth(keys, options = {}, tell) { return this.#session.psiSendBoth(keys, options, tell); }
  countReceive(keys, options = {}) { return this.#session.psiCount(keys, false, options); }
  countSend(keys, options = {}) { return this.#session.psiCount(keys, true, options); }
  rotSend(n) { return this.#session.rotSend(n); }
  rotReceive(n) { return this.#session.rotReceive(n); }
  otSend(pairs) { return this.#session.otSend(pairs); }
  otReceive(choices) { return this.#session.otReceive(choices); }

  /** What the peer wants, and whether it has the same token. Nothing else is possible over this connection afterwards. */
  terms() { return this.#session.terms(); }

  /** Ends the connection, and a job that waits. A job that computes ends when it next waits. */
  close() { this.#stop("cancelled"); }

  #stop(why) {
    clearInterval(this.#timer);
    this.#session.end(why);
    this.#end();
  }
}

const failure = (code, message) => Object.assign(new Error(message), { code });

/**
 * Connects to a peer that listens with `foxtrot psi send --websocket`. The token is never sent. `name` is the token's
 * name, if it has one.
 */
export function connect(address, { token, name, timeout = 30 } = {}) {
  return new Promise((resolve, reject) => {
    let socket;
    try {
      const url = new URL(address);
      if (url.pathname === "/") url.pathname = "/foxtrot";
      if (name) url.pathname += "/" + encodeURIComponent(name);
      url.protocol = url.protocol.replace("http", "ws");
      socket = new WebSocket(url);
    } catch (e) {
      reject(failure("address", String(e)));
      return;
    }
    socket.binaryType = "arraybuffer";
    const late = setTimeout(() => socket.close(), timeout * 1000);
    let peer, polls;
    const outlet = {
      write(bytes) {
        // The socket takes nothing once it closes; its end says why.
        if (socket.readyState === WebSocket.OPEN) socket.send(bytes);
        if (socket.bufferedAmount < FULL) return true;
        polls ??= setInterval(() => {
          if (socket.bufferedAmount > EMPTY && socket.readyState === WebSocket.OPEN) return;
          clearInterval(polls);
          polls = undefined;
          session.wake();
        }, 4);
        return false;
      },
    };
    const session = new Session(outlet, true, token || undefined);
    socket.onopen = () => {
      clearTimeout(late);
      peer = new Peer(session, () => socket.close(), timeout);
      resolve(peer);
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") {
        session.end("misbehaved");
        socket.close();
        return;
      }
      peer.heard();
      session.push(new Uint8Array(data));
    };
    socket.onclose = () => {
      clearTimeout(late);
      session.end("closed");
      reject(failure("unreachable", "no session at this address: nobody listens, or this page may not"));
    };
  });
}

/** A peer over a stream that something else has secured: `{ readable, writable }` of bytes. */
export function over({ readable, writable }, { initiator, token, timeout = 30 }) {
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const session = new Session({
    write(bytes) {
      writer.write(bytes).catch(() => session.end("closed"));
      if (writer.desiredSize === null || writer.desiredSize > 0) return true;
      writer.ready.then(() => session.wake(), () => session.end("closed"));
      return false;
    },
  }, initiator, token || undefined);
  const peer = new Peer(session, () => { reader.cancel().catch(() => {}); writer.close().catch(() => {}); }, timeout);
  (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      peer.heard();
      session.push(value);
    }
  })().catch(() => {}).finally(() => session.end("closed"));
  return peer;
}
