import { afterEach, expect, test } from 'vitest';
import {
  handlerOf,
  type Ledger,
  ledgerMigrations,
  openLedger,
  until,
} from '../../runtime/events/test-support/ledger.js';
import { recurring } from '../../runtime/events/test-support/recurring.js';
import { HERE, THERE } from '../../runtime/execution/test-support/accounts.js';
import {
  idOn,
  insertSaga,
  insertStep,
  pretendFailover,
} from '../../runtime/sharding/test-support/failovers.js';
import type { DatabaseHarness } from '../../test/databases/databases.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import type { Ran } from '../test-support/run-command.js';

const project = cliProject();
const ledgers: Ledger[] = [];

afterEach(() => Promise.all(ledgers.splice(0).map((ledger) => ledger.events.stop(0))));

/** For the tests whose processes have a role with few rights. */
const MAY_CREATE =
  "DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO PUBLIC', current_database()); END $$";

/** Two shards of the configuration file, and an application on them with one handler. */
async function startLedger(
  harness: DatabaseHarness,
  handle: Parameters<typeof handlerOf>[1],
  settings: Parameters<typeof handlerOf>[2] = {},
): Promise<Ledger> {
  const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
  project.configure(topology);
  const handler = handlerOf('Letters', handle, { maximumAttempts: 1, retryDelayMs: 1, ...settings });
  const ledger = openLedger(project.databases(), { handlers: [handler], limits: { surveyMs: 50 } });
  ledgers.push(ledger);
  ledger.events.start();
  return ledger;
}

function events(...argv: readonly string[]): Promise<Ran> {
  return project.run('events', ...argv);
}

async function json(...argv: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { info } = await events(...argv, '--format', 'json');
  return JSON.parse(info) as Readonly<Record<string, unknown>>;
}

