import { connect } from 'node:net';

/** The answers of one connection. */
export interface RawAnswer {
  /** Status of the first answer; 0 if there was none. */
  readonly status: number;
  readonly text: string;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
  /** Duration of the connection, in milliseconds. */
  readonly tookMs: number;
}

/** Default of `patienceMs`: maximum wait for the start of an answer, and then for more of it, in milliseconds. */
const BEGIN_WITHIN_MS = 30_000;
const MORE_WITHIN_MS = 250;

/**
 * Sends these bytes and collects the answer until the server closes, or for `patienceMs`. Default: until no more data
 * arrives.
 */
export function sendRaw(port: number, bytes: string | Buffer, patienceMs?: number): Promise<RawAnswer> {
  const start = performance.now();
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let closed = false;
    let timer = setTimeout(() => socket.destroy(), patienceMs ?? BEGIN_WITHIN_MS);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (patienceMs !== undefined) return;
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), MORE_WITHIN_MS);
    });
    socket.on('end', () => {
      closed = true;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
      resolve({ status, text, closed, tookMs: performance.now() - start });
    });
    socket.write(bytes);
  });
}
