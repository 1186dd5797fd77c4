import { describe, expect, test } from 'vitest';
import { renameSteps, stepComment } from '../schema/column-rename.js';
import type { ModelSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';
import {
  type FieldRename,
  type FoundRename,
  findColumn,
  renameProblem,
  tableProblem,
} from './check-rename.js';

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

function found(from: string, to: string): FoundRename {
  const rename = findColumn([account], named(from, to));
  if (typeof rename === 'string') throw new Error(rename);
  return rename;
}

type Step = readonly [step: 'begins' | 'ends', from: string, to: string];

/** Rename steps as in the comments of migrations. */
function steps(each: readonly Step[]) {
  return renameSteps(
    each.map(([step, from, to]) => `select 1;\n${stepComment({ table: 'accounts', from, to, step })}\n`),
  );
}

describe('A rename of a field', () => {
  test.each([
    [named('balance', 'nickname'), undefined],
    [named('amount', 'nickname'), 'has both fields, amount and nickname. Choose another name'],
    [named('saldo', 'sum'), 'has neither field, saldo nor sum. Check the spelling'],
    [named('state', 'phase'), 'Rename another field'],
    [named('short_name', 'shortName'), 'No migration is needed'],
    [{ ...named('a', 'b'), model: 'Konto' }, 'Choose one of: Account.'],
  ])('%j is found, or the message says what to do', (rename, problem) => {
    const result = findColumn([account], rename);
    if (problem === undefined) expect(result).toMatchObject({ from: 'balance', to: 'nickname' });
    else expect(result).toContain(problem);
  });

  test('cannot begin for a field of a natural key, and the message names the alternative', () => {
    const problem = (from: string, to: string) =>
      renameProblem(found(from, to), named(from, to), [], 'begin');
    expect(problem('email', 'mail')).toContain('rename column email to mail');
    expect(problem('mail', 'email')).toContain('rename column mail to email');
    expect(problem('nickname', 'alias')).toBeUndefined();
  });

  test('cannot begin twice, nor while another rename of one of its columns is open', () => {
    const problem = (from: string, to: string, ...before: readonly Step[]) =>
      renameProblem(found(from, to), named(from, to), steps(before), 'begin');
    expect(problem('balance', 'amount', ['begins', 'balance', 'amount'])).toContain(
      'fw-gen migrate rename Account.balance amount --finish.',
    );
    const chained = 'rename of accounts.balance to amount is not finished. Finish it with --finish';
    expect(problem('amount', 'sum', ['begins', 'balance', 'amount'])).toContain(chained);
    expect(problem('amount', 'balance', ['begins', 'balance', 'amount'])).toContain(chained);
    expect(problem('nickname', 'alias', ['begins', 'balance', 'amount'])).toBeUndefined();
    const ended: readonly Step[] = [
      ['begins', 'balance', 'amount'],
      ['ends', 'balance', 'amount'],
    ];
    expect(problem('amount', 'balance', ...ended)).toBeUndefined();
    expect(problem('amount', 'sum', ...ended)).toBeUndefined();
  });

  test('can be finished once, when it has begun and the sources have the new name', () => {
    const problem = (from: string, to: string, ...before: readonly Step[]) =>
      renameProblem(found(from, to), named(from, to), steps(before), 'finish');
    expect(problem('balance', 'amount')).toContain('Run the command without --finish first');
    expect(problem('balance', 'amount', ['begins', 'balance', 'amount'])).toBeUndefined();
    expect(problem('amount', 'sum', ['begins', 'amount', 'sum'])).toContain('Rename it to sum');
    const ended: readonly Step[] = [
      ['begins', 'balance', 'amount'],
      ['ends', 'balance', 'amount'],
    ];
    expect(problem('balance', 'amount', ...ended)).toContain('is already finished.');
    // A rename and its reversal.
    const again: readonly Step[] = [...ended, ['begins', 'balance', 'amount']];
    expect(problem('balance', 'amount', ...again)).toBeUndefined();
  });

  test('needs the old column and a free name', () => {
    const rename = found('balance', 'amount');
    const problem = (...names: readonly string[]) =>
      tableProblem(rename, { columns: names.map((name) => ({ name })) }, 'begin');
    expect(tableProblem(rename, undefined, 'begin')).toContain('Run fw-gen generate');
    expect(problem('id')).toContain('No migration creates a column accounts.balance. Check the spelling');
    expect(problem('id', 'balance', 'amount')).toContain('Choose another name, or drop that column first');
    expect(problem('id', 'amount')).toContain('No rename is needed');
    expect(problem('id', 'balance')).toBeUndefined();
  });

  test('is not finished while a unique index would be lost with the old column', () => {
    const problem = (...uniqueIndexes: readonly (readonly string[])[]) =>
      tableProblem(
        found('balance', 'amount'),
        { columns: [], uniqueIndexes: uniqueIndexes.map((columns, i) => ({ name: `i${i}`, columns })) },
        'finish',
      );
    expect(problem(['balance', 'nickname'])).toContain(
      'also drops the unique index i0, and there is no unique index on (amount, nickname). Add a migration',
    );
    expect(problem(['balance', 'nickname'], ['nickname', 'amount'], ['email'])).toBeUndefined();
  });

  test('is recognised with any names', () => {
    const rename = { table: 'my accounts', from: 'a.b', to: 'ä->c', step: 'begins' as const };
    expect(renameSteps([stepComment(rename)])).toEqual([rename]);
  });
});
