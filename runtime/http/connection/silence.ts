import type { Socket } from 'node:net';

/** Counts, for each socket, in how many looks in a row nothing more has arrived on it. */
export class Silence {
  readonly #seen = new WeakMap<Socket, { bytes: number; looks: number }>();

  /** Looks at a socket. @returns looks in a row, this one included, since when nothing has arrived */
  look(socket: Socket): number {
    const { bytesRead } = socket;
    const seen = this.#seen.get(socket) ?? { bytes: -1, looks: 0 };
    seen.looks = seen.bytes === bytesRead ? seen.looks + 1 : 0;
    seen.bytes = bytesRead;
    this.#seen.set(socket, seen);
    return seen.looks;
  }
}
