/** Terms of an intersection. Both sides need the same assumption, adversary and normalisation. */
export interface PsiOptions {
  /** What the protocol may rest on, besides module-LWE; "symmetric" if it is left out. */
  assumption?: "symmetric" | "lpn";
  /** True accepts a protocol without protection against a malicious peer. */
  semiHonest?: boolean;
  /** The normalisation as both sides compare it, e.g. "email/2"; `Table.terms` has it. */
  normalize?: string;
  /** The most and the fewest keys that the peer may have. */
  maxPeerKeys?: number;
  minPeerKeys?: number;
  /** The names of our key columns, for people. */
  columns?: string[];
  /** The name of the set that a server should compare with. */
  set?: string;
  /** The sender's columns that the receiver wants, for `psiReceiveWith`; their width and rule are terms of the peer. */
  with?: string[];
  width?: number;
  duplicates?: "refuse" | "first" | "last";
  /** For `psiCount`: fewer common keys give no result; the largest number, if the sender's numbers are added up. */
  minCount?: number;
  largest?: number;
}

/** What a session told of the peer. */
export interface PsiTold {
  peerKeys: number;
  /** As the peer wrote them: show `escaped(peerColumns)`, as text. */
  peerColumns?: string;
  session: string;
}

export interface PsiResult extends PsiTold {
  /** The number of different keys in common. */
  common: number;
  /** The numbers of our rows with these keys, ascending. */
  rows: Uint32Array;
}

/** `fields` has as many texts for each row as columns were wanted. */
export interface ColumnsResult extends PsiResult {
  fields: string[];
}

/** Without a count there are too few common keys. The sum is a decimal number. */
export interface CountResult extends PsiTold {
  count?: number;
  sum?: string;
}

export interface JoinResult extends PsiTold {
  matches: { row: number; payload: Uint8Array }[];
}

export interface RandomOts {
  /** Packed, least significant bit first. */
  choices: Uint8Array;
  /** 16 bytes each. */
  keys: Uint8Array;
}

export interface PeerTerms {
  role: "sender" | "receiver";
  terms: Record<string, string>;
  offers: Record<string, string>;
}

/** What every promise here is rejected with. */
export interface FoxtrotError extends Error {
  /** "token", "terms", "closed", "timeout", "cancelled", "misbehaved", "busy" and others. */
  code: string;
  /** Who can do something about it, and what might help. */
  blame?: "caller" | "agreement" | "connection" | "peer" | "nobody";
  hint?: string;
  differences?: { key: string; here?: string; peer?: string }[];
  line?: number;
  /** The character in the line, from 1; 0 if the fault is of the whole line. */
  column?: number;
  detail?: string;
}
