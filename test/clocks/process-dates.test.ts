import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The files that read the date of this process, and why each may. No such date may be compared with a time that another
 * process has stored: a database compares with its own clock, to which it also adds spans. Times of this process only
 * measure (`time.nowMs`).
 */
const MAY: Readonly<Record<string, string>> = {
  'runtime/access/client-certificates.ts': 'validity of a certificate',
  'runtime/access/jwt.ts': 'validity of a token, with a leeway',
  'runtime/action/action-plan.ts': 'dates of models, and what a specification shows of a schedule',
  'runtime/client/call.ts': 'a date in Retry-After, by the clock of the caller',
  'runtime/concurrency/durations.ts': 'the time of an exemplar in the metrics',
  'runtime/concurrency/time.ts': 'the clock itself',
  'runtime/consumer/verify-webhook.ts': 'age of a signature, with a leeway',
  'runtime/doctor/clock-skew.ts': 'the comparison of the clocks',
  'runtime/domain/clock.ts': 'the clock itself',
  'runtime/domain/id-source.ts': 'the time in new ids',
  'runtime/events/delivery/consumer-run-options.ts': 'the age of events in the metrics',
  'runtime/events/delivery/receiver-outage.ts': 'the end of a pause, as operators see it',
  'runtime/execution/action-executor.ts': 'dates of the audit trail',
  'runtime/execution/cross-shard/cross-shard-journal.ts': 'dates of the audit trail',
  'runtime/execution/execution.ts': 'dates of the audit trail',
  'runtime/execution/perform/explain.ts': 'dates of the audit trail',
  'runtime/http/client-error.ts': 'the header Date',
  'runtime/observability/logger.ts': 'times of log entries',
  'runtime/relay/sinks/webhook/webhook-sink.ts': 'the time in a signature, and a date in Retry-After',
  'runtime/sagas/saga-actions.ts':
    'dates of records, and an estimate until the database has set the deadline',
  'runtime/sagas/stage-saga.ts': 'an estimate until the database has set the deadline',
  'runtime/sagas/step-action.ts': 'dates of records, and an estimate until the database has set the deadline',
};

const READS = /\bdateMs\(|\bdateMs:|[cC]lock\.now\(|\bDate\.now\b|\bnew Date\(\)/;

test('only these files read the date of the process', () => {
  const found = readdirSync('runtime', { recursive: true, encoding: 'utf8' })
    .map((path) => join('runtime', path))
    .filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$|test-support|^runtime\/testing\//.test(path))
    .filter((path) => READS.test(readFileSync(path, 'utf8').replace(/^\s*(\*|\/\/).*$/gm, '')));
  expect(found.sort()).toEqual(Object.keys(MAY).sort());
});
