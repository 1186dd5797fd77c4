import pg, { type ClientConfig } from 'pg';
import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import { IDLE_IN_TRANSACTION_TIMEOUT_MS } from './client-config.js';
import { isOwnStatement, type SessionMode } from './plan-mode.js';

/**
 * Settings of a connection through PgBouncer in transaction mode, where each transaction may run in another server
 * session: state that a session would keep is sent with every transaction instead.
 */
export interface PoolerMode extends SessionMode {
  /**
   * The complete set. PgBouncer refuses start-up parameters other than those that it restores on each session it uses;
   * these are among them.
   */
  readonly startupParameters: Readonly<Record<string, string>>;
  /** Whether prepared statements may have names. */
  readonly named: boolean;
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
  // Functions instead of `SET LOCAL`, which warns outside of a transaction block.
  const setConfig = (settings: object): string =>
    `SELECT ${Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`)}`;
  const settings = Object.entries(inTransaction).map(([name, value]) => `SET LOCAL ${name} = ${value}`);
  // A generic plan needs a prepared statement with a name: see `plan-mode.ts`.
  const isNamed = pooler === 'pgbouncer-1.21';
  const before = setConfig(limits);
  const beforeOwn = setConfig(isNamed ? { ...limits, plan_cache_mode: 'force_generic_plan' } : limits);
  return {
    startupParameters: {
      user: dataSource.username ?? '',
      database: url.database,
      application_name: dataSource.applicationName,
      TimeZone: 'UTC',
      DateStyle: 'ISO',
    },
    named: isNamed,
    preludeOf: (statement, inTransaction) =>
      inTransaction ? undefined : isOwnStatement(statement) ? beforeOwn : before,
    committed: () => {},
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
