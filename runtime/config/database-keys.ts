import type {
  ChoiceKey,
  ChoicesKey,
  DefaultedIntegerKey,
  DefaultedTextKey,
  JdbcUrlKey,
  Key,
  SecretKey,
  TextKey,
} from './keys.js';
import type { Pooler, UnsafeSetting } from './types.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const jdbcUrl: JdbcUrlKey = {
  kind: 'jdbc-url',
  name: 'jdbcUrl',
  required: true,
  doc: 'URL of the database: `jdbc:postgresql://host:port/database`, `jdbc:pglite:file:<directory>` or `jdbc:pglite:mem:<name>`.',
};

export const username: TextKey = {
  kind: 'text',
  name: 'username',
  maximumLength: 63,
  doc: 'Database user. Required for PostgreSQL; the embedded database has no users and ignores it.',
};

export const password: SecretKey = {
  kind: 'secret',
  name: 'password',
  maximumLength: 4_096,
  doc: 'Password of the user. Never shown in a message. Take it from the environment or from a file.',
};

export const driverClassName: TextKey = {
  kind: 'text',
  name: 'driverClassName',
  maximumLength: 128,
  doc: 'Must agree with the URL when given: `org.postgresql.Driver` or `fw.pglite.Driver`.',
};

export const maximumPoolSize: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'maximumPoolSize',
  minimum: 1,
  maximum: 1_000,
  default: 10,
  doc: 'Maximum number of open connections.',
};

export const connectTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'connectTimeoutMs',
  minimum: 1,
  maximum: 10 * MINUTE,
  default: 800,
  doc: 'Timeout for opening a connection, in milliseconds.',
};

export const lockTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'lockTimeoutMs',
  minimum: 1,
  maximum: 10 * MINUTE,
  default: 400,
  doc: '`lock_timeout` of every session, in milliseconds.',
};

export const statementTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'statementTimeoutMs',
  minimum: 1,
  maximum: HOUR,
  default: 10 * SECOND,
  doc: '`statement_timeout` of every session and the client-side timeout of one statement, in milliseconds.',
};

export const idleInTransactionTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'idleInTransactionTimeoutMs',
  minimum: 1,
  maximum: HOUR,
  default: 10 * SECOND,
  doc: '`idle_in_transaction_session_timeout` of every session, in milliseconds.',
};

export const idleTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'idleTimeoutMs',
  minimum: 1,
  maximum: HOUR,
  default: 30 * SECOND,
  doc: 'A pooled connection that has been idle for this time is closed, in milliseconds.',
};

export const maximumLifetimeMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'maximumLifetimeMs',
  minimum: 1_000,
  maximum: 24 * HOUR,
  default: 30 * MINUTE,
  doc: 'A pooled connection that reaches this age is closed when it is next idle and reopened on demand, in milliseconds.',
};

export const applicationName: DefaultedTextKey = {
  kind: 'text',
  name: 'applicationName',
  maximumLength: 63,
  default: 'fw-actions',
  doc: '`application_name` of every session, as `pg_stat_activity` shows it.',
};

export const allowUnsafe: ChoicesKey<UnsafeSetting> = {
  kind: 'choices',
  name: 'allowUnsafe',
  choices: ['fsync', 'full_page_writes', 'synchronous_commit'],
  doc: 'Durability settings of the server that may be off, at the risk of losing acknowledged commits. A start fails if any other durability setting is off.',
};

export const pooler: ChoiceKey<Pooler> = {
  kind: 'choice',
  name: 'pooler',
  choices: ['none', 'pgbouncer', 'pgbouncer-1.21'],
  default: 'none',
  doc: 'Pooler in front of the server: none, PgBouncer in transaction mode, or PgBouncer 1.21 or newer with prepared statements (`max_prepared_statements` above 0). The embedded database ignores it.',
};

/** Every key of one database. */
export const dataSourceKeys: readonly Key[] = [
  jdbcUrl,
  username,
  password,
  driverClassName,
  maximumPoolSize,
  connectTimeoutMs,
  lockTimeoutMs,
  statementTimeoutMs,
  idleInTransactionTimeoutMs,
  idleTimeoutMs,
  maximumLifetimeMs,
  applicationName,
  allowUnsafe,
  pooler,
];
