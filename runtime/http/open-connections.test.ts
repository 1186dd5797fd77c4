import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { OpenConnections } from './open-connections.js';

/** The parts of a request and its response that a connection uses. */
function exchange(socket: Socket): { readonly request: IncomingMessage; readonly response: ServerResponse } {
  const request = Object.assign(new EventEmitter(), { socket }) as unknown as IncomingMessage;
  const response = Object.assign(new EventEmitter(), { headersSent: false }) as unknown as ServerResponse;
  return { request, response };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('the requests of a connection are limited, and those behind the refused one are ignored', () => {
  const connections = new OpenConnections();
  const socket = new Socket();
  const entries = Array.from({ length: 66 }, () => {
    const { request, response } = exchange(socket);
    return connections.enter(request, response, () => {});
  });
  expect(entries.slice(62)).toEqual(['begins', 'begins', 'refuse', 'ignore']);
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
  ['an answer that has not begun', false],
  ['no stream, which ends only later', true],
])('a closing server waits for %s before it stops listening', async (_what, headersSent) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const connections = new OpenConnections();
  const { request, response } = exchange(new Socket());
  connections.enter(request, response, () => Object.assign(response, { headersSent }));
  const server = Object.defineProperty(createServer(), 'listening', { value: true });
  const stop = vi.fn();
  void connections.drain(server, { stop }, 60_000, () => {});
  await vi.advanceTimersByTimeAsync(1_000);
  expect(stop).toHaveBeenCalledTimes(headersSent ? 1 : 0);
});
