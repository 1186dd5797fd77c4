import pg, { type ClientConfig } from 'pg';
import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import { IDLE_IN_TRANSACTION_TIMEOUT_MS } from './client-config.js';

/**
 * Settings of a connection through PgBouncer in transaction mode, where each transaction may run in another server
 * session: state that a session would keep is sent with every transaction instead.
 */
export interface PoolerMode {
  /**
   * The complete set. PgBouncer refuses start-up parameters other than those that it restores on each session it uses;
   * these are among them.
   */
  readonly startupParameters: Readonly<Record<string, string>>;
  /** Whether prepared statements may have names. */
  readonly named: boolean;
  /**
   * Sets the limits of a single statement. A function instead of `SET LOCAL`, which warns outside of a transaction
   * block.
   */
  readonly beforeStatement: string;
  /** The same for the framework's own statements, which use a generic plan if prepared by name: see `plan-mode.ts`. */
  readonly beforeOwnStatement: string;
  /**
   * Sets the limits of a transaction. `SET LOCAL` instead of a function, after which `SET TRANSACTION` is no longer
   * allowed.
   */
  readonly afterBegin: string;
}

/** Undefined if the connection leads directly to the server. */
export function poolerMode(url: PostgresUrl, dataSource: DataSourceConfig): PoolerMode | undefined {
  const { pooler, lockTimeoutMs, statementTimeoutMs } = dataSource;
  if (pooler === 'none') return undefined;
  const limits = {
    lock_timeout: lockTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // The server reports a cancelled wait for a synchronous standby as a warning.
    client_min_messages: 'warning',
  };
  const inTransaction = { ...limits, idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS };
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

/** A client with exactly the given start-up parameters, regardless of node-postgres and the environment. */
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
