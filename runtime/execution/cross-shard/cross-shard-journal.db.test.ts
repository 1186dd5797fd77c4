import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { systemEnvironment } from '../../concurrency/execution-environment.js';
import { Decimal } from '../../domain/decimal.js';
import { uuid7 } from '../../domain/id-source.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { CrossShardPartialError, type JournalError, UnknownShardError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { primaryOf } from '../../sharding/test-support/changed-topology.js';
import { wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import {
  ACROSS,
  ALICE,
  accountMigrations,
  CreditAction,
  configure,
  HERE,
  MoveAction,
  makeAccounts,
  makeBank,
  openBank,
  type TestBank,
  THERE,
} from '../test-support/accounts.js';
import { type CompiledProgram, compileProgram } from '../test-support/compiled-program.js';
import type { CrashPlan } from '../test-support/crashing-move.js';
import { halfDone, undoSecondPart } from '../test-support/half-done.js';

function refusal(reason: JournalError['reason']): object {
  return { code: 'FW_JOURNAL', reason };
}

describeOnEachAdapter('The cross-shard journal', (harness) => {
  async function leaveHalfDone(): Promise<{ bank: TestBank; from: string; to: string; id: string }> {
    const bank = await makeBank(harness);
    return { bank, ...(await halfDone(bank)) };
  }

  it('has closed the entry before the caller receives the result', async () => {
    const bank = await makeBank(harness);
    const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    await bank.move(from, 3, to);
    expect(await bank.journal.open()).toEqual([]);
    expect(
      await bank.rows(
        HERE,
        'select action_name, principal, state, outcome, lease_owner from eventlog.journal',
      ),
    ).toEqual([['Move', 'alice', 'closed', 'applied', null]]);
    expect([await bank.balance(from), await bank.balance(to)]).toEqual(['7', '8']);
  });

  it('leases its entry for as long as the execution may take, even for months', async () => {
    const bank = await makeBank(harness);
    const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    const patient = configure()
      .allowCrossShard(true)
      .timeoutMs(90 * 24 * 3_600_000)
      .build();
    await bank.executor.execute(ALICE, MoveAction, { from, to: [to], amount: new Decimal(3) }, patient);
    expect([await bank.balance(from), await bank.balance(to)]).toEqual(['7', '8']);
  });

  it('is not written by plans under an idempotency key, which are refused', async () => {
    const bank = await makeBank(harness);
    const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    const keyed = configure().allowCrossShard(true).idempotencyKey('k').build();
    const move = { from, to: [to], amount: new Decimal(3) };
    await expect(bank.executor.execute(ALICE, MoveAction, move, keyed)).rejects.toMatchObject({
      code: 'FW_CROSS_SHARD',
      shards: ['(0, 0)', '(1, 0)'],
    });
    expect([await bank.balance(from), await bank.balance(to)]).toEqual(['10', '5']);
    expect(await bank.rows(HERE, 'select from eventlog.journal')).toEqual([]);
    // The key is free for a plan of one shard.
    const near = { ...move, to: [await bank.open(HERE, 0)] };
    await bank.executor.execute(ALICE, MoveAction, near, keyed);
    expect(await bank.balance(from)).toBe('7');
  });

  it('is not written by plans of one shard', async () => {
    const bank = await makeBank(harness);
    const [from, to] = [await bank.open(HERE, 10), await bank.open(HERE, 5)];
    await bank.move(from, 3, to);
    expect(await bank.rows(HERE, 'select from eventlog.journal')).toEqual([]);
  });

  it('has no entry when the first shard transaction was not applied', async () => {
    const bank = await makeBank(harness);
    const [from, to] = [await bank.open(HERE, 999_999), await bank.open(THERE, 5)];
    await expect(bank.move(from, -3, to)).rejects.toMatchObject({ code: 'FW_CONSTRAINT_VIOLATION' });
    expect(await bank.rows(HERE, 'select from eventlog.journal')).toEqual([]);
  });

  it('has closed the entry before the caller receives CrossShardPartialError', async () => {
    const bank = await makeBank(harness);
    const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 999_999)];
    const error = await bank.move(from, 3, to).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CrossShardPartialError);
    expect(error).toMatchObject({
      committed: [{ shard: '(0, 0)' }],
      failed: { shard: '(1, 0)' },
      openEntry: undefined,
      cause: { code: 'FW_CONSTRAINT_VIOLATION' },
    });
    expect(await bank.journal.open()).toEqual([]);
    const [row] = await bank.rows(HERE, 'select id, outcome from eventlog.journal');
    expect(row?.[1]).toBe('partial');
    await expect(bank.journal.finish(String(row?.[0]))).rejects.toMatchObject(refusal('closed'));
  });

  it('applies every shard transaction if its caller aborts after the first', async () => {
    const abort = new AbortController();
    const bank = await makeBank(harness, async ({ text }, send) => {
      const rows = await send();
      if (text.includes('INSERT INTO eventlog.journal')) abort.abort();
      return rows;
    });
    const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    const configuration = configure().allowCrossShard(true).signal(abort.signal).build();
    await bank.executor.execute(ALICE, MoveAction, { from, to: [to], amount: new Decimal(3) }, configuration);
    expect(abort.signal.aborted).toBe(true);
    expect([await bank.balance(from), await bank.balance(to)]).toEqual(['7', '8']);
  });

  it('keeps the entry open for recovery when the outcome of a shard transaction is not known in time', async () => {
    let cut = false;
    const bank = await makeBank(harness, (statement, send, { shard }) => {
      if (!cut || shard !== THERE || !statement.text.includes('INSERT INTO eventlog.actions')) return send();
      return Promise.reject(new DriverFailure('the connection was lost', { phase: 'in-flight' }));
    });
    const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    cut = true;
    const error = await bank.move(from, 3, to).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'FW_CROSS_SHARD_PARTIAL',
      cause: { code: 'FW_COMMIT_OUTCOME_UNKNOWN' },
    });
    const [entry] = await bank.journal.open();
    expect(error).toMatchObject({ openEntry: entry?.id });
    expect(entry).toMatchObject({ state: 'open', leasedUntil: undefined });
    cut = false;
    await bank.journal.finish(String(entry?.id));
    expect([await bank.balance(from), await bank.balance(to)]).toEqual(['7', '8']);
  });

  it('reports an entry that could not be closed, because its missing changes may still be applied', async () => {
    const unreachable = new DriverFailure('out of reach', { phase: 'not-sent', reason: 'unreachable' });
    const bank = await makeBank(harness, ({ name }, send) =>
      name === 'fw_journal_close' ? Promise.reject(unreachable) : send(),
    );
    const [from, full] = [await bank.open(HERE, 10), await bank.open(THERE, 999_999)];
    const error = await bank.move(from, 3, full).catch((thrown: unknown) => thrown);
    const [entry] = await bank.journal.open();
    expect(error).toMatchObject({ code: 'FW_CROSS_SHARD_PARTIAL', openEntry: entry?.id });
  });

  it('lists an entry with a transaction of a shard that is not configured', async () => {
    const { bank, id } = await leaveHalfDone();
    const gone = uuid7.next(ShardIdentifier.of(9, 9).bits);
    await bank.rows(
      HERE,
      `update eventlog.journal set parts = jsonb_set(parts, '{1,actionId}', '"${gone}"') where id = '${id}'`,
    );
    const parts = [{ status: 'committed' }, { shard: '(9, 9)', actionId: gone, status: 'unknown' }];
    expect(await bank.journal.open()).toMatchObject([{ id, parts }]);
    expect(await bank.journal.show(id)).toMatchObject({ id, parts });
    await expect(bank.journal.finish(id)).rejects.toThrow(UnknownShardError);
  });

  it('finishes an entry under the recorded action ids, events included', async () => {
    const { bank, to, id } = await leaveHalfDone();
    const [entry] = await bank.journal.open();
    await bank.journal.finish(id);
    expect(await bank.balance(to)).toBe('8');
    const actionId = entry?.parts[1]?.actionId;
    const written = `select status, name, principal, event_type, model_id, payload, model_version
      from eventlog.actions a join eventlog.events e on e.action_id = a.id where a.id = '${actionId}'`;
    expect(await bank.rows(THERE, written)).toEqual([
      ['committed', 'Move', 'alice', 'AccountCredited', to, { amount: '3' }, '2'],
    ]);
    expect(await bank.journal.open()).toEqual([]);
  });

  it('applies the schedules and cancellations of a shard transaction', async () => {
    const bank = await makeBank(harness);
    const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
    const later = { account: to, amount: new Decimal(1), pin: 'later' };
    await bank.executor.execute(ALICE, CreditAction, later);
    const [[putOff] = []] = await bank.rows(THERE, 'select id from eventlog.schedules');
    const move = { from, to: [to], amount: new Decimal(3), putOff: String(putOff) };
    await bank.executor.execute(ALICE, MoveAction, move, ACROSS);
    const schedules = (): Promise<unknown> =>
      bank.rows(
        THERE,
        'select id, due_date, action_name, params, principal, state from eventlog.schedules order by id',
      );
    const before = await schedules();
    expect(before).toMatchObject([{ 0: putOff, 5: 'cancelled' }, { 5: 'pending' }]);
    const id = await undoSecondPart(bank, to);
    await bank.rows(THERE, `delete from eventlog.schedules where id <> '${putOff}'`);
    await bank.rows(THERE, "update eventlog.schedules set state = 'pending', completed_date = null");
    await bank.journal.finish(id);
    expect(await schedules()).toEqual(before);
  });

  it('applies no shard transaction twice when several processes finish an entry repeatedly', async () => {
    const { bank, to, id } = await leaveHalfDone();
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => bank.journal.finish(id)));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const attempt of attempts) {
      if (attempt.status === 'rejected') expect(attempt.reason.reason).toMatch(/^(leased|closed)$/);
    }
    await expect(bank.journal.finish(id)).rejects.toMatchObject(refusal('closed'));
    expect(await bank.balance(to)).toBe('8');
  });

  it('attempts a shard transaction at most five times, and none after the time of its lease', async () => {
    const databases = await makeAccounts(harness);
    const { id } = await halfDone(openBank(databases));
    let [attempts, attemptMs, elapsedMs] = [0, 1_000, 0];
    const unreachable = wrappedRegistry(databases, ({ text }, send) => {
      if (!text.includes('INSERT INTO eventlog.actions')) return send();
      attempts += 1;
      elapsedMs += attemptMs;
      return Promise.reject(new DriverFailure('connection refused', { phase: 'not-sent' }));
    });
    const environment = { ...systemEnvironment(), nowMs: () => elapsedMs, sleep: () => Promise.resolve() };
    const { journal } = openBank(unreachable, environment);
    await expect(journal.finish(id)).rejects.toMatchObject({ code: 'FW_SHARD_UNAVAILABLE' });
    expect(attempts).toBe(5);
    attemptMs = 7_000;
    await expect(journal.finish(id)).rejects.toMatchObject({ code: 'FW_SHARD_UNAVAILABLE' });
    expect(attempts).toBe(5 + 2);
  });

  it('closes an entry whose shard transactions have all been applied', async () => {
    const { bank, to, id } = await leaveHalfDone();
    await bank.journal.finish(id);
    await bank.rows(HERE, "update eventlog.journal set state = 'open', outcome = null, closed_date = null");
    await bank.journal.finish(id);
    expect(await bank.journal.open()).toEqual([]);
    expect(await bank.balance(to)).toBe('8');
  });

  it('does not finish an entry whose models have changed', async () => {
    const { bank, to, id } = await leaveHalfDone();
    await bank.credit(to, 1);
    await expect(bank.journal.finish(id)).rejects.toMatchObject(refusal('stale'));
    expect(await bank.balance(to)).toBe('6');
    expect(await bank.journal.open()).toMatchObject([{ id, leasedUntil: undefined }]);
  });

  it('does not finish an entry with a fenced shard transaction', async () => {
    const { bank, to, id } = await leaveHalfDone();
    const [entry] = await bank.journal.open();
    expect(await bank.executor.outcomeOf(String(entry?.parts[1]?.actionId))).toBe('void');
    await expect(bank.journal.finish(id)).rejects.toMatchObject(refusal('void'));
    expect((await bank.journal.open())[0]?.parts[1]?.status).toBe('void');
    expect(await bank.balance(to)).toBe('5');
  });

  it('does not touch an entry that another process has leased', async () => {
    const { bank, id } = await leaveHalfDone();
    const { journal } = bank.gateways.gateway(HERE);
    await journal.lease(id, uuid7.next(HERE.bits), 60_000);
    await expect(bank.journal.finish(id)).rejects.toMatchObject(refusal('leased'));
    await expect(bank.journal.flag(id, 'mine')).rejects.toMatchObject(refusal('leased'));
    expect((await bank.journal.open())[0]?.leasedUntil).toBeInstanceOf(Date);
  });

  it('takes over an entry whose lease has expired', async () => {
    const { bank, to, id } = await leaveHalfDone();
    const { journal } = bank.gateways.gateway(HERE);
    const late = uuid7.next(HERE.bits);
    await journal.lease(id, late, 0);
    await bank.journal.finish(id);
    expect(await journal.close(id, late, 'partial')).toBe(false);
    expect(await bank.balance(to)).toBe('8');
  });

  it('stores a note with an entry, which can still be finished', async () => {
    const { bank, to, id } = await leaveHalfDone();
    await bank.journal.flag(id, 'asked the owner');
    expect(await bank.journal.open()).toMatchObject([{ id, state: 'flagged', note: 'asked the owner' }]);
    await bank.journal.finish(id);
    expect(await bank.balance(to)).toBe('8');
    await expect(bank.journal.flag(id, ' ')).rejects.toMatchObject({ code: 'FW_VALIDATION' });
  });

  it('refuses unknown ids', async () => {
    const bank = await makeBank(harness);
    await expect(bank.journal.finish(uuid7.next(HERE.bits))).rejects.toMatchObject(refusal('unknown'));
    await expect(bank.journal.finish('entry')).rejects.toMatchObject({ code: 'FW_VALIDATION' });
  });

  it('deletes closed entries after the retention time, except partially applied ones', async () => {
    const bank = await makeBank(harness);
    const [from, to, full] = [
      await bank.open(HERE, 10),
      await bank.open(THERE, 5),
      await bank.open(THERE, 999_999),
    ];
    await bank.move(from, 1, to);
    await expect(bank.move(from, 1, full)).rejects.toThrow(CrossShardPartialError);
    const { journal } = bank.gateways.gateway(HERE);
    expect(await journal.purge(10, 60_000)).toBe(0);
    expect(await journal.purge(10, 0)).toBe(1);
    expect(await bank.rows(HERE, 'select outcome from eventlog.journal')).toEqual([['partial']]);
  });
});

