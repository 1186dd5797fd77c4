/** `request`: from the client to the server. */
export type Direction = 'request' | 'reply';

/** One thing that goes wrong with one request or with its reply. */
export type Fault =
  /** Part of it gets through, then the connection is cut for both sides. */
  | {
      readonly kind: 'tear';
      readonly direction: Direction;
      readonly share: number;
      readonly how: 'reset' | 'end';
    }
  /** Part of it gets through, then there is silence: neither side is notified. */
  | { readonly kind: 'stall'; readonly direction: Direction; readonly share: number }
  /** The client's side is cut, and only then, after a while, the whole request reaches the server. */
  | { readonly kind: 'late'; readonly delayMs: number }
  /** The server does its work, and the client never hears of it. */
  | { readonly kind: 'lost-reply' }
  /** It is held back for a while. */
  | { readonly kind: 'delay'; readonly direction: Direction; readonly delayMs: number };

export type FaultKind = Fault['kind'];

/** Bytes that get through: `share` is from 0 (none) to 1 (all). */
export function bytesThrough(run: Buffer, share: number): Buffer {
  return run.subarray(0, Math.round(share * run.length));
}
