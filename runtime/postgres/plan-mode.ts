import type { Statement } from '../sharding/shard-database.js';

/** Prefix of the framework's own statement names. */
const OWN_NAME = 'fw_';

/** Sets the session's mode, in the transaction of the statement that follows; rolled back if that fails. */
const FORCE = 'SET plan_cache_mode = force_generic_plan';

/**
 * Restores the setting of server, database or role for one transaction. A function instead of `SET LOCAL`, which warns
 * outside of a transaction block.
 */
const RESTORE = "SELECT set_config('plan_cache_mode', NULL, true)";

/**
 * Whether a statement is one of the framework's own, whose plan does not depend on its values.
 *
 * Most of them have array parameters: the planner estimates a custom plan for a known array as slightly cheaper than
 * the generic one, and plans again with every execution. That alone cost more than a third of a deposit.
 */
export function isOwnStatement({ name }: Statement): boolean {
  return name?.startsWith(OWN_NAME) === true;
}

/** SQL around statements, which gives them their settings. */
export interface SessionMode {
  /** SQL that must run before this statement in its transaction; undefined if none must. */
  preludeOf(statement: Statement, inTransaction: boolean): string | undefined;
  /** A statement with this prelude has been committed. */
  committed(prelude: string | undefined): void;
  /** SQL that must follow a `BEGIN`; undefined if none must. `SET LOCAL`: after a query `SET TRANSACTION` is refused. */
  readonly afterBegin: string | undefined;
}

/**
 * Limits `force_generic_plan` to the framework's own statements in a server session. The first of them switches it on
 * for all others; statements of an application switch it off for their transaction.
 */
export class PlanMode implements SessionMode {
  #isForced = false;

  preludeOf(statement: Statement, inTransaction: boolean): string | undefined {
    // A transaction that was begun with `begin` keeps the server's setting.
    if (inTransaction) return undefined;
    if (isOwnStatement(statement)) return this.#isForced ? undefined : FORCE;
    return this.#isForced && statement.values.length > 0 ? RESTORE : undefined;
  }

  committed(prelude: string | undefined): void {
    if (prelude === FORCE) this.#isForced = true;
  }

  get afterBegin(): string | undefined {
    return this.#isForced ? 'SET LOCAL plan_cache_mode TO DEFAULT' : undefined;
  }
}