describe('A process killed between two commits', () => {
  let program: CompiledProgram | undefined;
  beforeAll(() => {
    program = compileProgram(join(import.meta.dirname, '../test-support/crashing-move.ts'));
  });
  afterAll(() => program?.remove());

  /** Runs the program until it kills itself. */
  async function crash(plan: CrashPlan): Promise<void> {
    const child = spawn(process.execPath, [String(program?.path), JSON.stringify(plan)], {
      stdio: 'inherit',
    });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  }

  async function expectHalf(bank: TestBank, from: string, to: string): Promise<void> {
    expect([await bank.balance(from), await bank.balance(to)]).toEqual(['7', '5']);
    const [entry] = await bank.journal.open();
    expect(entry?.parts.map(({ shard, status }) => [shard, status])).toEqual([
      ['(0, 0)', 'committed'],
      ['(1, 0)', 'not-applied'],
    ]);
    // The lease may have expired meanwhile on a slow machine.
    await leaseUntil(bank, "clock_timestamp() + interval '1 hour'");
    await expect(bank.journal.finish(String(entry?.id))).rejects.toMatchObject(refusal('leased'));
    await leaseUntil(bank, 'clock_timestamp()');
    await bank.journal.finish(String(entry?.id));
    expect([await bank.balance(from), await bank.balance(to)]).toEqual(['7', '8']);
    expect(await bank.journal.open()).toEqual([]);
  }

  /** Sets the time at which the dead process's lease expires. */
  function leaseUntil(bank: TestBank, date: string): Promise<unknown> {
    return bank.rows(
      HERE,
      `update eventlog.journal set lease_expires_date = ${date} where lease_expires_date is not null`,
    );
  }

  describeOn('postgresql', 'leaves an entry from which the rest is applied', (harness) => {
    it('by another process', async () => {
      const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: accountMigrations });
      const [here, there] = [primaryOf(topology, HERE), primaryOf(topology, THERE)];
      const bank = openBank(harness.open(topology));
      const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
      const user = { user: here.username ?? '', password: here.password?.reveal() ?? '' };
      await crash({ urls: [here.url, there.url], user, from, to, amount: 3 });
      await expectHalf(openBank(harness.open(topology)), from, to);
    });
  });
});
