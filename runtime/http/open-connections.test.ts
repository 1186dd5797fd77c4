import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { OpenConnections } from './open-connections.js';

/** The parts of a request and its response that a connection uses. */
function exchange(socket: Socket): { readonly request: IncomingMessage; readonly response: ServerResponse } {
  const request = Object.assign(new EventEmitter(), { socket }) as unknown as IncomingMessage;
  return { request, response: new EventEmitter() as unknown as ServerResponse };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('a request begins when the one before it on its connection is answered', async () => {
  const connections = new OpenConnections();
  const socket = new Socket();
  const begun: number[] = [];
  const exchanges = [1, 2, 3].map((number) => {
    const each = exchange(socket);
    connections.enter(each.request, each.response, () => begun.push(number));
    return each;
  });
  expect(begun).toEqual([1]);
  exchanges[0]?.response.emit('close');
  await turn();
  expect(begun).toEqual([1, 2]);
});

test('no request of a client that has left begins, because its response would never be closed', async () => {
  const connections = new OpenConnections();
  const socket = new Socket();
  const begun: number[] = [];
  const [first] = [1, 2].map((number) => {
    const each = exchange(socket);
    connections.enter(each.request, each.response, () => begun.push(number));
    return each;
  });
  socket.destroy();
  first?.response.emit('close');
  await turn();
  expect(begun).toEqual([1]);
});

test.each([
  ['an open stream does not delay', true],
  ['a request in progress delays', false],
])('%s the end of listening', async (_, isStream) => {
  let nowMs = 0;
  const passes = (work: () => void, milliseconds: number): ReturnType<typeof setTimeout> => {
    nowMs += milliseconds;
    return setTimeout(work, 0);
  };
  onTestFinished(useTime({ nowMs: () => nowMs, setTimeout: passes }));
  const connections = new OpenConnections();
  const { request, response } = exchange(new Socket());
  connections.enter(request, response, () => {});
  let stoppedMs = Number.NaN;
  const listeners = { stop: () => (stoppedMs = nowMs) };
  const streams = { size: isStream ? 1 : 0, close: () => {} };
  await connections.drain({ listening: true } as Server, listeners, 8_000, streams);
  if (isStream) expect(stoppedMs).toBeLessThan(500);
  else expect(stoppedMs).toBeGreaterThanOrEqual(4_000);
});
