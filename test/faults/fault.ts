/** `request`: from the client to the server. `reply`: the opposite direction. */
export type Direction = 'request' | 'reply';

/** A fault of one request or of its reply. */
export type Fault =
  /** A part passes, then the connection is cut for both sides. */
  | {
      readonly kind: 'tear';
      readonly direction: Direction;
      readonly share: number;
      readonly how: 'reset' | 'end';
    }
  /** A part passes, then no byte passes any more: neither side is notified. */
  | { readonly kind: 'stall'; readonly direction: Direction; readonly share: number }
  /** The client's side is cut; after a while the whole request reaches the server. */
  | { readonly kind: 'late'; readonly delayMs: number }
  /** The server executes the request, and the client never gets the reply. */
  | { readonly kind: 'lost-reply' }
  /** It is delayed. */
  | { readonly kind: 'delay'; readonly direction: Direction; readonly delayMs: number };

export type FaultKind = Fault['kind'];

/** Bytes that get through: `share` is from 0 (none) to 1 (all). */
export function bytesThrough(run: Buffer, share: number): Buffer {
  return run.subarray(0, Math.round(share * run.length));
}
