import { Entity } from '../domain/entity.js';
import { type OutcomeParts, unchecked } from './checked-outcome.js';
import type { Performed } from './performed.js';
import { assertFields, assertShowsSame, show, showItem, showSchedule } from './show.js';
import { type FieldsOf, StagedOutcome } from './staged-outcome.js';

/** An expected result: some fields of a model, or any other value as a whole. */
export type ExpectedResult<Result> = Result extends Entity ? FieldsOf<Result> : Result;

/** The outcome of an action, with its checks; see `CheckedOutcome`. */
export class ActionOutcome<Result> extends StagedOutcome<Result, Performed<Result>> {
  override readonly [Symbol.toStringTag]: string = 'ActionOutcome';
  protected readonly subject: string = 'the action';

  private constructor(parts: OutcomeParts<Performed<Result>>) {
    super(parts);
  }

  /** @internal created by `ActionSpec.when` */
  static of<Result>(performed: Promise<Performed<Result>>): ActionOutcome<Result> {
    return new ActionOutcome(unchecked(performed));
  }

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

  /** @internal */
  protected override with(parts: OutcomeParts<Performed<Result>>): this {
    // The class is final: its constructor is private.
    return new ActionOutcome(parts) as this;
  }
}
