import { describe, expect, test } from 'vitest';
import type { LogEntry, Logger } from '../domain/logger.js';
import {
  ConstraintViolationError,
  RefusedError,
  ShardBusyError,
  ShardUnavailableError,
  StaleModelError,
  ValidationError,
} from '../errors.js';
import { collectLog } from '../http/test-support/collect-log.js';
import { ObservedExecutions } from './observed-executions.js';
import { Tally } from './tally.js';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Executions that started at 0. */
function observe(slowMs: number, log?: Logger) {
  let nowMs = 0;
  const observed = new ObservedExecutions(log, slowMs, { nowMs: () => nowMs });
  const end = (action: string, durationMs: number, tally: Partial<Tally> = {}, error?: unknown): void => {
    nowMs = durationMs;
    const request = { action: { name: action }, span: undefined, deadline: 1_800, timeoutMs: 1_800 };
    const configuration = { traceContext: tally.actionId === undefined ? undefined : TRACE };
    observed.ended({ ...request, configuration }, Object.assign(new Tally(), tally), error);
  };
  return { observed, end };
}

describe('Executions', () => {
  test('are counted by action, outcome, duration and reason of each retry', () => {
    const { observed, end } = observe(0);
    end('Deposit', 40);
    end('Deposit', 60_000, { retries: ['stale', 'stale', 'locked'] });
    end('Deposit', 0, { isReplayed: true });
    end('Withdraw', 1, {}, new RefusedError('No'));
    const [deposits, withdrawals] = observed.statistics();
    expect(deposits).toMatchObject({ action: 'Deposit', seconds: 60.04 });
    expect([...(deposits?.outcomes ?? [])]).toEqual([
      ['ok', 2],
      ['replayed', 1],
    ]);
    expect([...(deposits?.retries ?? [])]).toEqual([
      ['stale', 2],
      ['locked', 1],
    ]);
    expect(deposits?.durations).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(withdrawals?.outcomes.get('FW_REFUSED')).toBe(1);
  });

  test('are logged if they are slow, with where their time went', () => {
    const entries: LogEntry[] = [];
    const { end } = observe(1_000, collectLog(entries));
    const tally = new Tally();
    const at = (ms: number): Date => new Date(ms);
    const row = { name: 'Deposit', principal: 'alice', params: undefined };
    tally.sent({ ...row, id: 'a', startedDate: at(0), completedDate: at(100) });
    tally.retried('locked');
    tally.paused(200.4);
    const startedDate = at(300);
    // Two shard transactions of one attempt.
    for (const id of ['b', 'c']) tally.sent({ ...row, id, startedDate, completedDate: at(750) });
    end('Deposit', 1_000);
    end('Deposit', 1_100.2, tally);
    expect(entries).toEqual([
      {
        level: 'warn',
        message: 'Deposit was slow',
        action: 'Deposit',
        actionId: 'c',
        retries: ['locked'],
        durationMs: 1_100,
        performMs: 550,
        pauseMs: 200,
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
      },
    ]);
  });

  test('are logged if they fail, unless the caller was refused, and at most five times a second', () => {
    const entries: LogEntry[] = [];
    const { end } = observe(0, collectLog(entries));
    const errors = [
      new RefusedError('No'),
      new ValidationError('No'),
      new StaleModelError('Account', 'a'),
      new ShardUnavailableError('(0, 0)', 'down'),
      new ConstraintViolationError('A constraint refused the change of accounts', {}),
      new Error('a defect'),
    ];
    for (const error of errors) end('Deposit', 40, {}, error);
    expect(entries.map(({ message }) => message)).toEqual([
      'Deposit failed: FW_STALE_MODEL',
      'Deposit failed: FW_SHARD_UNAVAILABLE',
      'Deposit failed: FW_CONSTRAINT_VIOLATION',
      'Deposit failed: UNKNOWN',
    ]);
    expect(entries[1]?.['reason']).toContain('(0, 0)');
    expect(entries.at(-1)).not.toHaveProperty('reason');
    expect(entries[0]).toMatchObject({ code: 'FW_STALE_MODEL', durationMs: 40, performMs: 0 });
    for (let count = 0; count < 100; count += 1)
      end('Deposit', 1, {}, new ShardBusyError('(0, 0)', 'too many'));
    expect(entries).toHaveLength(9);
  });
});
