import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { AccountCredited } from '../../domain/test-support/account.js';
import { CreditAction, HERE, THERE } from '../../execution/test-support/accounts.js';
import { TransactionManager } from '../../sharding/transaction-manager.js';
import type { CreditedEnvelope } from '../test-support/ledger.js';
import {
  handlerOf,
  type Ledger,
  type LedgerOptions,
  ledgerMigrations,
  until,
} from '../test-support/ledger.js';
import { caughtUp, credited, testLedger } from '../test-support/test-ledger.js';

async function startLedger(harness: DatabaseHarness, options: LedgerOptions): Promise<Ledger> {
  const databases = await harness.makeShards({ shards: [HERE, THERE], migrations: ledgerMigrations });
  return deliver(testLedger(databases, options));
}

function deliver(ledger: Ledger): Ledger {
  ledger.events.start();
  return ledger;
}

describeOnEachAdapter('Delivery to handlers', (harness) => {
  test('passes the typed event with its action, model and position', async () => {
    const seen: CreditedEnvelope[] = [];
    const ledger = await startLedger(harness, {
      handlers: [handlerOf('Note', (envelope) => void seen.push(envelope))],
    });
    const account = await ledger.open(THERE);
    await ledger.credit(account, 5);
    await until(() => seen.length === 1);
    const [envelope] = seen;
    expect(envelope?.event).toBeInstanceOf(AccountCredited);
    expect(envelope?.event.amount).toEqual(new Decimal(5));
    expect(envelope?.event.getModelId()).toBe(account);
    expect(Object.isFrozen(envelope?.event)).toBe(true);
    expect(envelope).toMatchObject({
      modelId: account,
      modelName: 'Account',
      modelVersion: 2,
      attempt: 1,
      replayed: false,
    });
    expect(envelope?.action).toMatchObject({
      name: 'Credit',
      principal: 'alice',
      params: { account, amount: '5' },
    });
  });

  test('does not let a slow or failing handler delay others', async () => {
    const quick: string[] = [];
    const ledger = await startLedger(harness, {
      handlers: [
        handlerOf('Slow', () => new Promise((resolve) => setTimeout(resolve, 60_000)), { concurrency: 1 }),
        handlerOf('Quick', ({ id }) => void quick.push(id)),
      ],
    });
    await credited(ledger, 2);
    await until(() => quick.length === 2);
  });

  test('parks one model and resumes it in order', async () => {
    let broken: string | undefined;
    const versions: string[] = [];
    const handler = handlerOf(
      'Fragile',
      ({ modelId, modelVersion }) => {
        if (modelId === broken) throw new TypeError('cannot');
        versions.push(`${modelId}@${modelVersion}`);
      },
      { retryDelayMs: 1, maximumAttempts: 2 },
    );
    const ledger = await startLedger(harness, { handlers: [handler] });
    const [bad, good] = [await ledger.open(), await ledger.open()];
    broken = bad;
    for (let round = 0; round < 3; round += 1) await Promise.all([ledger.credit(bad), ledger.credit(good)]);
    await until(async () => (await ledger.events.deadLetters.list()).length === 3);
    await until(() => versions.length === 3);
    const upper = bad.toUpperCase();
    expect(await ledger.events.history(upper)).toHaveLength(3);
    const letters = await ledger.events.deadLetters.list({ handler: 'Fragile', modelId: upper });
    expect(letters.map(({ state, attempts, errorMessage }) => [state, attempts, errorMessage])).toEqual([
      ['failed', 2, 'cannot'],
      ['waiting', 0, undefined],
      ['waiting', 0, undefined],
    ]);
    const [details] = await ledger.events.deadLetters.show(letters[0]?.eventId ?? '');
    expect(details).toMatchObject({
      errorCode: 'TypeError',
      event: { payload: { amount: '1' }, modelVersion: 2 },
    });
    expect(await ledger.events.deadLetters.retry({ handler: 'Fragile', modelId: bad })).toBe(1);
    await until(async () => {
      const [head] = await ledger.events.deadLetters.list();
      return head?.attempts === 4 && !head.retrying;
    });
    broken = undefined;
    expect(await ledger.events.deadLetters.retry({ handler: 'Fragile', modelId: bad })).toBe(1);
    await ledger.credit(bad);
    await until(() => versions.length === 7);
    expect(versions.filter((each) => each.startsWith(bad))).toEqual(
      [2, 3, 4, 5].map((version) => `${bad}@${version}`),
    );
    await until(async () => (await ledger.events.deadLetters.list()).length === 0);
    await ledger.credit(bad);
    await until(() => versions.length === 8);
  });

  test('stores a discarded dead letter and resumes the events behind it', async () => {
    const handled: number[] = [];
    const handler = handlerOf(
      'Picky',
      ({ modelVersion }) => {
        if (modelVersion === 2) throw new Error(`never ${'x'.repeat(1_000_000)}`);
        // Some libraries assign the body of an answer.
        if (modelVersion === 4) throw Object.assign(new Error(), { message: { reason: 'full' } });
        handled.push(modelVersion);
      },
      { retryDelayMs: 1, maximumAttempts: 1 },
    );
    const ledger = await startLedger(harness, { handlers: [handler] });
    const account = await credited(ledger, 2);
    await until(async () => (await ledger.events.deadLetters.list()).length === 2);
    const [head] = await ledger.events.deadLetters.list({ state: 'failed' });
    expect(head?.errorMessage).toMatch(/^never x{3993}…$/);
    await expect(ledger.events.deadLetters.discard({ handler: 'Picky' }, 'x'.repeat(2_001))).rejects.toThrow(
      'at most 2000 characters',
    );
    expect(
      await ledger.events.deadLetters.discard({ handler: 'Picky', eventId: head?.eventId ?? '' }, 'known'),
    ).toBe(1);
    await until(() => handled.length === 1);
    expect(handled).toEqual([3]);
    await until(async () => (await ledger.events.deadLetters.list()).length === 0);
    await expect(ledger.events.deadLetters.show('abc')).rejects.toThrow('Not a UUID: "abc"');
    const [kept] = await ledger.events.deadLetters.show(head?.eventId ?? '');
    expect(kept).toMatchObject({ state: 'discarded', note: 'known' });
    await ledger.credit(account);
    await until(async () => (await ledger.events.deadLetters.list()).length === 1);
    expect(await ledger.events.deadLetters.list()).toMatchObject([{ errorMessage: "{ reason: 'full' }" }]);
    await ledger.events.stop();
    await ledger.events.deadLetters.retry({ handler: 'Picky' });
    expect(await ledger.events.deadLetters.list()).toMatchObject([{ retrying: true }]);
    await ledger.events.deadLetters.discard({ handler: 'Picky' });
    const discarded = await ledger.events.deadLetters.list({ state: 'discarded' });
    expect(discarded.map(({ retrying }) => retrying)).toEqual([false, false]);
  });

  test('does not repeat a failed event once one that waits behind it is discarded', async () => {
    const handled: number[] = [];
    const handler = handlerOf(
      'Picky',
      ({ modelVersion }) => {
        if (modelVersion === 2) throw new Error('never');
        handled.push(modelVersion);
      },
      { retryDelayMs: 1, maximumAttempts: 1 },
    );
    const ledger = await startLedger(harness, { handlers: [handler] });
    await credited(ledger, 3);
    const { deadLetters } = ledger.events;
    await until(async () => (await deadLetters.list()).length === 3);
    const [failed, waiting] = await deadLetters.list();
    expect(await deadLetters.discard({ handler: 'Picky', eventId: waiting?.eventId ?? '' })).toBe(1);
    expect(await deadLetters.list()).toMatchObject([
      { eventId: failed?.eventId, attempts: 1, retrying: false },
      { state: 'waiting', retrying: false },
    ]);
    await deadLetters.discard({ handler: 'Picky', eventId: failed?.eventId ?? '' });
    await until(() => handled.length === 1);
    expect(handled).toEqual([4]);
  });

  test.each([false, true])(
    'handles the events that arrive while a model without dead letters still counts as parked (transactional %s)',
    async (transactional) => {
      const handled: number[] = [];
      const handler = handlerOf(
        'Picky',
        async ({ modelVersion }) => {
          if (modelVersion === 2) throw new Error('never');
          handled.push(modelVersion);
        },
        { retryDelayMs: 1, maximumAttempts: 1, transactional },
      );
      const ledger = await startLedger(harness, { handlers: [handler] });
      const account = await credited(ledger);
      await until(async () => (await ledger.events.deadLetters.list()).length === 1);
      await ledger.events.deadLetters.discard({ handler: 'Picky' });
      await ledger.credit(account);
      await until(() => handled.length === 1, 10_000);
      // A transactional handler has not committed yet.
      await until(async () => (await ledger.events.deadLetters.list()).length === 0);
    },
  );

  test('resumes no more models at the same time than the handler handles', async () => {
    let broken = true;
    let handling = 0;
    let most = 0;
    const handler = handlerOf(
      'Narrow',
      async () => {
        if (broken) throw new Error('broken');
        handling += 1;
        most = Math.max(most, handling);
        await new Promise((resolve) => setTimeout(resolve, 50));
        handling -= 1;
      },
      { concurrency: 2, maximumAttempts: 1 },
    );
    const ledger = await startLedger(harness, { handlers: [handler] });
    for (let count = 0; count < 8; count += 1) await ledger.credit(await ledger.open());
    await until(async () => (await ledger.events.deadLetters.list()).length === 8);
    broken = false;
    expect(await ledger.events.deadLetters.retry({ handler: 'Narrow' })).toBe(8);
    await until(async () => (await ledger.events.deadLetters.list()).length === 0);
    expect(most).toBe(2);
  });

  test('counts the age of each handled event, but not of replayed ones', async () => {
    const handled: boolean[] = [];
    const plain = handlerOf('Plain', ({ replayed }) => void handled.push(replayed));
    const copying = handlerOf('Copying', async () => {}, { transactional: true });
    const ledger = await startLedger(harness, { handlers: [plain, copying] });
    await credited(ledger, 3);
    const seconds = (handler: string): number => ledger.events.process.ages.get(handler)?.seconds ?? 0;
    const counted = (handler: string): number =>
      ledger.events.process.ages.get(handler)?.counts.reduce((sum, count) => sum + count) ?? 0;
    await until(() => counted('Plain') === 3 && counted('Copying') === 3);
    const isSaved = async (): Promise<boolean> =>
      (await ledger.events.lag()).every(({ consumers }) => consumers.every(({ behind }) => behind === 0));
    await until(isSaved);
    await ledger.events.replay('Plain', { time: new Date(0) });
    await until(() => handled.filter((isReplayed) => isReplayed).length === 3);
    expect([counted('Plain'), counted('Copying')]).toEqual([3, 3]);
    expect(seconds('Plain')).toBeLessThan(3 * 60);
    expect(Math.min(seconds('Plain'), seconds('Copying'))).toBeGreaterThan(0);
  });

  test('lets a transactional handler write together with its checkpoint, exactly once', async () => {
    let failures = 0;
    const handler = handlerOf(
      'Copy',
      async ({ transaction, id, modelId, modelVersion, attempt }) => {
        await transaction.query({
          text: 'INSERT INTO seen (handler, event_id, model_id, version) VALUES ($1, $2, $3, $4)',
          values: ['Copy', id, modelId, modelVersion],
        });
        if (modelVersion === 4 && attempt < 3) {
          failures += 1;
          throw new Error('after the write');
        }
      },
      { transactional: true, retryDelayMs: 1 },
    );
    const ledger = await startLedger(harness, { handlers: [handler] });
    await credited(ledger, 6);
    await until(async () => (await ledger.rows('SELECT FROM seen')).length === 6);
    expect(failures).toBeGreaterThanOrEqual(2);
    expect((await ledger.rows('SELECT version FROM seen ORDER BY nr')).join()).toBe('2,3,4,5,6,7');
  });

  test('ends the replay of a transactional handler only after its last event, even if that event fails first', async () => {
    const handled: number[] = [];
    let failures = 0;
    const handler = handlerOf(
      'Strict',
      async ({ replayed, attempt, modelVersion }) => {
        if (replayed && attempt === 1) {
          failures += 1;
          throw new Error('not yet');
        }
        if (replayed) handled.push(modelVersion);
      },
      { transactional: true, retryDelayMs: 1 },
    );
    const ledger = await startLedger(harness, { handlers: [handler] });
    await credited(ledger, 2);
    await caughtUp(ledger);
    await ledger.events.replay('Strict', { time: new Date(0) }, { again: true });
    const running = (): Promise<readonly unknown[]> =>
      ledger.rows("SELECT 1 FROM eventlog.consumers WHERE kind = 'replay' AND finished_date IS NULL");
    await until(async () => failures > 0 && (await running()).length === 0);
    expect(handled).toEqual([2, 3]);
  });

  test('passes a transaction only to transactional handlers, which cannot start actions', async () => {
    const refused: unknown[] = [];
    const note = (error: unknown): void => void refused.push(error);
    const ledger = await startLedger(harness, {
      handlers: [
        handlerOf('Plain', async (envelope) => {
          await Promise.resolve()
            .then(() => envelope.transaction)
            .catch(note);
        }),
        handlerOf(
          'Strict',
          async (envelope) => {
            const params = { account: envelope.modelId, amount: envelope.event.amount };
            await envelope.execute(CreditAction, params).catch(note);
          },
          { transactional: true },
        ),
      ],
    });
    await ledger.credit(await ledger.open());
    await until(() => refused.length === 2);
    const misuse = expect.objectContaining({ code: 'FW_PLAN_MISUSE' });
    expect(refused).toEqual([misuse, misuse]);
  });

  test('does not skip a row that commits late', async () => {
    if (!harness.has('second-session')) return;
    const seen: string[] = [];
    const ledger = await startLedger(harness, {
      handlers: [handlerOf('All', ({ modelId }) => void seen.push(modelId))],
    });
    const [late, early] = [await ledger.open(), await ledger.open()];
    const [actionRow] = await ledger.rows(`SELECT id FROM eventlog.actions LIMIT 1`);
    const manager = new TransactionManager(ledger.databases.database(HERE));
    await manager.transaction(async (transaction) => {
      await transaction.query({
        text: `INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload,
          created_date, model_version) VALUES ($1, $1, 'test', $2, 'Account', 'AccountCredited', '{"amount":"1"}', now(), 2)`,
        values: [String(actionRow?.[0]), late],
      });
      await ledger.credit(early);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(seen).toEqual([]);
      const [lag] = await ledger.events.lag();
      const ours = { kind: 'transaction', state: 'idle in transaction' };
      expect(lag?.horizon.holders).toContainEqual(expect.objectContaining(ours));
      expect(lag?.horizon.ageMs).toBeGreaterThan(250);
    });
    await until(() => seen.length === 2);
    expect(seen).toEqual([late, early]);
  });
});
