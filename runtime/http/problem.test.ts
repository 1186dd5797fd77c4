import { describe, expect, it } from 'vitest';
import * as errors from '../errors.js';
import { problemOf } from './problem.js';
import { problemType } from './problem-kinds.js';

const SECRET = 'connect ECONNREFUSED db.internal:5432 password=hunter2 select * from wallets';
const cause = new Error(SECRET);

const UNWRITTEN = '; this request wrote nothing';
const SHARD = '(1, 0)';
const IN_IT = { shard: SHARD };

const cases: readonly [errors.FwError, number, string, Record<string, unknown>?][] = [
  [new errors.ValidationError('Deposit amount must be positive'), 400, 'Deposit amount must be positive'],
  [new errors.RefusedError('Insufficient balance', { cause }), 409, 'Insufficient balance'],
  [new errors.PreconditionFailedError('Not version 3'), 412, 'Not version 3'],
  [new errors.UnauthenticatedError('Who are you?'), 401, 'Who are you?'],
  [new errors.ModelNotFoundError('Wallet', 'x'), 404, 'Wallet x does not exist'],
  [new errors.UnknownShardError('(7, 3)'), 404, 'Shard (7, 3) is not configured'],
  [new errors.StaleModelError('Deposit', 'Wallet x'), 409, expect.stringMatching(/^Deposit conflicts/)],
  [new errors.IdempotencyKeyReusedError('Used before'), 422, 'Used before'],
  [new errors.IdempotencyKeyBusyError('Running'), 409, 'Running'],
  [new errors.UniqueViolationError(SECRET, { cause }), 409, 'A record with the same unique value exists'],
  [
    new errors.ConstraintViolationError(SECRET, { cause }),
    409,
    'The change violates a rule of the stored data',
  ],
  [new errors.RowBusyError(SECRET, { cause }), 503, `The record is locked by another request${UNWRITTEN}`],
  [
    new errors.ShardUnavailableError(SHARD, SECRET, { cause }),
    503,
    `The shard cannot be reached${UNWRITTEN}`,
    IN_IT,
  ],
  [new errors.ShardBusyError(SHARD, SECRET, { cause }), 503, `The shard is overloaded${UNWRITTEN}`, IN_IT],
  [new errors.DeadlineExceededError(SECRET), 503, `The deadline passed${UNWRITTEN}`],
  [new errors.ClosedError(SECRET), 503, `The server is shutting down${UNWRITTEN}`],
  [new errors.CommitOutcomeUnknownError('a-1'), 504, expect.stringContaining('a-1'), { actionId: 'a-1' }],
  [new errors.DatabaseError(SECRET, { cause }), 500, expect.stringContaining('in the server log')],
  [new errors.PlanMisuseError(SECRET), 500, expect.stringContaining('in the server log')],
];

describe('problems', () => {
  it.each(cases)('%s is answered with %i', (error, status, detail, members = {}) => {
    const problem = problemOf(error);
    expect(problem.status).toBe(status);
    expect(problem.body).toEqual({
      type: problemType(error.code),
      title: expect.any(String),
      status,
      detail,
      code: error.code,
      ...members,
    });
    expect(JSON.stringify(problem)).not.toMatch(/hunter2|5432|select/);
    expect(Number(problem.headers['retry-after'] ?? 0) >= 1).toBe(status === 503);
  });

  it('a refusal of a rule names the route, not the class of the action', () => {
    const facts = { principal: 'carl' };
    const error = new errors.ForbiddenError('carl may not run WalletGetAction on this', facts);
    const route = { name: 'GET /wallets/{walletId}', places: new Map() };
    expect(problemOf(error, { route }).body.detail).toBe(
      'carl may not call GET /wallets/{walletId} for this',
    );
    expect(problemOf(error).body.detail).not.toContain('Action');
  });

  it('a violation of a natural key names its fields, and points at those of the request', () => {
    const facts = { table: 'guests', constraint: 'guests_key', fields: ['email', 'hotelId'] };
    const error = new errors.UniqueViolationError('Another Guest has the same email, hotelId', facts);
    const route = { name: 'POST /guests', places: new Map([['email', 'body' as const]]) };
    expect(problemOf(error, { route }).body).toMatchObject({
      detail: 'A record with the same email, hotelId exists',
      errors: [{ pointer: '/email', message: 'must be unique' }],
    });
  });

  it('names the shard transactions of a cross-shard action that was applied in part, without the cause', () => {
    const committed = [{ shard: '(0, 0)', actionId: 'a' }];
    const failed = { shard: '(1, 0)', actionId: 'b' };
    const error = new errors.CrossShardPartialError('Transfer', { committed, failed, notStarted: [] }, cause);
    expect(problemOf(error).body).toMatchObject({ status: 500, committed, failed, notStarted: [] });
    expect(JSON.stringify(problemOf(error))).not.toContain('hunter2');
  });

  it.each([cause, 'text', undefined])('an unexpected error reveals nothing about itself: %s', (thrown) => {
    const { status, body } = problemOf(thrown);
    expect([status, body.code]).toEqual([500, 'HTTP_INTERNAL']);
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });
});
