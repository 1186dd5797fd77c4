import type { Statement } from '../sharding/shard-database.js';

/** Names of the framework's own statements begin with this. */
const OWN_NAME = 'fw_';

/** For the session, in the transaction of the statement that follows; taken back if that fails. */
const FORCE = 'SET plan_cache_mode = force_generic_plan';

/**
 * Back to what server, database or role say, for one transaction. A function and not `SET LOCAL`, which warns outside
 * of a transaction block.
 */
const RESTORE = "SELECT set_config('plan_cache_mode', NULL, true)";

/**
 * Whether a statement is one of the framework's own, whose plan does not depend on its values.
 *
 * Most of them take arrays: the planner finds a plan for one known array a little cheaper than the general one every
 * time, and plans again with every execution. Alone, that cost more than a third of a deposit.
 */
export function isOwnStatement({ name }: Statement): boolean {
  return name?.startsWith(OWN_NAME) === true;
}

/**
 * Keeps `force_generic_plan` to the framework's own statements in a session of the server. It is switched on with the
 * first of them, which all others find switched on; what an application sends has it switched off for its transaction.
 */
export class PlanMode {
  #isForced = false;

  /** What must run in the transaction of this statement, before it; undefined if nothing must. */
  preludeOf(statement: Statement, inTransaction: boolean): string | undefined {
    // A transaction begun by `begin` keeps to what the server says.
    if (inTransaction) return undefined;
    if (isOwnStatement(statement)) return this.#isForced ? undefined : FORCE;
    return this.#isForced && statement.values.length > 0 ? RESTORE : undefined;
  }

  /** A statement with this prelude has been committed. */
  committed(prelude: string | undefined): void {
    if (prelude === FORCE) this.#isForced = true;
  }

  /** What must follow a `BEGIN`. `SET LOCAL`, as a query would end the time for `SET TRANSACTION`. */
  get afterBegin(): string | undefined {
    return this.#isForced ? 'SET LOCAL plan_cache_mode TO DEFAULT' : undefined;
  }
}
