import { Entity } from '../domain/entity.js';
import type { Performed } from './performed.js';
import { assertFields, assertShowsSame, show, showItem, showSchedule } from './show.js';
import { type FieldsOf, SpecOutcome } from './spec-outcome.js';

/** An expected result: some fields of a model, or any other value as a whole. */
type ExpectedResult<Result> = Result extends Entity ? FieldsOf<Result> : Result;

/** The outcome of an action, with its checks; see `SpecOutcome`. */
export class ActionOutcome<Result> extends SpecOutcome<Result, Performed<Result>> {
  readonly [Symbol.toStringTag]: string = 'ActionOutcome';

  /** No model is staged, and no action is scheduled or cancelled. */
  thenNothing(): this {
    return this.check(({ items, schedules, cancelledSchedules }) => {
      const later = [...schedules.map(showSchedule), ...cancelledSchedules.map((id) => `cancel ${id}`)];
      assertShowsSame([...items.map(showItem), ...later], [], 'Expected the action to stage nothing');
    });
  }

  /** The action returns this: a model with these fields, or exactly this value. */
  thenReturns(expected: ExpectedResult<Result>): this {
    return this.check(({ result }) => {
      const isModel = result instanceof Entity && typeof expected === 'object' && expected !== null;
      if (isModel) assertFields(result, expected, 'Expected the action to return other fields');
      else assertShowsSame(show(result), show(expected), 'Expected the action to return another value');
    });
  }
}
