import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOn } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { type CompiledProgram, compileProgram } from '../../execution/test-support/compiled-program.js';
import { seededRandom, writeLate } from '../test-support/late-writers.js';
import { type Ledger, ledgerMigrations, openLedger, until } from '../test-support/ledger.js';
import type { WorkerPlan } from '../test-support/worker-process.js';

/** `npm run proof:events` sets it to a minute. */
const KILLING_MS = Number(process.env['FW_PROOF_KILLING_MS'] ?? 4_000);
const SEED = Number(process.env['FW_PROOF_SEED'] ?? 1);
const WORKERS = ['one', 'two', 'three'];

let program: CompiledProgram | undefined;
const children = new Map<string, ChildProcess>();

beforeAll(() => {
  program = compileProgram(join(import.meta.dirname, '../test-support/worker-process.ts'));
});

afterAll(() => program?.remove());

afterEach(async () => {
  await Promise.all([...children.keys()].map(kill));
});

async function startWorker(plan: WorkerPlan): Promise<void> {
  const child = spawn(process.execPath, [String(program?.path), JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.set(plan.name, child);
  if (child.stdout === null) throw new Error('No output');
  const died = once(child, 'exit').then(() =>
    Promise.reject(new Error(`Worker ${plan.name} ended by itself`)),
  );
  await Promise.race([once(child.stdout, 'data'), died]);
  // From here on, the process ends by being killed.
  died.catch(() => {});
}

async function kill(name: string): Promise<void> {
  const child = children.get(name);
  children.delete(name);
  if (child === undefined || child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

interface World {
  readonly ledger: Ledger;
  readonly planFor: (name: string) => WorkerPlan;
  readonly mirror: string;
}

async function makeWorld(harness: DatabaseHarness): Promise<World> {
  const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
  const ledger = openLedger(databases);
  const mirror = await ledger.open();
  const { url, username = '', password } = databases.memberConfig(HERE).primary;
  const user = { user: username, password: password?.reveal() ?? '' };
  return { ledger, mirror, planFor: (name) => ({ name, url, user, mirror }) };
}

/** Counts events of accounts other than the mirror; the workers react to these. */
const COUNT = 'SELECT count(*) FROM eventlog.events WHERE model_id <> ';

describeOn('postgresql', 'Three processes, one of which is killed repeatedly', (harness) => {
  test(
    `miss nothing and repeat no effect (seed ${SEED})`,
    async () => {
      const { ledger, planFor, mirror } = await makeWorld(harness);
      const random = seededRandom(SEED);
      await Promise.all(WORKERS.map((name) => startWorker(planFor(name))));
      let writing = true;
      const writer = (async () => {
        while (writing) {
          const options = { writers: 4, events: 80, largest: 6, longestPauseMs: 30, random };
          await writeLate(ledger.databases.database(HERE), options);
        }
      })();
      const endMs = performance.now() + KILLING_MS;
      while (performance.now() < endMs) {
        await sleep(500 + random() * 2_500);
        const victim = WORKERS[Math.floor(random() * WORKERS.length)] ?? '';
        await kill(victim);
        await sleep(random() * 1_000);
        await startWorker(planFor(victim));
      }
      writing = false;
      await writer;
      const written = Number((await ledger.rows(`${COUNT}'${mirror}'`))[0]?.[0]);
      const balanceIs = async (): Promise<boolean> => Number(await ledger.balance(mirror)) >= written;
      await until(balanceIs, 600_000);
      await until(async () => {
        const [lag] = await ledger.events.lag();
        return lag?.consumers.every(({ behind }) => behind === 0) === true;
      }, 600_000);
      await Promise.all([...children.keys()].map(kill));
      expect(Number(await ledger.balance(mirror))).toBe(written);
      expect(await ledger.events.deadLetters.list()).toEqual([]);
      const all = await ledger.rows('SELECT count(*) FROM eventlog.events');
      expect(await ledger.rows("SELECT count(DISTINCT event_id) FROM seen WHERE handler = 'Seen'")).toEqual(
        all,
      );
      expect(await ledger.rows("SELECT count(*) FROM seen WHERE handler = 'Copy'")).toEqual(all);
      expect(await ledger.rows(OUT_OF_ORDER)).toEqual([]);
      const [repeated] = await ledger.rows(
        "SELECT count(*) - count(DISTINCT event_id) FROM seen WHERE handler = 'Seen'",
      );
      console.info(`${written} events; ${String(repeated?.[0])} were handled a second time after a kill`);
    },
    1_300_000 + KILLING_MS,
  );

  test('have its work taken over within ten seconds', async () => {
    const { ledger, planFor } = await makeWorld(harness);
    await Promise.all(WORKERS.map((name) => startWorker(planFor(name))));
    const account = await ledger.open();
    const seenBy = async (version: number): Promise<readonly unknown[]> =>
      (await ledger.rows(`SELECT who FROM seen WHERE handler = 'Seen' AND version = ${version}`)).flat();
    const leaseHolder = async (): Promise<unknown> =>
      (await ledger.rows("SELECT holder FROM eventlog.consumers WHERE name = 'Seen'"))[0]?.[0];
    // Leases move until they are balanced: the process to kill is the one that held the lease before and after an
    // event.
    let version = 1;
    let holder: unknown;
    do {
      holder = await leaseHolder();
      await ledger.credit(account);
      version += 1;
      await until(async () => (await seenBy(version)).length > 0);
    } while (holder === null || holder !== (await leaseHolder()));
    await kill(String((await seenBy(version))[0]));
    const killedMs = performance.now();
    await until(async () => {
      const next = await leaseHolder();
      return next !== null && next !== holder;
    });
    expect(performance.now() - killedMs).toBeLessThan(60_000);
    await ledger.credit(account);
    await until(async () => (await seenBy(version + 1)).length > 0);
  }, 150_000);

  test('run a recurring action once at each due time', async () => {
    const { ledger, planFor, mirror } = await makeWorld(harness);
    await Promise.all(WORKERS.map((name) => startWorker({ ...planFor(name), ticks: true })));
    const { schedules } = ledger.events;
    await until(async () => (await schedules.recurring()).length === 1);
    const first = "date_trunc('minute', now()) - interval '400 minutes'";
    await ledger.rows(`UPDATE eventlog.recurring_actions SET next_date = ${first}`);
    const count = async (states: string): Promise<number> =>
      Number(
        (await ledger.rows(`SELECT count(*) FROM eventlog.schedules WHERE state IN (${states})`))[0]?.[0],
      );
    for (const [index, victim] of WORKERS.entries()) {
      await until(async () => (await count("'done'")) > 20 + 100 * index);
      await kill(victim);
      await startWorker({ ...planFor(victim), ticks: true });
    }
    await until(async () => {
      const [tick] = await schedules.recurring();
      return tick !== undefined && tick.nextDate > new Date() && (await count("'pending', 'running'")) === 0;
    });
    await Promise.all([...children.keys()].map(kill));
    const [due] = await ledger.rows(
      `SELECT extract(epoch FROM max(due_date) - min(due_date)) / 60 + 1, count(DISTINCT due_date), count(*)
       FROM eventlog.schedules WHERE state = 'done'`,
    );
    const runs = Number(due?.[0]);
    expect(runs).toBeGreaterThan(400);
    expect(due?.map(Number)).toEqual([runs, runs, runs]);
    expect(Number(await ledger.balance(mirror))).toBe(runs);
  }, 150_000);
});

/** First deliveries of a model's events that came after that of a later event. */
const OUT_OF_ORDER = `SELECT * FROM (
  SELECT handler, model_id, version, max(version) OVER (PARTITION BY handler, model_id ORDER BY nr) AS highest
  FROM (SELECT DISTINCT ON (handler, event_id) * FROM seen ORDER BY handler, event_id, nr) AS first) AS s
WHERE highest > version`;
