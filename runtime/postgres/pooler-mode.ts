import pg, { type ClientConfig } from 'pg';
import type { DataSourceConfig, PostgresUrl } from '../config/types.js';

/**
 * How a connection works through PgBouncer in transaction mode, where each transaction may run in another session of
 * the server: what a session would keep is sent with every transaction instead.
 */
export interface PoolerMode {
  /**
   * All of them. PgBouncer refuses a client with start-up parameters other than those it restores on whatever session
   * it lends, which these are.
   */
  readonly startupParameters: Readonly<Record<string, string>>;
  /** Whether prepared statements may have names. */
  readonly named: boolean;
  /** The limits of a single statement. A function and not `SET LOCAL`, which warns outside of a transaction block. */
  readonly beforeStatement: string;
  /**
   * The same for one of the framework's own, which is planned once where it is prepared by name: see `plan-mode.ts`.
   */
  readonly beforeOwnStatement: string;
  /** The limits of a transaction. `SET LOCAL` and not a function, which would end the time for `SET TRANSACTION`. */
  readonly afterBegin: string;
}

/** Undefined if the connection leads to the server itself. */
export function poolerMode(url: PostgresUrl, dataSource: DataSourceConfig): PoolerMode | undefined {
  const { pooler, lockTimeoutMs, statementTimeoutMs, idleInTransactionTimeoutMs } = dataSource;
  if (pooler === 'none') return undefined;
  const limits = {
    lock_timeout: lockTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // A cancelled wait for a synchronous standby is a warning.
    client_min_messages: 'warning',
  };
  const inTransaction = { ...limits, idle_in_transaction_session_timeout: idleInTransactionTimeoutMs };
  const setConfig = (settings: object): string =>
    `SELECT ${Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`)}`;
  const settings = Object.entries(inTransaction).map(([name, value]) => `SET LOCAL ${name} = ${value}`);
  return {
    startupParameters: {
      user: dataSource.username ?? '',
      database: url.database,
      application_name: dataSource.applicationName,
      TimeZone: 'UTC',
      DateStyle: 'ISO',
    },
    named: pooler === 'pgbouncer-1.21',
    beforeStatement: setConfig(limits),
    beforeOwnStatement: setConfig(
      pooler === 'pgbouncer-1.21' ? { ...limits, plan_cache_mode: 'force_generic_plan' } : limits,
    ),
    afterBegin: settings.join('; '),
  };
}

/** A client whose start-up parameters are given, whatever node-postgres or the environment would add. */
export class PoolerClient extends pg.Client {
  readonly #startupParameters: Readonly<Record<string, string>>;

  constructor(config: ClientConfig, startupParameters: Readonly<Record<string, string>>) {
    super(config);
    this.#startupParameters = startupParameters;
  }

  /** Called by node-postgres. */
  getStartupConf(): Readonly<Record<string, string>> {
    return this.#startupParameters;
  }
}
