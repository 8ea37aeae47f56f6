import type { ColumnsResult, CountResult, JoinResult, Keys, PeerTerms, PsiOptions, PsiResult, PsiTold, RandomOts } from "./foxtrot_wasm.js";
export { Keys, Table, escaped, itemOf, printable, safe, selfTest } from "./foxtrot_wasm.js";
export type { ColumnsResult, CountResult, FoxtrotError, JoinResult, PeerTerms, PsiOptions, PsiResult, PsiTold, RandomOts } from "./foxtrot_wasm.js";

/** The address of the WebAssembly that suits this engine: with vectors where it has them. */
export const module: URL;
/** The address of the smaller one, for receivers. */
export const receiver: URL;

/** Loads the WebAssembly, once: of an address, of a response, or of bytes. Everything else here works when it is done. */
export function init(from?: string | URL | Response | BufferSource | WebAssembly.Module): Promise<unknown>;

/**
 * Loads a smaller WebAssembly in place of it, which reads files and receives: `psiReceive`, `psiReceiveWith`,
 * `psiReceiveBoth`, `terms`. `init` may follow; each has its own `Keys` and `Table`.
 */
export function initReceiver(from?: string | URL | Response | BufferSource | WebAssembly.Module): Promise<unknown>;

/** Is told how many of how many steps are done. */
export type Tell = (done: number, of: number) => void;

/** A peer. Jobs run one after another; promises are rejected with a `FoxtrotError`. */
export class Peer {
  private constructor();
  /** Finds out which of these keys the peer also has. */
  psiReceive(keys: Keys, options?: PsiOptions, tell?: Tell): Promise<PsiResult>;
  /** Lets the peer find out which of its keys are among these. */
  psiSend(keys: Keys, options?: PsiOptions, tell?: Tell): Promise<PsiTold>;
  /** Finds out which of these keys the peer also has, with its payload of `length` bytes for each. */
  joinReceive(keys: Keys, length: number, options?: PsiOptions, tell?: Tell): Promise<JoinResult>;
  /** Lets the peer read the payload of each match: `length` bytes for each row. */
  joinSend(keys: Keys, payloads: Uint8Array, length: number, options?: PsiOptions, tell?: Tell): Promise<PsiTold>;
  /** Finds out which of these keys the peer also has, with its columns `options.with`: it runs `foxtrot psi send --share`. */
  psiReceiveWith(keys: Keys, options: PsiOptions & { with: string[] }, tell?: Tell): Promise<ColumnsResult>;
  /** Both sides find out which of their keys the other also has. */
  psiReceiveBoth(keys: Keys, options?: PsiOptions, tell?: Tell): Promise<PsiResult>;
  psiSendBoth(keys: Keys, options?: PsiOptions, tell?: Tell): Promise<PsiResult>;
  /**
   * Counts common keys, and adds up the sender's numbers with `options.largest`; both sides learn the same. Secure only if
   * both follow the protocol. `countSend` has no numbers.
   */
  countReceive(keys: Keys, options?: PsiOptions): Promise<CountResult>;
  countSend(keys: Keys, options?: PsiOptions): Promise<CountResult>;
  /** `n` random OTs as the sender: 32 bytes each, the key for 0 and the key for 1. */
  rotSend(n: number): Promise<Uint8Array>;
  rotReceive(n: number): Promise<RandomOts>;
  /** Sends one message of each pair: the one that the receiver chooses. */
  otSend(pairs: [Uint8Array, Uint8Array][]): Promise<void>;
  /** A message that does not open is null; the peer must not learn whether one did. */
  otReceive(choices: boolean[]): Promise<(Uint8Array | null)[]>;
  /**
   * What the peer wants. With a token it also finds out whether the peer has the same, which begins no session there. Nothing
   * else is possible over this connection afterwards.
   */
  terms(): Promise<PeerTerms>;
  close(): void;
}

/** Connects to a peer that listens with `foxtrot psi send --websocket`. */
export function connect(
  address: string | URL,
  options?: { token?: string; name?: string; timeout?: number },
): Promise<Peer>;

/** A peer over a stream that something else has secured. */
export function over(
  stream: { readable: ReadableStream<Uint8Array>; writable: WritableStream<Uint8Array> },
  options: { initiator: boolean; token?: string; timeout?: number },
): Peer;
