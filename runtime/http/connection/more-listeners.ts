import { type ChildProcess, spawn } from 'node:child_process';
import type { Server } from 'node:http';

/** Listeners besides the first one. */
const MORE = 15;
/** The helper is ended after so long, whatever it has done, in milliseconds. */
const HELPER_WITHIN_MS = 10_000;

/** Sends the handle that it gets back as often as it is told, each time as a descriptor of its own, and ends. */
const HELPER = `
process.once('message', ({ copies }, handle) => {
  let left = copies;
  const sent = () => { if ((left -= 1) === 0) handle.close(); };
  for (let copy = 0; copy < copies; copy += 1) process.send('copy', handle, { keepOpen: true }, sent);
  process.once('message', () => process.disconnect());
});
`;

/**
 * Listens on the socket of a server with further servers. The event loop accepts one connection per turn and listener;
 * a busy process has few turns, so that of thousands of clients that connect at once most would wait for many seconds
 * in the kernel, and give up with their requests sent. With 16 listeners it accepts 16 per turn.
 *
 * Node.js cannot duplicate a descriptor, but a process that receives one gets a duplicate: a helper process sends them
 * back and ends. Where that is not possible, one listener has to do.
 *
 * @param another makes a server that serves the same
 * @returns resolves when the helper has ended
 */
export function listenMore(server: Server, another: () => Server): Promise<void> {
  // The handle itself: a helper that got the server would accept connections.
  const handle: Server | undefined = Reflect.get(server, '_handle');
  if (process.platform === 'win32' || handle === undefined || handle === null) return Promise.resolve();
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
    const timer = setTimeout(() => helper.kill('SIGKILL'), HELPER_WITHIN_MS).unref();
    let left = MORE;
    helper.on('message', (_copy, copied) => {
      // The first server may have stopped listening in the meantime.
      if (server.listening)
        another()
          .on('error', () => {})
          .listen(copied);
      else closeHandle(copied);
      left -= 1;
      if (left === 0) helper.send('enough', () => {});
    });
    helper.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    helper.on('error', () => resolve());
    helper.unref();
    helper.send({ copies: MORE }, handle, (error) => {
      if (error !== null) helper.kill('SIGKILL');
    });
  });
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
