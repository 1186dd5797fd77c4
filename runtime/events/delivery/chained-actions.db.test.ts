import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { ExecutionConfiguration } from '../../action/execution-configuration.js';
import type { HandlerSettings } from '../../action/markers.js';
import { Decimal } from '../../domain/decimal.js';
import type { EventDescriptor } from '../../domain/descriptor.js';
import { idNamed } from '../../domain/id.js';
import { ALICE, CreditAction, HERE, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import {
  type CreditedEnvelope,
  creditedEvent,
  handlerOf,
  type Ledger,
  ledgerMigrations,
  until,
} from '../test-support/ledger.js';
import { caughtUp, credited, testLedger, waitingFor } from '../test-support/test-ledger.js';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** What a handler does, which knows an account of another shard. */
type Work = (envelope: CreditedEnvelope, mirror: string) => Promise<void> | void;

/** Delivers the events of all accounts but the mirror to one handler. */
async function startHandler(
  harness: DatabaseHarness,
  name: string,
  work: Work,
  settings: HandlerSettings = {},
): Promise<{ ledger: Ledger; mirror: string }> {
  const databases = await harness.makeShards({ shards: [HERE, THERE], migrations: ledgerMigrations });
  let mirror = '';
  const handle = (envelope: CreditedEnvelope): Promise<void> | void =>
    envelope.modelId === mirror ? undefined : work(envelope, mirror);
  const ledger = testLedger(databases, { handlers: [handlerOf(name, handle, settings)] });
  mirror = await ledger.open(THERE);
  ledger.events.start();
  return { ledger, mirror };
}

/** Credits the mirror with the amount that was credited. */
const creditMirror: Work = async (envelope, mirror) => {
  await envelope.execute(CreditAction, { account: mirror, amount: envelope.event.amount });
};

describeOnEachAdapter('Actions that a handler starts', (harness) => {
  test('take effect once on another shard, although the handler fails after them', async () => {
    let calls = 0;
    const failing: Work = async (envelope, account) => {
      await creditMirror(envelope, account);
      calls += 1;
      if (envelope.attempt < 3) throw new Error('after the action');
    };
    const { ledger, mirror } = await startHandler(harness, 'Mirror', failing, { retryDelayMs: 1 });
    const account = await ledger.open();
    await ledger.credit(account, 7);
    await until(() => calls === 3);
    expect(await ledger.balance(mirror)).toBe('7');
    const keys = await ledger.rows(
      "SELECT principal, operation, expires_date > now() + interval '1000 years' FROM eventlog.idempotency_keys",
    );
    expect(keys).toEqual([['fw:handler:Mirror', 'Credit', true]]);
  });

  test('run without a trace if the event’s stored trace context is invalid', async () => {
    let attempts = 0;
    const tracing: Work = async (envelope, account) => {
      attempts += 1;
      // The first attempt fails until the row of the event has been changed.
      if (envelope.traceContext !== undefined) throw new Error('not yet');
      await creditMirror(envelope, account);
    };
    const { ledger, mirror } = await startHandler(harness, 'Tracer', tracing, { maximumAttempts: 1 });
    const account = await ledger.open();
    const traced = ExecutionConfiguration.Builder.executionConfiguration().traceContext(TRACE).build();
    await ledger.executor.execute(ALICE, CreditAction, { account, amount: new Decimal(7) }, traced);
    await until(async () => (await ledger.events.deadLetters.list()).length === 1);
    const long = JSON.stringify(`${TRACE}-${'x'.repeat(15_000)}`);
    await ledger.rows(
      `UPDATE eventlog.dead_letters SET event = jsonb_set(event, '{traceContext}', '${long}')`,
    );
    await ledger.events.deadLetters.retry({ handler: 'Tracer' });
    await until(async () => (await ledger.balance(mirror)) === '7');
    expect(attempts).toBeGreaterThanOrEqual(2);
  });

  test('take effect although a caller has used their keys under the handler’s name', async () => {
    let eventId: string | undefined;
    let isSent = false;
    const { ledger, mirror } = await startHandler(harness, 'Mirror', async (envelope, account) => {
      eventId = envelope.id;
      await until(() => isSent);
      await creditMirror(envelope, account);
    });
    await ledger.credit(await ledger.open(), 7);
    await until(() => eventId !== undefined);
    const params = { account: mirror, amount: new Decimal(7) };
    for (const key of [`${eventId}:Mirror:1`, `handler:${eventId}:Mirror:1`]) {
      const settings = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey(key, {
        home: HERE,
      });
      await ledger.executor.execute({ name: 'handler:Mirror' }, CreditAction, params, settings.build());
    }
    isSent = true;
    await until(async () => (await ledger.balance(mirror)) === '21');
  });

  test('are identified by their number, or by their name', async () => {
    let handled = false;
    const { ledger, mirror } = await startHandler(harness, 'Twice', async (envelope, account) => {
      const params = { account, amount: new Decimal(1) };
      await envelope.execute(CreditAction, params);
      await envelope.execute(CreditAction, params);
      await envelope.execute(CreditAction, params, { name: 'bonus' });
      const again = await envelope.execute(CreditAction, params, { name: 'bonus' });
      expect(again.version).toBe(4);
      handled = true;
    });
    await ledger.credit(await ledger.open(), 7);
    await until(() => handled);
    expect(await ledger.balance(mirror)).toBe('3');
  });

  test('with other params in a later attempt end as a dead letter that states the fix', async () => {
    const fickle: Work = async (envelope, account) => {
      const amount = new Decimal(envelope.attempt);
      await Promise.all([
        envelope.execute(CreditAction, { account, amount }),
        envelope.execute(CreditAction, { account, amount: new Decimal(5) }),
      ]);
      throw new Error('after the actions');
    };
    const settings = { retryDelayMs: 1, maximumAttempts: 2 };
    const { ledger, mirror } = await startHandler(harness, 'Fickle', fickle, settings);
    await ledger.credit(await ledger.open());
    await until(async () => (await ledger.events.deadLetters.list()).length === 1);
    const [letter] = await ledger.events.deadLetters.list();
    expect(letter?.errorCode).toBe('FW_KEY_REUSED');
    expect(letter?.errorMessage).toMatch(
      /^Fickle has already started CreditAction with other params, as call 1 for event/,
    );
    expect(letter?.errorMessage).toContain('the same calls in the same order with the same params');
    expect(await ledger.balance(mirror)).toBe('6');
  });

  test('are repeated by a replay only with the option `again`', async () => {
    let calls = 0;
    const { ledger, mirror } = await startHandler(harness, 'Mirror', async (envelope, account) => {
      await creditMirror(envelope, account);
      calls += 1;
    });
    const account = await ledger.open();
    await ledger.credit(account, 7);
    await ledger.credit(account, 1);
    await until(() => calls === 2);
    const lags = () => ledger.events.lag();
    await until(async () => (await lags()).every(({ consumers }) => consumers[0]?.behind === 0));
    await ledger.events.replay('Mirror', { time: new Date(0) }, { shard: HERE });
    await until(() => calls === 4);
    expect(await ledger.balance(mirror)).toBe('8');
    const model = idNamed('Account', account);
    await ledger.events.replay('Mirror', { model }, { shard: HERE, again: true });
    await until(() => calls === 6);
    expect(await ledger.balance(mirror)).toBe('16');
    const over = 'SELECT FROM eventlog.consumers WHERE finished_date IS NOT NULL';
    await until(async () => (await ledger.rows(over)).length === 2);
  });
});

describeOnEachAdapter('A replay', (harness) => {
  test('begins at a position and stops at the handler’s checkpoint', async () => {
    const seen: { version: number; replayed: boolean }[] = [];
    const { ledger } = await startHandler(harness, 'Log', ({ modelVersion, replayed }) => {
      seen.push({ version: modelVersion, replayed });
    });
    await credited(ledger, 4);
    await caughtUp(ledger);
    const [row] = await ledger.rows(
      'SELECT position FROM eventlog.events ORDER BY position OFFSET 2 LIMIT 1',
    );
    const beyond = await ledger.rows('SELECT max(position) + 1 FROM eventlog.events');
    const nothing = ledger.events.replay('Log', { position: Number(beyond[0]?.[0]) }, { shard: HERE });
    await expect(nothing, 'beyond the end').resolves.toEqual([]);
    await ledger.events.replay('Log', { position: Number(row?.[0]) }, { shard: HERE });
    await until(() => seen.length === 6);
    expect(seen.filter(({ replayed }) => replayed).map(({ version }) => version)).toEqual([4, 5]);
  });

  test('begins at the last position although another process dated an earlier event later', async () => {
    const replayed: number[] = [];
    const { ledger } = await startHandler(harness, 'Log', (envelope) => {
      if (envelope.replayed) replayed.push(envelope.modelVersion);
    });
    await credited(ledger, 4);
    await caughtUp(ledger);
    const [first, , , last] = await ledger.rows('SELECT position, id FROM eventlog.events ORDER BY position');
    const unused = String(first?.[1]).replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    await ledger.rows(`UPDATE eventlog.events SET id = '${unused}' WHERE position = ${String(last?.[0])}`);
    const ordered = await ledger.events.replay('Log', { position: Number(last?.[0]) }, { shard: HERE });
    expect(ordered).toHaveLength(1);
    await until(() => replayed.length > 0);
    expect(replayed).toEqual([5]);
  });

  test('of an unknown handler, or from a date that the database cannot read, is refused', async () => {
    const { ledger } = await startHandler(harness, 'Log', () => {});
    await until(async () => (await ledger.events.lag(HERE))[0]?.consumers.length === 1);
    // Microseconds taken for milliseconds.
    for (const time of [new Date(Date.now() * 1_000), new Date(-8e15), new Date(Number.NaN)])
      await expect(ledger.events.replay('Log', { time })).rejects.toMatchObject({ field: 'time' });
    await expect(ledger.events.replay('Nobody', { time: new Date() })).rejects.toMatchObject({
      code: 'FW_UNKNOWN_HANDLER',
    });
  });
});

describeOnEachAdapter('Versions of an event', (harness) => {
  const newer: EventDescriptor = {
    ...creditedEvent,
    version: 2,
    fields: [{ name: 'credited', type: { kind: 'decimal', precision: 19, scale: 4 } }],
    upcasters: [({ amount }) => ({ credited: amount ?? null })],
  };

  test('that are newer wait, visible in lag(), for a process that knows them', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const old: number[] = [];
    const before = testLedger(databases, {
      handlers: [handlerOf('Roll', (e) => void old.push(e.modelVersion))],
    });
    await credited(before);
    await before.rows(`INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload,
      created_date, model_version, event_version)
      SELECT overlay(id::text placing 'ffff' from 33)::uuid, action_id, namespace, model_id, model_name, event_type,
        '{"credited":"1"}', created_date, 3, 2 FROM eventlog.events`);
    before.events.start();
    await until(async () => (await waitingFor(before))?.includes('AccountCredited version 2') === true);
    expect(old).toEqual([2]);
    const modern: number[] = [];
    const handler = handlerOf('Roll', (e) => void modern.push(e.modelVersion), { event: newer });
    const after = testLedger(databases, { handlers: [handler] });
    after.events.start();
    await until(() => modern.length === 1);
    expect(modern).toEqual([3]);
  });
});

