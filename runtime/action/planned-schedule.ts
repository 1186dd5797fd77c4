import { uuid7 } from '../domain/id-source.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ActionClass } from './action.js';

/** Name of a part of the system. */
export const SYSTEM_NAME: RegExp = /^[\x21-\x7e]{1,100}$/;

/** An action that a plan schedules. */
export class PlannedSchedule {
  /** An estimate by the clock of this process if `afterMs` is given. */
  readonly dueDate: Date;
  /** Milliseconds after the commit, by the clock of the database; undefined: at `dueDate`. */
  readonly afterMs: number | undefined;
  readonly actionClass: ActionClass<never, unknown>;
  readonly params: object;
  /** The name of the system's principal that executes it; undefined: that of the plan. */
  readonly principal: string | undefined;
  readonly #chooseShard: () => ShardIdentifier;
  #id: string | undefined;

  /** @param chooseShard returns the shard of its row when its id is requested */
  constructor(
    facts: {
      readonly dueDate: Date;
      readonly afterMs: number | undefined;
      readonly actionClass: ActionClass<never, unknown>;
      readonly params: object;
      readonly principal: string | undefined;
    },
    chooseShard: () => ShardIdentifier,
  ) {
    this.dueDate = facts.dueDate;
    this.afterMs = facts.afterMs;
    this.actionClass = facts.actionClass;
    this.params = facts.params;
    this.principal = facts.principal;
    this.#chooseShard = chooseShard;
  }

  /**
   * The id by which it can be listed and cancelled: a version 7 UUID that contains its shard. The first read of the id
   * determines the shard: that of the first model staged so far, else of the first `ShardedId` among the params, else
   * the default shard. The plan must then change only this shard, so read the id after the first model is staged. If it
   * is not read, the schedule is stored on the shard of the plan's first model.
   */
  get id(): string {
    this.#id ??= uuid7.next(this.#chooseShard().bits);
    return this.#id;
  }

  /** The id if it has been requested. */
  get settledId(): string | undefined {
    return this.#id;
  }
}
