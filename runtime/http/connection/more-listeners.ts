import { type ChildProcess, spawn } from 'node:child_process';
import type { Server } from 'node:http';
import { time } from '../../concurrency/time.js';

/** Number of further listeners. */
const MORE = 15;
/** The helper is killed after this time, in milliseconds. */
const HELPER_WITHIN_MS = 10_000;

/** Sends the received handle back the requested number of times, each as a separate descriptor, and exits. */
const HELPER = `
process.once('message', ({ copies }, handle) => {
  let left = copies;
  const sent = () => { if ((left -= 1) === 0) handle.close(); };
  for (let copy = 0; copy < copies; copy += 1) process.send('copy', handle, { keepOpen: true }, sent);
  process.once('message', () => process.disconnect());
});
`;

/** Options of further listeners. */
export interface MoreListenersOptions {
  /** Creates an equal server. */
  readonly another: () => Server;
  /** Clients that the kernel connects before the process accepts them. Node.js would set 511 with each listener. */
  readonly backlog: number;
}

/** Further listeners on the socket of a server. */
export class MoreListeners {
  /**
   * Resolves when only this process has the socket, and no descriptor of it is in transit. Connections to a socket that
   * only the helper still has are reset when the helper ends.
   */
  readonly settled: Promise<void>;
  #helper: ChildProcess | undefined;
  #isStopped = false;

  /**
   * Listens on the socket of a server with further servers. The event loop accepts one connection per turn and
   * listener, and a busy process has few turns. If thousands of clients connect at once, most of them would wait in the
   * kernel for many seconds and give up after they have sent their requests. With 16 listeners the process accepts 16
   * per turn.
   *
   * Node.js cannot duplicate a descriptor, but a process that receives one gets a duplicate: a helper process sends
   * them back and ends. If that is not possible, there is one listener.
   */
  constructor(server: Server, options: MoreListenersOptions) {
    // Only the handle, because a helper with the server would accept connections.
    const handle: Server | undefined = Reflect.get(server, '_handle');
    if (process.platform === 'win32' || handle === undefined || handle === null)
      this.settled = Promise.resolve();
    else this.settled = this.#start(handle, (copied) => this.#received(copied, server, options));
  }

  /** Stops creating listeners, and ends the helper: `settled` resolves soon. */
  stop(): void {
    this.#isStopped = true;
    this.#helper?.kill('SIGKILL');
  }

  #start(handle: Server, received: (copied: unknown) => void): Promise<void> {
    return new Promise((resolve) => {
      let helper: ChildProcess;
      try {
        helper = spawn(process.execPath, ['-e', HELPER], {
          stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
          env: {},
        });
      } catch {
        resolve();
        return;
      }
      this.#helper = helper;
      const timer = time.setTimeout(() => helper.kill('SIGKILL'), HELPER_WITHIN_MS).unref();
      let left = MORE;
      helper.on('message', (_copy, copied) => {
        received(copied);
        left -= 1;
        if (left === 0 && helper.connected) helper.send('enough', () => {});
      });
      // Messages that the helper has sent before its end are read before the channel is disconnected.
      const settle = (): void => {
        if (helper.connected || (helper.exitCode === null && helper.signalCode === null)) return;
        time.clearTimeout(timer);
        resolve();
      };
      helper.once('exit', settle).once('disconnect', settle);
      helper.on('error', () => resolve());
      helper.unref();
      helper.send({ copies: MORE }, handle, (error) => {
        if (error !== null) helper.kill('SIGKILL');
      });
    });
  }

  #received(copied: unknown, server: Server, { another, backlog }: MoreListenersOptions): void {
    if (this.#isStopped || !server.listening) closeHandle(copied);
    else
      another()
        .on('error', () => {})
        .listen(copied, backlog);
  }
}

function closeHandle(handle: unknown): void {
  if (
    typeof handle === 'object' &&
    handle !== null &&
    'close' in handle &&
    typeof handle.close === 'function'
  )
    handle.close();
}
