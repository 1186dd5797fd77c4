import * as keys from './key-catalogue.js';
import { checkDriverClass } from './read-scalar.js';
import type { SectionReader } from './section-reader.js';
import type { DatabaseUrl, DataSourceConfig } from './types.js';

/** Reads one database. Undefined only if problems were reported. */
export function readDataSource(section: SectionReader): DataSourceConfig | undefined {
  const url = section.jdbcUrl(keys.jdbcUrl);
  const username = section.text(keys.username);
  const rest = {
    username,
    password: section.secret(keys.password),
    maximumPoolSize: section.integer(keys.maximumPoolSize),
    connectTimeoutMs: section.integer(keys.connectTimeoutMs),
    lockTimeoutMs: section.integer(keys.lockTimeoutMs),
    statementTimeoutMs: section.integer(keys.statementTimeoutMs),
    idleInTransactionTimeoutMs: section.integer(keys.idleInTransactionTimeoutMs),
    idleTimeoutMs: section.integer(keys.idleTimeoutMs),
    maximumLifetimeMs: section.integer(keys.maximumLifetimeMs),
    applicationName: section.text(keys.applicationName),
    allowUnsafe: section.choices(keys.allowUnsafe),
    pooler: section.choice(keys.pooler),
  };
  checkDriver(section, url);
  if (url === undefined) return undefined;
  if (url.kind === 'postgresql' && section.locate(keys.username) === undefined) {
    section.reportMissing(keys.username);
  }
  return { url, ...rest };
}

function checkDriver(section: SectionReader, url: DatabaseUrl | undefined): void {
  const name = section.text(keys.driverClassName);
  const located = section.locate(keys.driverClassName);
  if (name === undefined || located === undefined || url === undefined) return;
  checkDriverClass(section.context, located, name, url);
}

/** Equal for two URLs of the same database. Never printed: it may contain values from the environment. */
export function databaseKey(url: DatabaseUrl): string {
  if (url.kind === 'pglite') return JSON.stringify([url.kind, url.storage, url.location]);
  return JSON.stringify([url.kind, url.host.toLowerCase(), url.port, url.database]);
}
