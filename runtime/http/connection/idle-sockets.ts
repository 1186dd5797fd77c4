import type { Socket } from 'node:net';

/** Counts, for each socket, the checks in a row in which no new bytes had arrived. */
export class IdleSockets {
  readonly #seen = new WeakMap<Socket, { bytes: number; looks: number }>();

  /** Checks a socket. @returns checks in a row without new bytes, including this one */
  look(socket: Socket): number {
    const { bytesRead } = socket;
    const seen = this.#seen.get(socket) ?? { bytes: -1, looks: 0 };
    seen.looks = seen.bytes === bytesRead ? seen.looks + 1 : 0;
    seen.bytes = bytesRead;
    this.#seen.set(socket, seen);
    return seen.looks;
  }
}
