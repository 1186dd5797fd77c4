import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../customer/server-process.js';
import { writeWalletConfig } from '../customer/wallet-config.js';
import { testServer } from '../databases/vitest.js';
import { JSON_TYPE, OWNER, type Places, serverPlaces } from './wallet-service.js';

const ROOT = join(import.meta.dirname, '..', '..');
/** `npm run proof:feeds` sets it: all streams, and a long history. */
const IS_LONG = process.env['FW_PROOF_FEEDS'] !== undefined;
const STREAMS_PER_CALLER = 100;
const EDITS = 100;
const EDIT_BYTES = 50_000;
const MEBIBYTE = 1_048_576;
const HISTORY = IS_LONG ? 3_000 : 600;
const READERS = IS_LONG ? 500 : 200;
/** How long the requests of another caller are counted, in milliseconds. */
const COUNT_MS = IS_LONG ? 10_000 : 4_000;

let program: string;
let places: Places | undefined;
let server: ServerProcess | undefined;
let folder = '';
const sockets: Socket[] = [];

beforeAll(async () => {
  await mkdir(join(ROOT, 'dist', 'http'), { recursive: true });
  program = join(await mkdtemp(join(ROOT, 'dist', 'http', 'program-')), 'caller-service.js');
  await build({
    ...{ entryPoints: [join(import.meta.dirname, 'caller-service.ts')], outfile: program },
    ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
    alias: {
      'fw-actions/codegen': join(ROOT, 'runtime/codegen/index.ts'),
      'fw-actions/http': join(ROOT, 'runtime/entrances/http.ts'),
      'fw-actions/operate': join(ROOT, 'runtime/entrances/operate.ts'),
      'fw-actions': join(ROOT, 'runtime/index.ts'),
    },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, target: 'es2023' } },
  });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.stop();
  await places?.drop();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => rm(join(program, '..'), { recursive: true, force: true }));

/** A wallet in a process of its own. Returns its id. */
async function start(options: readonly string[] = []): Promise<string> {
  places = await serverPlaces(testServer());
  folder = mkdtempSync(join(tmpdir(), 'fw-feeds-'));
  server = await startServerProcess(writeWalletConfig(folder, places, 60_000), {}, { program, options });
  return openWallet();
}

async function openWallet(): Promise<string> {
  const body = JSON.stringify({ country: 'MX', ownerId: OWNER, currency: 'MXN', initialBalance: '0' });
  const answer = await fetch(`${server?.url}/wallets`, { method: 'POST', headers: headersOf('bank'), body });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { readonly id: string }).id;
}

const headersOf = (caller: string): Record<string, string> => ({ ...JSON_TYPE, 'x-caller': caller });

/** Repeats it while the shard is busy, as when many streams begin at once. */
async function deposit(wallet: string, caller: string): Promise<void> {
  const request = { method: 'POST', headers: headersOf(caller), body: '{"amount":"1"}' };
  for (;;) {
    const answer = await fetch(`${server?.url}/wallets/${wallet}/deposit`, request);
    const text = await answer.text();
    if (answer.status === 200) return;
    if (answer.status !== 503) throw new Error(`${answer.status} ${text}`);
    await sleep(20);
  }
}

/** Opens a stream of the wallet's events, as a browser does: again if the shard is busy. It is not read further. */
async function follow(wallet: string, caller: string): Promise<Socket> {
  for (;;) {
    const socket = connect(Number(new URL(server?.url ?? '').port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    const head = `Host: a\r\nAccept: text/event-stream\r\nX-Caller: ${caller}`;
    socket.write(`GET /wallets/${wallet}/events HTTP/1.1\r\n${head}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    socket.unshift(answer);
    if (answer.includes('HTTP/1.1 200')) return socket;
    socket.destroy();
    await sleep(1_000);
  }
}

const followAll = (wallet: string, count: number): Promise<readonly Socket[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      follow(wallet, `reader-${Math.floor(index / STREAMS_PER_CALLER)}`),
    ),
  );

/** The largest memory of the process so far, in bytes. */
function mostMemory(): number {
  const status = readFileSync(`/proc/${server?.process.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

/** Reads a stream to the event `last`. Resolves with the ids that arrived. */
async function idsOf(socket: Socket, last: number): Promise<readonly number[]> {
  const ids: number[] = [];
  let rest = '';
  for await (const chunk of socket) {
    const text = rest + String(chunk);
    // The last line may be incomplete.
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('id: ')) ids.push(Number(line.slice(4)));
    if (ids.at(-1) === last) return ids;
  }
  throw new Error(`The stream ended after ${ids.length} events`);
}

describe.runIf(process.platform === 'linux')('Streams of live events', () => {
  test('of large edits stay within the memory of a small process, and lose nothing', async () => {
    const wallet = await start(['--max-old-space-size=256']);
    await enlarge();
    for (let edit = 0; edit < EDITS / 2; edit += 1) await deposit(wallet, 'bank');
    const streams = await followAll(wallet, 200);
    for (let edit = 0; edit < EDITS / 2; edit += 1) await deposit(wallet, 'bank');
    const other = await follow(wallet, 'late-reader');
    // Opening is the first event.
    const all = Array.from({ length: EDITS + 1 }, (_, index) => index + 1);
    for (const stream of [other, ...streams.filter((_, index) => index % 20 === 0)])
      expect(await idsOf(stream, EDITS + 1)).toEqual(all);
    expect(other.bytesRead).toBeGreaterThan(EDITS * EDIT_BYTES);
    const memory = mostMemory();
    console.info(`200 streams, ${EDITS} edits of ${EDIT_BYTES} bytes: ${Math.round(memory / MEBIBYTE)} MiB`);
    expect(memory).toBeLessThan(512 * MEBIBYTE);
  }, 240_000);

  test('on a long history leave another caller a share of the process', async () => {
    const wallet = await start();
    for (let event = 0; event < HISTORY; event += 100)
      await Promise.all(Array.from({ length: 100 }, () => deposit(wallet, 'bank')));
    const own = await openWallet();
    const before = await rateOn(own);
    const streams = await followAll(wallet, READERS);
    for (const stream of streams) stream.resume();
    const during = await rateOn(own);
    console.info(
      `${READERS} streams on ${HISTORY} events: ${before.toFixed(0)}/s, then ${during.toFixed(0)}/s`,
    );
    expect(during).toBeGreaterThan(before / 10);
  }, 240_000);
});

/** Requests per second of another caller, who waits for each answer. */
async function rateOn(wallet: string): Promise<number> {
  const beginMs = performance.now();
  let count = 0;
  for (; performance.now() - beginMs < COUNT_MS; count += 1) await deposit(wallet, 'tenant');
  return (count * 1_000) / (performance.now() - beginMs);
}

/** Each further event has a payload of `EDIT_BYTES`. */
async function enlarge(): Promise<void> {
  const [, database = ''] = /([^/]+)$/.exec(places?.mexico.jdbcUrl ?? '') ?? [];
  const client = new pg.Client({ ...testServer(), database });
  await client.connect();
  await client.query(`create function enlarge() returns trigger language plpgsql as $$ begin
      new.payload := new.payload || jsonb_build_object('filler', repeat('x', ${EDIT_BYTES}));
      return new;
    end $$;
    create trigger enlarge before insert on eventlog.events for each row execute function enlarge()`);
  await client.end();
}
