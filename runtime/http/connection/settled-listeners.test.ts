import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { DEFAULT_HTTP_LIMITS } from '../limits.js';
import { Connections } from './connections.js';

const { events } = vi.hoisted(() => ({ events: [] as string[] }));

/** Further listeners whose helper takes its time to end. */
vi.mock('./more-listeners.js', () => ({
  MoreListeners: class {
    #settle: () => void = () => {};
    readonly settled = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });

    constructor() {
      events.push('made');
    }

    stop(): void {
      events.push('stopped');
      setTimeout(() => {
        events.push('settled');
        this.#settle();
      }, 500);
    }
  },
}));

it('goes on listening until no helper has its socket any more', async () => {
  const connections = new Connections(DEFAULT_HTTP_LIMITS);
  const server = createServer();
  connections.takeOver(server, () => createServer());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const clients: Socket[] = [];
  for (let client = 0; client < 64; client += 1) clients.push(connect(address.port, '127.0.0.1'));
  await expect.poll(() => events, { timeout: 30_000 }).toEqual(['made']);
  const drained = connections.drain(20_000, () => events.push('deaf'));
  await expect.poll(() => events.at(-1), { timeout: 30_000 }).toBe('deaf');
  for (const client of clients) client.destroy();
  await drained;
  expect(events).toEqual(['made', 'stopped', 'settled', 'deaf']);
});
