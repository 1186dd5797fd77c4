import { describe, expect, test } from 'vitest';
import type { ExecutionReport } from '../action/execution-report.js';
import type { LogEntry } from '../domain/logger.js';
import { collectLog } from '../http/test-support/collect-log.js';
import { ObservedExecutions } from './observed-executions.js';

const configuration = { onReport: undefined, traceContext: undefined };
const request = { configuration, span: undefined };
const attempt = { number: 1, actionIds: ['a'], durationMs: 40, performMs: 10, pauseMs: 0, write: undefined };
const report: ExecutionReport = {
  action: 'Deposit',
  attempts: [{ ...attempt, end: 'applied' }],
  replayed: false,
  durationMs: 40,
  errorCode: undefined,
};

describe('Executions', () => {
  test('are counted by action, outcome, duration and reason of each retry', () => {
    const observed = new ObservedExecutions(undefined, 0);
    const stale = [{ ...attempt, end: 'stale' } as const, { ...attempt, end: 'applied' } as const];
    for (const each of [
      report,
      { ...report, attempts: stale, durationMs: 60_000 },
      { ...report, replayed: true, durationMs: 0 },
      { ...report, action: 'Withdraw', errorCode: 'FW_REFUSED' },
    ])
      observed.ended(request, each);
    const [deposits, withdrawals] = observed.statistics();
    expect(deposits).toMatchObject({ action: 'Deposit', seconds: 60.04 });
    expect([...(deposits?.outcomes ?? [])]).toEqual([
      ['ok', 2],
      ['replayed', 1],
    ]);
    expect([...(deposits?.retries ?? [])]).toEqual([['stale', 1]]);
    expect(deposits?.durations).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect([...(withdrawals?.outcomes ?? [])]).toEqual([['FW_REFUSED', 1]]);
  });

  test('are logged if they are slow, with where their time went', () => {
    const entries: LogEntry[] = [];
    const log = collectLog(entries);
    const observed = new ObservedExecutions(log, 1_000);
    const attempts = [
      { ...attempt, end: 'locked', durationMs: 400, performMs: 100, pauseMs: 200 } as const,
      { ...attempt, end: 'applied', actionIds: ['b'], durationMs: 500, performMs: 450.4 } as const,
    ];
    observed.ended(request, report);
    observed.ended(
      { ...request, configuration: { ...configuration, traceContext: TRACE } },
      { ...report, attempts, durationMs: 1_100.2 },
    );
    expect(entries).toEqual([
      {
        level: 'warn',
        message: 'Deposit was slow',
        action: 'Deposit',
        actionIds: ['a', 'b'],
        attempts: ['locked', 'applied'],
        durationMs: 1_100,
        performMs: 550,
        writeMs: 350,
        pauseMs: 200,
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
      },
    ]);
  });

  test('are logged if they fail, unless the caller was refused, and at most five times a second', () => {
    const entries: LogEntry[] = [];
    const log = collectLog(entries);
    const observed = new ObservedExecutions(log, 0);
    const codes = [
      'FW_REFUSED',
      'FW_VALIDATION',
      'FW_FORBIDDEN',
      'FW_STALE_MODEL',
      'FW_SHARD_UNAVAILABLE',
      'UNKNOWN',
    ];
    for (const errorCode of codes) observed.ended(request, { ...report, errorCode });
    expect(entries.map(({ message }) => message)).toEqual([
      'Deposit failed: FW_STALE_MODEL',
      'Deposit failed: FW_SHARD_UNAVAILABLE',
      'Deposit failed: UNKNOWN',
    ]);
    expect(entries[0]).toMatchObject({ code: 'FW_STALE_MODEL', durationMs: 40, writeMs: 30 });
    for (let count = 0; count < 100; count += 1)
      observed.ended(request, { ...report, errorCode: 'FW_SHARD_BUSY' });
    expect(entries).toHaveLength(8);
  });
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