describeOn('postgresql', 'fw-gen events', (harness) => {
  test('shows, retries and discards a dead letter, without the application’s code', async () => {
    let broken = true;
    const seen: number[] = [];
    const ledger = await startLedger(harness, ({ modelVersion }) => {
      if (broken || modelVersion === 4) throw new TypeError('no \u001b[31mpaper');
      seen.push(modelVersion);
    });
    const account = await ledger.open(THERE);
    for (let round = 0; round < 2; round += 1) await ledger.credit(account);
    await until(async () => (await ledger.events.deadLetters.list()).length === 2);

    const lag = await events('lag');
    expect(lag.code).toBe(1);
    expect(lag.info).toMatch(/^\(1, 0\) +\S+ +Letters +0 +2 events of 1 model +runs in [0-9a-f]{8}$/m);
    expect(lag.info).toMatch(/^\(0, 0\) +\S+ +Letters +0 +runs in [0-9a-f]{8}$/m);

    const list = await events('dead-letters', 'list');
    expect(list.code).toBe(0);
    expect(list.info).toContain(`failed   Account ${account}  AccountCredited`);
    expect(list.info).toContain('no \\u{1b}[31mpaper');
    expect(list.info).not.toContain('The first');
    expect((await events('dead-letters', 'list', '--limit', '1')).info).toMatch(
      /\nThe first 1 of each shard; pass --limit, --handler or --model for others\.$/,
    );
    const [failed] = (await json('dead-letters', 'list', '--state', 'failed'))['deadLetters'] as [
      { readonly eventId: string },
    ];
    const shown = await events('dead-letters', 'show', failed.eventId);
    expect(shown.info).toMatch(/^payload: +\{"amount":"1"\}$/m);
    expect(shown.info).toMatch(/^error: +TypeError no /m);

    broken = false;
    const retried = await events('dead-letters', 'retry', '--handler', 'Letters');
    expect([retried.code, retried.info]).toEqual([0, expect.stringContaining('1 model will be resumed')]);
    await until(() => seen.length === 2);
    expect(seen).toEqual([2, 3]);

    await ledger.credit(account);
    await until(async () => (await ledger.events.deadLetters.list()).length === 1);
    const discard = (handler: string) =>
      events(
        ...[
          'dead-letters',
          'discard',
          '--handler',
          handler,
          '--model',
          `Account/${account}`,
          '--note',
          'known',
        ],
      );
    const mistyped = await discard('Leters');
    expect([mistyped.code, mistyped.error]).toEqual([
      2,
      'Leters has no checkpoint on any shard: fw-gen events lag shows all names.',
    ]);
    expect((await events('dead-letters', 'list', '--handler', 'Leters')).code).toBe(2);
    expect((await discard('Letters')).info).toBe('1 event discarded.');
    const again = await discard('Letters');
    expect([again.code, again.error]).toEqual([1, 'No dead letter matches: nothing has changed.']);
    expect((await events('dead-letters', 'list', '--handler', 'Letters')).info).toBe('No dead letters.');
    expect((await events('dead-letters', 'retry', '--all')).code).toBe(0);
    expect((await events('dead-letters', 'list')).info).toBe('No dead letters.');
    expect((await events('lag')).code).toBe(0);
  });

  test('rebuilds a projection, shows the progress until the end, and abandons a rebuild', async () => {
    let isFailing = false;
    const ledger = await startLedger(
      harness,
      async ({ transaction, modelVersion }) => {
        if (isFailing) throw new Error('broken');
        await transaction.query({ text: 'INSERT INTO tallies VALUES ($1)', values: [modelVersion] });
      },
      { transactional: true, projection: ['tallies'] },
    );
    for (const shard of [HERE, THERE]) {
      await ledger.rows('CREATE TABLE tallies (version bigint)', shard);
      await ledger.rows('GRANT ALL ON tallies TO PUBLIC', shard);
      await ledger.rows(MAY_CREATE, shard);
    }
    const account = await ledger.open();
    await ledger.credit(account);
    const seen = async (): Promise<readonly unknown[]> =>
      (await ledger.rows('SELECT version FROM tallies')).flat();
    await until(async () => (await seen()).length === 1);
    await ledger.rows('UPDATE tallies SET version = 99');
    const followed = await events('rebuild', 'Letters', '--follow', '--format', 'json');
    expect(followed.error).toMatch(
      /^\(0, 0\) Letters#[0-9a-f]{8}: position \d+ of \d+, \d+ %, \d+ per second/m,
    );
    expect([followed.code, JSON.parse(followed.info)]).toEqual([0, { rebuilds: [] }]);
    expect(await seen()).toEqual(['2']);
    isFailing = true;
    await events('rebuild', 'Letters', '--shard', '0,0');
    expect((await events('rebuild', 'Letters', '--shard', '0,0')).error).toContain('is under way');
    await until(async () => (await ledger.events.rebuilds('Letters'))[0]?.waitingFor === 'dead letters');
    // As while it is being abandoned.
    await ledger.rows(
      "UPDATE eventlog.consumers SET halted = 'it was abandoned' WHERE name LIKE 'Letters#%'",
    );
    const following = events('rebuild', 'Letters', '--follow', '--shard', '0,0');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await events('rebuild', 'Letters', '--abandon')).info).toBe('1 rebuild abandoned.');
    const { code, info } = await following;
    expect([code, info]).toEqual([1, expect.stringMatching(/^Abandoned: \(0, 0\) Letters#[0-9a-f]{8}\.$/)]);
    expect(await ledger.events.rebuilds('Letters')).toEqual([]);
    expect(await seen()).toEqual(['2']);
  });

  test('replays from a time, from a position and for one model', async () => {
    const replayed: string[] = [];
    const ledger = await startLedger(harness, ({ modelId, modelVersion, replayed: again }) => {
      if (again) replayed.push(`${modelId}@${modelVersion}`);
    });
    const accounts = [await ledger.open(), await ledger.open()];
    for (const account of accounts) await ledger.credit(account);
    const caughtUp = async (): Promise<boolean> =>
      (await ledger.events.lag()).every(({ consumers }) => consumers.every(({ behind }) => behind === 0));
    await until(caughtUp);
    const [first = '', second = ''] = accounts.map((account) => `${account}@2`);
    const all = await events('replay', 'Letters', '--from', '2020-01-01T00:00:00Z');
    expect(all.info).toMatch(/^\(0, 0\) +Letters#[0-9a-f]{8}$/m);
    await until(() => replayed.length === 2);
    expect(replayed.splice(0).sort()).toEqual([first, second].sort());
    await events('replay', 'Letters', '--model', `Account/${accounts[1]}`);
    await until(() => replayed.length === 1);
    expect(replayed.splice(0)).toEqual([second]);
    const none = await events('replay', 'Letters', '--model', `Acount/${accounts[1]}`);
    expect([none.code, none.error]).toEqual([
      1,
      expect.stringContaining(`no event of Acount/${accounts[1]}`),
    ]);
    const future = await events('replay', 'Letters', '--from', '2999-01-01');
    expect([future.code, future.error]).toEqual([1, expect.stringContaining('passed no event.')]);
    await events('replay', 'Letters', '--position', '2', '--shard', '0,0');
    await until(() => replayed.length === 1);
    expect(replayed).toEqual([second]);
    expect((await events('rebase', '--shard', '(0, 0)')).info).toMatch(/nothing to do \(epoch 1\)$/);
  });

  test('lists scheduled actions without their params unless asked, and cancels one', async () => {
    const ledger = await startLedger(harness, () => {});
    const account = await ledger.open();
    await ledger.creditLater(account, 5, new Date(Date.now() + 3_600_000));
    const [scheduled] = await ledger.events.schedules.list();
    const id = scheduled?.id ?? '';
    const plain = await events('schedules', 'list');
    expect(plain.info).toContain(`${id}  pending  Credit`);
    expect(plain.info).not.toContain(account);
    expect((await events('schedules', 'list', '--params')).info).toContain(account);
    await ledger.rows("UPDATE eventlog.schedules SET next_date = '2999-01-01T00:00:00Z'");
    const cut = await events('schedules', 'list', '--limit', '1');
    expect(cut.info).toMatch(/ Credit .* 2999-01-01T00:00:00.000Z /);
    expect(cut.info).toContain('The first 1 of each shard');
    expect(plain.info).not.toContain('The first');
    expect((await events('schedules', 'cancel', id)).code).toBe(0);
    const again = await events('schedules', 'cancel', id);
    expect([again.code, again.error]).toEqual([1, expect.stringContaining('was not cancelled')]);
    expect(await json('schedules', 'list')).toEqual({ schedules: [], recurring: [], failures: [] });
  });

  test('list, pause and resume recurring actions', async () => {
    const ledger = await startLedger(harness, () => {});
    const recurs = openLedger(ledger.databases, {
      limits: { surveyMs: 50 },
      change: (known) => [...known, recurring({ cron: '0 3 1 1 *', zone: 'Europe/Berlin' }, () => {})],
    });
    ledgers.push(recurs);
    recurs.events.start();
    const listed = async (): Promise<readonly unknown[]> =>
      (await json('schedules', 'list'))['recurring'] as [];
    await until(async () => (await listed()).length === 1);
    const next = new Date(Date.UTC(new Date().getUTCFullYear() + 1, 0, 1, 2)).toISOString();
    const row = ['(0, 0)', 'Tick', '0 3 1 1 *', 'Europe/Berlin'].join(' +').replaceAll(/[(*)]/g, '\\$&');
    expect((await events('schedules', 'list')).info).toMatch(new RegExp(`${row} +${next} +- +-`));
    expect(await events('schedules', 'pause', 'Tick')).toMatchObject({ code: 0, info: 'Tick was paused.' });
    expect((await events('schedules', 'list')).info).toMatch(new RegExp(`${row} +paused +- +-`));
    expect(await listed()).toMatchObject([{ isPaused: true, nextDate: next }]);
    expect(await events('schedules', 'resume', 'Tick')).toMatchObject({
      code: 0,
      info: 'Tick was resumed.',
    });
    expect(await listed()).toMatchObject([{ isPaused: false }]);
    const unknown = await events('schedules', 'pause', 'Tock');
    expect(unknown).toMatchObject({ code: 1, error: 'Tock is not a recurring action.' });
    expect((await json('schedules', 'list', '--action', 'Tock'))['recurring']).toEqual([]);
  });

  test('shows reachable shards, names unreachable ones without passwords, and is empty only if all have answered', async () => {
    const ledger = await startLedger(harness, () => {});
    await until(async () => (await ledger.events.lag()).every(({ consumers }) => consumers.length === 1));
    const nothing = { code: 1, info: '', error: expect.stringMatching(/127\.0\.0\.1:1\b/) };
    const event = '0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4';
    for (const broken of [/(127\.0\.0\.1:)\d+/, /(127\.0\.0\.1:)\d+/g]) {
      project.edit((text) => text.replace(broken, '$11'));
      expect(await events('dead-letters', 'list')).toEqual(nothing);
      expect(await events('schedules', 'list')).toEqual(nothing);
      const lag = await events('lag');
      expect([lag.code, lag.error]).toEqual([
        1,
        expect.stringMatching(/^\(\d, \d\) \S+: .*127\.0\.0\.1:1\b/m),
      ]);
      if (!broken.global) expect(lag.info).toMatch(/^\(\d, \d\) +\S+ +Letters/m);
      expect(lag.info + lag.error).not.toContain('fw_test_password');
      const shown = await events('dead-letters', 'show', event);
      expect(shown).toEqual({ ...nothing, error: expect.not.stringContaining('No handler has parked') });
      // The handler may have run on the shard that does not answer.
      if (broken.global) continue;
      const [reachable = ''] = /^\(\d, \d\)/.exec(lag.info.split('\n')[1] ?? '') ?? [];
      const there = await events('dead-letters', 'list', '--handler', 'Nobody', '--shard', reachable);
      expect(there).toEqual({ code: 0, info: 'No dead letters.', error: '' });
    }
    expect(await events('dead-letters', 'retry', '--all')).toEqual(nothing);
    expect(await events('dead-letters', 'discard', '--handler', 'Letters', '--all')).toEqual(nothing);
  });

  test('shows a log of another server while no process delivers', async () => {
    const ledger = await startLedger(harness, () => {});
    await ledger.credit(await ledger.open(HERE));
    await until(async () => (await ledger.events.lag(HERE))[0]?.consumers[0]?.behind === 0);
    await ledger.events.stop();
    expect((await events('lag')).code).toBe(0);
    await ledger.rows("UPDATE eventlog.delivery_epochs SET system_identifier = '1'");
    await ledger.creditLater(await ledger.open(HERE), 5, new Date());
    const { code, info } = await events('lag');
    const reason = 'The outbox of shard \\(0, 0\\) was written on .+ run fw-gen events rebase$';
    expect(code).toBe(1);
    expect(info).toMatch(new RegExp(`^\\(0, 0\\) .+ Letters +0 .* waits: ${reason}`, 'm'));
    expect(info).toMatch(new RegExp(`^\\(0, 0\\) scheduled actions wait: ${reason}`, 'm'));
    expect(info).toMatch(/^\(1, 0\) +\S+ +Letters +0 +no process$/m);
    expect((await project.run('top', '--once')).info).toMatch(new RegExp(`Letters .* waits: ${reason}`, 'm'));
    const rebased = await events('rebase', '--shard', '0,0');
    expect([rebased.code, rebased.info]).toEqual([
      0,
      expect.stringMatching(
        /^\(0, 0\) shard-0-0 is on another server, and needs no new epoch: adopted\. .+ \(epoch 1\)$/,
      ),
    ]);
    expect((await events('lag', '--shard', '0,0')).code).toBe(0);
  });

  test('shows after a rebase what the other shards have had to do with the lost events, until it is acknowledged', async () => {
    const ledger = await startLedger(harness, () => {});
    await ledger.events.stop();
    await ledger.credit(await ledger.open(HERE));
    const [lost, known] = [idOn(HERE), idOn(HERE)];
    await insertSaga(ledger.databases.database(HERE), known);
    for (const saga of [lost, known])
      await insertStep(ledger.databases.database(THERE), saga, { age: '2 days' });
    // The rows of a restored dump were not inserted by the transactions whose ids they have.
    await ledger.rows("UPDATE eventlog.events SET created_date = now() - interval '3 days'");
    await ledger.rows("UPDATE eventlog.delivery_epochs SET system_identifier = '7713669255272317249'");
    const [[since] = []] = await ledger.rows(
      "SELECT max(created_date) - interval '1 hour' FROM eventlog.events",
    );
    const { code, info } = await events('rebase', '--shard', '0,0');
    const [outcome, ...losses] = info.split('\n');
    expect([code, outcome]).toEqual([0, expect.stringMatching(/starts a new epoch; .+ \(epoch 2\)$/)]);
    const rest = [
      expect.stringContaining(': was rebased from the server with system identifier 7713669255272317249: '),
      expect.stringContaining(`: (1, 0) has step 1 PAYING of saga ${lost} since `),
      expect.stringContaining(`--from ${(since as Date).toISOString()} --shard <other shard>`),
    ];
    expect(losses).toEqual(rest);
    expect((await events('failovers')).info.split('\n')).toEqual(rest);
    expect((await events('failovers', '--acknowledge')).code).toBe(0);
    expect((await events('rebase', '--shard', '0,0')).info).toMatch(/nothing to do \(epoch 2\)$/);
  });

  test('shows the losses of a failover as text and as JSON, until it is acknowledged', async () => {
    const ledger = await startLedger(harness, () => {});
    await ledger.events.stop();
    const none = await events('failovers');
    expect([none.code, none.info]).toEqual([0, 'No unacknowledged failovers.']);
    expect(await json('failovers')).toEqual({ failovers: [], failures: [] });

    const first = idOn(HERE);
    const register = await pretendFailover(ledger.databases.database(HERE));
    expect((await events('failovers')).code).toBe(0);
    await register.report('Letters', [first, 'e2']);
    const saga = idOn(HERE);
    await insertStep(ledger.databases.database(THERE), saga);
    const { code, info } = await events('failovers');
    expect(code).toBe(1);
    const [moved, ahead, step, ...more] = info.split('\n');
    expect(more).toEqual([expect.stringContaining(': if commits are lost, follow "Restore one shard"')]);
    expect(moved).toMatch(/^\(0, 0\) \S+: moved from timeline 0{8} to 0{7}1: .+, noticed at \S+Z$/);
    expect(ahead).toContain(`: Letters has handled at least 2 events that are lost, the first one ${first}`);
    expect(step).toContain(`: (1, 0) has step 1 PAYING of saga ${saga} since `);
    expect((await events('lag')).info).toContain(
      `Letters has handled at least 2 events that are lost, the first one ${first}`,
    );
    expect(await json('failovers', '--shard', '0,0')).toMatchObject({
      failovers: [
        {
          shard: '(0, 0)',
          previous: '00000000',
          timeline: '00000001',
          ahead: [{ handler: 'Letters', events: 2, eventIds: [first, 'e2'] }],
          lostCauses: [{ kind: 'step', shard: '(1, 0)', cause: saga, effect: '1 PAYING' }],
        },
      ],
      failures: [],
    });
    expect((await events('failovers', '--shard', '1,0', '--acknowledge')).code).toBe(0);
    expect(await ledger.events.acknowledgeFailovers(HERE, [])).toBe(0);
    // Another failover is noticed while this one is acknowledged.
    await ledger.rows(`create function noticed() returns trigger language plpgsql as $$ begin
      insert into eventlog.timelines (system_identifier, timeline, previous)
        values ('another', '00000009', '00000001') on conflict do nothing;
      return null; end $$`);
    await ledger.rows(`create trigger noticed after update on eventlog.timelines
      for each row execute function noticed()`);
    const raced = await events('failovers', '--acknowledge');
    expect([raced.code, raced.info.split('\n').length]).toEqual([1, 4]);
    expect(raced.error).toMatch(/^\(0, 0\) \S+: 1 failover not acknowledged, reported meanwhile/);
    const last = await events('failovers', '--acknowledge');
    expect([last.code, last.info]).toEqual([
      0,
      expect.stringContaining('from timeline 00000001 to 00000009'),
    ]);
    expect(await events('failovers')).toEqual(none);
  });

  test('creates future partitions, and deletes rows according to the configuration or the command', async () => {
    const ledger = await startLedger(harness, () => {});
    await ledger.credit(await ledger.open(THERE));
    const plain = await events('retain');
    expect(plain.code).toBe(0);
    expect(plain.info).toMatch(/^\(0, 0\) \S+: nothing to do$/m);
    expect(plain.info).toContain(
      'Nothing is deleted: neither --keep-days nor fw.retention.keep-days is set.',
    );
    const wide = await events('retain', '--ahead', '6', '--keep-days', '30', '--shard', '1,0');
    expect(wide.info).toMatch(/^\(1, 0\) \S+: made events_20\d{6}t000000, events_20\d{6}t000000, actions_/m);
    project.edit((text) => text.replace('"namespace"', '"retention":{"keep-days":1},"namespace"'));
    const old = "UPDATE eventlog.schedules SET state = 'done', completed_date = '2024-01-10'";
    await ledger.creditLater(await ledger.open(), 1, new Date(Date.now() + 1_000_000));
    await ledger.rows(old);
    expect(await json('retain')).toMatchObject({
      shards: [
        { shard: '(0, 0)', deletedSchedules: 1 },
        { shard: '(1, 0)', deletedSchedules: 0 },
      ],
      failures: [],
    });
  });

  test('answers invalid command lines with 2 and the mistake', async () => {
    await startLedger(harness, () => {});
    for (const [line, message] of WRONG) {
      const { code, error } = await events(...line.split(' '));
      expect([line, code, error]).toEqual([line, 2, expect.stringContaining(message)]);
    }
  });
});

const WRONG: readonly (readonly [line: string, message: string])[] = [
  ['lag --shard nowhere', 'There is no shard nowhere'],
  ['dead-letters retry', 'Pass what to retry'],
  ['dead-letters discard --all', "'--handler <name>' not specified"],
  ['dead-letters show x', 'x is not the id of an event'],
  ['replay Letters', 'Pass a start'],
  ['replay Letters --from yesterday', 'Expected a date'],
  ['replay Letters --from 2026-02-30', 'Expected a date'],
  ['replay Letters --position 1', 'A position is valid on one shard only'],
  ['replay Missing --from 2026-01-01', 'Missing has no checkpoint on any shard'],
  ['schedules cancel x', 'x'],
  ['lags', 'Did you mean lag?'],
];
