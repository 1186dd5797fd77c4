import { uuid7 } from '../domain/id-source.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ActionClass } from './action.js';

/** An action to be run later, as a plan has it. */
export class PlannedSchedule {
  readonly dueDate: Date;
  readonly actionClass: ActionClass<never, unknown>;
  readonly params: object;
  readonly #chooseShard: () => ShardIdentifier;
  #id: string | undefined;

  /** @param chooseShard where its row is to be, when its id is asked for */
  constructor(
    facts: {
      readonly dueDate: Date;
      readonly actionClass: ActionClass<never, unknown>;
      readonly params: object;
    },
    chooseShard: () => ShardIdentifier,
  ) {
    this.dueDate = facts.dueDate;
    this.actionClass = facts.actionClass;
    this.params = facts.params;
    this.#chooseShard = chooseShard;
  }

  /**
   * The id under which it can be seen and cancelled: a version 7 UUID that carries its shard. Asking for it settles the
   * shard: that of the first model staged so far, else of the first `ShardedId` among the params, else the default
   * shard. The plan must then touch no other one, so read it after the first model is staged. If it is not read, the
   * schedule is stored on the shard of the first model of the plan, whenever that is staged.
   */
  get id(): string {
    this.#id ??= uuid7.next(this.#chooseShard().bits);
    return this.#id;
  }

  /** The id if it was asked for. */
  get settledId(): string | undefined {
    return this.#id;
  }
}
