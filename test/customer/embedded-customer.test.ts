import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { createWallet, get, post } from './http-client.js';
import { failToStart, type ServerProcess, startServerProcess } from './server-process.js';
import { writeWalletConfig } from './wallet-config.js';

/** The same server without a database server: two embedded databases in files. */
describe('the wallet server on embedded databases', () => {
  const directory = temporaryFolder();
  const config = writeWalletConfig(directory, {
    global: { jdbcUrl: 'jdbc:pglite:file:./data/global' },
    mexico: { jdbcUrl: 'jdbc:pglite:file:./data/mexico' },
  });
  const owner = randomUUID();
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServerProcess(config);
  });

  afterAll(() => server?.stop());

  test('warns at start that a power loss may lose data', () => {
    expect(server.output()).toMatch(/power loss/);
  });

  test('a second process on the same directory is refused with the name of the holder', async () => {
    const { exitCode, output } = await failToStart(config);
    expect(exitCode).not.toBe(0);
    expect(output).toContain(String(server.process.pid));
    expect(output).toContain(join('data', 'global'));
  });

  test('wallets survive a restart, and a crash', async () => {
    const wallet = await createWallet(server.url, 'US', owner);
    await server.stop();
    server = await startServerProcess(config);
    expect((await get(`${server.url}/wallets/${wallet.id}`)).body).toEqual(wallet);
    const { body: deposited } = await post(`${server.url}/wallets/${wallet.id}/deposit`, { amount: '1' });
    server.process.kill('SIGKILL');
    await new Promise((resolve) => server.process.once('exit', resolve));
    server = await startServerProcess(config);
    expect((await get(`${server.url}/wallets/${wallet.id}`)).body).toEqual(deposited);
  });
});
