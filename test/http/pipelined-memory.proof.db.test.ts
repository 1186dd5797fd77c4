import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { type ServerProcess, startServerProcess } from '../customer/server-process.js';
import { writeWalletConfig } from '../customer/wallet-config.js';
import { testServer } from '../databases/vitest.js';
import { type Places, serverPlaces } from './wallet-service.js';

/** Clients. The documented number is 100. */
const CLIENTS = Number(process.env['FW_PROOF_PIPELINES'] ?? 20);
const REQUESTS = 1_700;
const MOST_BYTES = 512 * 1_048_576;

/** The largest resident memory that a process has had, in bytes. */
function peakBytes(pid: number | undefined): number {
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

describe.runIf(process.platform === 'linux')('The generated wallet', () => {
  const directory = temporaryFolder();
  let places: Places;
  let server: ServerProcess;

  beforeAll(async () => {
    places = await serverPlaces(testServer());
    server = await startServerProcess(writeWalletConfig(directory, places));
  }, 240_000);
  afterAll(async () => {
    await server?.stop();
    await places?.drop();
  });

  it(`takes at most 512 MB while ${CLIENTS} clients pipeline ${REQUESTS} requests each and read no answers`, async () => {
    const [, host = '', port = ''] = /\/\/([^:]+):(\d+)$/.exec(server.url) ?? [];
    const requests = 'GET /docs HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(REQUESTS);
    const clients = Array.from({ length: CLIENTS }, () => {
      const socket = connect(Number(port), host)
        .on('error', () => {})
        .pause();
      socket.write(requests);
      return socket;
    });
    // What the clients send fits the buffers of the kernel: the server has it once its memory no longer grows.
    let peak = 0;
    await expect
      .poll(
        () => {
          const before = peak;
          peak = peakBytes(server.process.pid);
          return peak - before;
        },
        { timeout: 120_000, interval: 3_000 },
      )
      .toBe(0);
    console.info(`peak memory with ${CLIENTS} clients: ${Math.round(peak / 1_048_576)} MB`);
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(MOST_BYTES);
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    for (const client of clients) client.destroy();
  }, 300_000);
});
