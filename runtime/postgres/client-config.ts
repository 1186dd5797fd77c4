import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import { messageOf, ValidationError } from '../errors.js';
import { notSent } from './failures.js';

/** The setting with which a running backend detects that its client has disconnected. */
export const CONNECTION_CHECK = 'client_connection_check_interval';

/** `idle_in_transaction_session_timeout`: between two statements, a transaction does no more than compute. */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;

/** The connection settings of one database for node-postgres, without the socket. */
export type ConnectionConfig = Omit<ClientConfig, 'stream'>;

/**
 * The fields for node-postgres. Each field that it would otherwise look up in the environment (`PGPASSWORD`,
 * `PGSSLMODE`, `PGOPTIONS`...) is set, so that only the configuration counts.
 *
 * @param checksConnection whether the server should detect a disconnected client: see `CONNECTION_CHECK`
 * @throws ValidationError without a user name
 */
export function clientConfig(
  url: PostgresUrl,
  dataSource: DataSourceConfig,
  checksConnection = true,
): ConnectionConfig {
  if (dataSource.username === undefined) {
    throw new ValidationError(`A user name is required for ${describeUrl(url)}`, { field: 'username' });
  }
  return {
    host: url.host,
    port: url.port,
    database: url.database,
    user: dataSource.username,
    // A function keeps the secret out of the client's own fields until it is needed.
    password: () => dataSource.password?.reveal() ?? '',
    // Read again for every connection, so that certificates can be replaced while the process runs.
    get ssl() {
      return tlsOptions(url);
    },
    sslnegotiation: 'postgres',
    client_encoding: 'UTF8',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: dataSource.applicationName,
    ...sessionSettings(dataSource, checksConnection),
  };
}

/** A running backend detects a lost client within this time. Some systems do not support it and refuse the setting. */
const CHECK = ` -c ${CONNECTION_CHECK}=500`;

/** Through a pooler, a connection has no session settings: see `pooler-mode.ts`. */
function sessionSettings(dataSource: DataSourceConfig, checksConnection: boolean): Partial<ConnectionConfig> {
  if (dataSource.pooler !== 'none') return {};
  return {
    statement_timeout: dataSource.statementTimeoutMs,
    lock_timeout: dataSource.lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    options: `-c TimeZone=UTC -c DateStyle=ISO -c client_min_messages=warning${checksConnection ? CHECK : ''}`,
  };
}

/** Host, port and database, for display. */
export function describeUrl(url: PostgresUrl): string {
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  return `postgresql://${host}:${url.port}/${url.database}`;
}

function tlsOptions(url: PostgresUrl): false | ConnectionOptions {
  switch (url.sslMode) {
    case 'disable':
      return false;
    case 'require':
      return { rejectUnauthorized: false, ...clientIdentity(url) };
    case 'verify-full':
      // Without a file, Node.js uses its own list of certificate authorities. Node.js checks the host name.
      return {
        rejectUnauthorized: true,
        ...(url.sslRootCert === undefined ? {} : { ca: readPem(url, url.sslRootCert) }),
        ...clientIdentity(url),
      };
  }
}

function clientIdentity(url: PostgresUrl): Pick<ConnectionOptions, 'cert' | 'key'> {
  const { clientCertificate } = url;
  if (clientCertificate === undefined) return {};
  return { cert: readPem(url, clientCertificate.certificate), key: readPem(url, clientCertificate.key) };
}

/** @throws DriverFailure with phase `not-sent` */
function readPem(url: PostgresUrl, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = messageOf(error);
    throw notSent(`${describeUrl(url)}: cannot read a certificate: ${reason}`, error);
  }
}
