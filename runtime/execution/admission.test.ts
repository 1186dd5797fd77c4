import { expect, test } from 'vitest';
import { ActionPlan } from '../action/action-plan.js';
import { systemClock } from '../domain/clock.js';
import { Decimal } from '../domain/decimal.js';
import { copyWith, type Entity } from '../domain/entity.js';
import { Id } from '../domain/id.js';
import { newAccount } from '../domain/test-support/account.js';
import { Note, newNote, noteModel } from '../domain/test-support/note.js';
import { PreconditionFailedError } from '../errors.js';
import { requireVersion } from './admission.js';
import { configure } from './test-support/accounts.js';

test.each([true, false])(
  'ifVersion is about the model of its id, not another one with its UUID (first: %s)',
  (isFirst) => {
    const account = newAccount(new Decimal(1)).build();
    const id = Id.of(Note, account.id.getValue());
    const note = copyWith(noteModel, newNote('profile'), { id, version: 7 });
    const plan = new ActionPlan(systemClock);
    const models: readonly Entity[] = isFirst ? [note, account] : [account, note];
    for (const model of models) plan.update(model);
    const check = (of: Id<unknown>, version: number) => () =>
      requireVersion(plan.items, configure().ifVersion(of, version).build());
    for (const [of, version, other] of [
      [id, 7, 1],
      [account.id, 1, 7],
    ] as const) {
      expect(check(of, version)).not.toThrow();
      expect(check(of, other)).toThrow(PreconditionFailedError);
    }
  },
);
