import { expect, test } from 'vitest';
import type { RelayMessage } from '../../relay-sink.js';
import type { loadNats } from './load-nats.js';
import { NatsSink } from './nats-sink.js';

const MESSAGE: RelayMessage = {
  ...{ id: '1', key: 'a', modelName: 'Wallet', eventType: 'Created' },
  ...{ contentType: 'application/json', attributes: {}, body: '{}' },
};
const OPTIONS = { servers: ['one:4222', 'two:4222'], subject: 'events', tls: false, timeoutMs: 1_000 };

class Connection {
  isOpen = true;
  end = (): void => {};
  readonly #closed = new Promise<void>((resolve) => {
    this.end = resolve;
  });

  closed(): Promise<void> {
    return this.#closed;
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.end();
  }
}

/** A client whose first connection comes late. */
function slowFirst() {
  const connections: Connection[] = [];
  let settle: { readonly resolve: (late: Connection) => void; readonly reject: (error: Error) => void };
  const first = new Promise<Connection>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const connect = (): Promise<Connection> => {
    const connection = new Connection();
    connections.push(connection);
    return connections.length === 1 ? first : Promise.resolve(connection);
  };
  const modules = {
    jetstream: { jetstream: () => ({ publish: () => Promise.resolve() }) },
    transport: { connect, headers: () => new Map() },
  };
  const load = (() => Promise.resolve(modules)) as unknown as typeof loadNats;
  return { connections, load, settleFirst: () => settle };
}

test.each(['connects', 'fails'])('A sink keeps its connection when one it gave up %s late', async (end) => {
  const { connections, load, settleFirst } = slowFirst();
  const sink = new NatsSink(OPTIONS, load);
  const abort = new AbortController();
  const givenUp = sink.publish([MESSAGE], abort.signal).catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  const { signal } = new AbortController();
  expect(await sink.publish([MESSAGE], signal)).toEqual([{ kind: 'accepted' }]);
  const [early] = connections;
  if (end === 'fails' || early === undefined) settleFirst().reject(new Error('timeout'));
  else settleFirst().resolve(early);
  await givenUp;
  await new Promise((resolve) => setImmediate(resolve));
  expect(await sink.publish([MESSAGE], signal)).toEqual([{ kind: 'accepted' }]);
  expect(connections).toHaveLength(2);
  await sink.close();
  expect(connections[1]?.isOpen).toBe(false);
});
