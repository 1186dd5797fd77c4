import { describe, expect, test } from 'vitest';
import { openRenames, stepComment } from '../schema/column-rename.js';
import type { ModelSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';
import { type FieldRename, findColumns, type RenameRelease, tableProblem } from './check-rename.js';

const location = { file: 'src/account.ts', line: 1, column: 1 };
const field = (name: string): FieldSchema => ({
  ...{ name, location, optional: false, nullable: false, tags: [] },
  type: { kind: 'string' },
});
const account: ModelSchema = {
  ...{ name: 'Account', file: 'src/account.ts', location, kind: 'model', sharded: true },
  ...{ state: { kind: 'string' }, columns: [], deletedStates: [] },
  fields: ['amount', 'nickname', 'shortName', 'email'].map(field),
  keys: [{ fields: [{ value: 'email', location }] }],
};

const named = (from: string, to: string): FieldRename => ({ model: 'Account', field: from, to });

type Step = readonly [step: 'begins' | 'ends', from: string, to: string];

/** The columns of a rename, or the reason why one of its releases cannot be written after these steps. */
function found(release: RenameRelease, from: string, to: string, ...before: readonly Step[]) {
  const texts = before.map(
    ([step, ...columns]) =>
      `select 1;\n${stepComment(step, { table: 'accounts', from: columns[0], to: columns[1] })}\n`,
  );
  return findColumns([account], named(from, to), openRenames(texts), release);
}

const BEGUN: Step = ['begins', 'balance', 'amount'];
const ENDED: Step = ['ends', 'balance', 'amount'];

describe('A rename of a field', () => {
  test.each([
    [named('balance', 'nickname'), undefined],
    [named('amount', 'nickname'), 'one of the fields amount and nickname, and has both'],
    [named('saldo', 'sum'), 'one of the fields saldo and sum, and has neither'],
    [named('state', 'phase'), 'Rename another field'],
    [{ ...named('a', 'b'), model: 'Konto' }, 'Choose one of: Account.'],
  ])('%j is found, or the message says what to do', (rename, problem) => {
    const result = findColumns([account], rename, [], 'begin');
    if (problem === undefined) expect(result).toEqual({ table: 'accounts', from: 'balance', to: 'nickname' });
    else expect(result).toContain(problem);
  });

  test('cannot begin for a field of a natural key, and the message names the alternative', () => {
    expect(found('begin', 'email', 'mail')).toContain('rename column email to mail');
    expect(found('begin', 'mail', 'email')).toContain('rename column mail to email');
    expect(found('begin', 'nickname', 'alias')).toMatchObject({ to: 'alias' });
  });

  test('cannot begin twice, nor while another rename of one of its columns is open', () => {
    const unfinished = 'rename of accounts.balance to amount is not finished. Release it';
    expect(found('begin', 'balance', 'amount', BEGUN)).toContain(unfinished);
    expect(found('begin', 'amount', 'sum', BEGUN)).toContain(unfinished);
    expect(found('begin', 'amount', 'balance', BEGUN)).toContain(unfinished);
    expect(found('begin', 'nickname', 'alias', BEGUN)).toMatchObject({ to: 'alias' });
    expect(found('begin', 'amount', 'balance', BEGUN, ENDED)).toMatchObject({ to: 'balance' });
    expect(found('begin', 'amount', 'sum', BEGUN, ENDED)).toMatchObject({ to: 'sum' });
  });

  test('can be finished once, when it has begun and the sources have the new name', () => {
    const unbegun = 'No migration has begun the rename of';
    expect(found('finish', 'balance', 'amount')).toContain(unbegun);
    expect(found('finish', 'balance', 'amount', BEGUN)).toMatchObject({ from: 'balance', to: 'amount' });
    expect(found('finish', 'amount', 'sum', ['begins', 'amount', 'sum'])).toContain('Rename it to sum');
    expect(found('finish', 'balance', 'amount', BEGUN, ENDED)).toContain(unbegun);
    expect(found('finish', 'sum', 'amount', BEGUN)).toContain(unbegun);
    // By the column, if it had another name than its field.
    const own: Step = ['begins', 'Acct Balance', 'amount'];
    expect(found('finish', 'Acct Balance', 'amount', own)).toMatchObject({ from: 'Acct Balance' });
    // A rename and its reversal.
    expect(found('finish', 'balance', 'amount', BEGUN, ENDED, BEGUN)).toMatchObject({ to: 'amount' });
  });

  const rename = { table: 'accounts', from: 'balance', to: 'amount' };

  test('needs the old column and a free name', () => {
    const problem = (...names: readonly string[]) =>
      tableProblem(rename, { columns: names.map((name) => ({ name })) }, 'begin');
    const missing = 'No migration creates a column accounts.balance. Check the spelling';
    expect(tableProblem(rename, undefined, 'begin')).toContain(missing);
    expect(problem('id')).toContain(missing);
    expect(problem('id', 'balance', 'amount')).toContain('Choose another name, or drop that column first');
    expect(problem('id', 'balance')).toBeUndefined();
  });

  test('is not finished while a unique index would be lost with the old column', () => {
    const problem = (...uniqueIndexes: readonly (readonly string[])[]) =>
      tableProblem(
        rename,
        {
          columns: [{ name: 'balance' }, { name: 'amount' }],
          uniqueIndexes: uniqueIndexes.map((columns, i) => ({ name: `i${i}`, columns })),
        },
        'finish',
      );
    expect(problem(['email'], ['balance', 'nickname'])).toContain('also drops the unique index i1. Add');
    expect(problem(['nickname', 'amount'], ['email'])).toBeUndefined();
  });

  test('is recognized with any names', () => {
    const odd = { table: 'my accounts', from: 'a.b', to: 'ä->c' };
    expect(openRenames([stepComment('begins', odd)])).toEqual([odd]);
    expect(openRenames([stepComment('begins', odd), stepComment('ends', odd)])).toEqual([]);
  });
});
