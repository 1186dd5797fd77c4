/**
 * Slow clients: a third sends its head byte by byte, a third its body, and a third sends only a part of its head. Each
 * connects again when the server closes its connection.
 */
import { connect } from 'node:net';

const BYTE_EVERY_MS = 100;

process.once('message', (/** @type {any} */ { host, port, count, request }) => {
  const bytes = Buffer.from(request);
  const bodyAt = bytes.indexOf('\r\n\r\n') + 4;
  for (let client = 0; client < count; client += 1) setTimeout(() => open(client % 3), client);

  function open(kind) {
    const socket = connect({ host, port });
    let at = [1, bodyAt, 40][kind];
    socket.write(bytes.subarray(0, at));
    const timer = setInterval(() => {
      if (kind === 2 || at === bytes.length) return;
      socket.write(bytes.subarray(at, at + 1));
      at += 1;
    }, BYTE_EVERY_MS);
    socket.on('data', () => {
      // The request was answered; the next one begins.
      if (at === bytes.length) at = 0;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      setTimeout(() => open(kind), BYTE_EVERY_MS);
    });
  }
  setTimeout(() => process.send?.('open'), count + 1_000);
});