/** A shard whose role may rebase it. */
function ownedShard(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards: [HERE], migrations: ledgerMigrations, owner: 'rebase' });
}

describeOnEachAdapter('A server with another system identifier', (harness) => {
  test('is accepted where delivery has never run', async () => {
    const databases = await ownedShard(harness);
    const ledger = testLedger(databases);
    await ledger.credit(await ledger.open());
    expect(await ledger.events.rebase()).toMatchObject([{ outcome: 'unchanged', epoch: 1 }]);
  });
});

describeOnEachAdapter('A handler that was renamed', (harness) => {
  test('continues at its checkpoint, also in the previous release, and its old name gets no new consumer', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const seen: string[] = [];
    const run = async (name: string, aliases: readonly string[], count: number): Promise<void> => {
      const handler = handlerOf(name, ({ modelVersion }) => void seen.push(`${name}@${modelVersion}`), {
        aliases,
      });
      const ledger = testLedger(databases, { handlers: [handler] });
      ledger.events.start();
      await until(() => seen.length >= count);
      await ledger.events.stop();
    };
    const writer = testLedger(databases);
    const account = await credited(writer);
    await run('Old', [], 1);
    await writer.credit(account);
    await run('New', ['Old'], 2);
    await writer.credit(account);
    await run('Old', [], 3);
    await writer.credit(account);
    await run('New', ['Old'], 4);
    expect(seen).toEqual(['Old@2', 'New@3', 'Old@4', 'New@5']);
  });
});
