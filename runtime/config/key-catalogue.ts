import type {
  BooleanKey,
  ChoiceKey,
  ChoicesKey,
  DefaultedFolderKey,
  DefaultedIntegerKey,
  DefaultedTextKey,
  FolderKey,
  IntegerKey,
  JdbcUrlKey,
  Key,
  ListKey,
  SecretKey,
  SectionKey,
  TextKey,
} from './keys.js';
import type { Pooler, UnsafeSetting } from './types.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

// One database.

export const jdbcUrl: JdbcUrlKey = {
  kind: 'jdbc-url',
  name: 'jdbcUrl',
  required: true,
  doc: 'Where the database is: `jdbc:postgresql://host:port/database`, `jdbc:pglite:file:<directory>` or `jdbc:pglite:mem:<name>`.',
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
  doc: 'Most connections that are open at a time.',
};

export const connectTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'connectTimeoutMs',
  minimum: 1,
  maximum: 10 * MINUTE,
  default: 800,
  doc: 'Most time to open a connection, in milliseconds.',
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
  doc: "`statement_timeout` of every session and the client's own limit for one statement, in milliseconds.",
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
  doc: 'A pooled connection that was not used for so long is closed, in milliseconds.',
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
  doc: 'Server settings that may be off although acknowledged commits can then be lost. A server with any other of them off is refused at start.',
};

export const pooler: ChoiceKey<Pooler> = {
  kind: 'choice',
  name: 'pooler',
  choices: ['none', 'pgbouncer', 'pgbouncer-1.21'],
  default: 'none',
  doc: 'What stands before the server: nothing, PgBouncer in transaction mode, or PgBouncer 1.21 or newer that keeps prepared statements (`max_prepared_statements` above 0). The embedded database ignores it.',
};

const dataSourceKeys: readonly Key[] = [
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
  applicationName,
  allowUnsafe,
  pooler,
];

// The shards.

export const primaryConfig: SectionKey = {
  kind: 'section',
  name: 'primaryConfig',
  required: true,
  doc: 'The database of this shard. No other shard may name the same one.',
  keys: dataSourceKeys,
};

export const secondaryConfig: SectionKey = {
  kind: 'section',
  name: 'secondaryConfig',
  doc: 'A read replica of this shard, with the keys of `primary-config`.',
  keys: dataSourceKeys,
};

export const configs: SectionKey = {
  kind: 'section',
  name: 'configs',
  required: true,
  doc: 'The databases of this member.',
  keys: [primaryConfig, secondaryConfig],
  named: {
    suffix: 'Config',
    maximum: 16,
    doc: 'Any other name that ends in `-config`, with the keys of `primary-config`: kept for the application, which asks for it by its camelCase name (`configFor(member, "jobsConfig")`).',
    keys: dataSourceKeys,
  },
};

export const group: IntegerKey = {
  kind: 'integer',
  name: 'group',
  required: true,
  minimum: 0,
  maximum: 255,
  doc: 'Number of the group. It is part of every id, so it never changes.',
};

export const member: IntegerKey = {
  kind: 'integer',
  name: 'member',
  required: true,
  minimum: 0,
  maximum: 63,
  doc: 'Number of the member in its group. It is part of every id, so it never changes.',
};

export const groupName: TextKey = {
  kind: 'text',
  name: 'name',
  required: true,
  maximumLength: 128,
  doc: 'Name of the group, unique among the groups. Shown in logs and metrics.',
};

export const memberName: TextKey = {
  kind: 'text',
  name: 'name',
  required: true,
  maximumLength: 128,
  doc: 'Name of the member, unique in its group. Shown in logs and metrics.',
};

export const weight: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'weight',
  minimum: 0,
  maximum: 1_000,
  default: 1,
  doc: 'Share of the new ids of its group that this member gets under the placement policy `weighted`.',
};

export const draining: BooleanKey = {
  kind: 'boolean',
  name: 'draining',
  default: false,
  doc: 'Whether placement policies leave this member out: it serves what it has and gets no new ids.',
};

export const members: ListKey = {
  kind: 'list',
  name: 'members',
  required: true,
  minimum: 1,
  maximum: 64,
  doc: 'One entry per database of the group.',
  keys: [member, memberName, weight, draining, configs],
};

export const groups: ListKey = {
  kind: 'list',
  name: 'groups',
  required: true,
  minimum: 1,
  maximum: 256,
  doc: 'One entry per group (a business or policy boundary).',
  keys: [group, groupName, members],
};

export const defaultShardGroup: IntegerKey = { ...group, doc: 'Group of the default shard.' };

export const defaultShardMember: IntegerKey = { ...member, doc: 'Member of the default shard.' };

export const defaultShard: SectionKey = {
  kind: 'section',
  name: 'defaultShard',
  required: true,
  doc: 'Serves models whose id carries no shard. One of the listed shards.',
  keys: [defaultShardGroup, defaultShardMember],
};

export const maximumConnections: IntegerKey = {
  kind: 'integer',
  name: 'maximumConnections',
  minimum: 1,
  maximum: 100_000,
  doc: 'Most connections that this process has open at a time, over all shards and replicas. Without it, the pools alone are limited.',
};

export const sharding: SectionKey = {
  kind: 'section',
  name: 'sharding',
  required: true,
  doc: 'Which databases there are.',
  keys: [defaultShard, maximumConnections, groups],
};

// Executions.

export const timeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'timeoutMs',
  minimum: 1,
  maximum: HOUR,
  default: 1_800,
  doc: 'Deadline of one execution over all its attempts, in milliseconds.',
};

export const maximumAttempts: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'maximumAttempts',
  minimum: 1,
  maximum: 100,
  default: 4,
  doc: 'Attempts of one execution, the first one included.',
};

export const storeParams: BooleanKey = {
  kind: 'boolean',
  name: 'storeParams',
  default: true,
  doc: "Whether an action's parameters are stored in `eventlog.actions`, fields marked as secret left out.",
};

export const keyRetentionMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'keyRetentionMs',
  minimum: 60_000,
  maximum: 90 * 24 * HOUR,
  default: 24 * HOUR,
  doc: 'How long an idempotency key is kept, in milliseconds.',
};

export const execution: SectionKey = {
  kind: 'section',
  name: 'execution',
  doc: 'Defaults of every execution.',
  keys: [timeoutMs, maximumAttempts, storeParams, keyRetentionMs],
};

// The generator.

export const generatorSource: DefaultedFolderKey = {
  kind: 'folder',
  name: 'source',
  default: '.',
  doc: 'Folder that all inputs of the generator lie in.',
};

export const generatorOutput: FolderKey = {
  kind: 'folder',
  name: 'output',
  required: true,
  doc: 'Folder of the emitted code.',
};

export const generatorMigrations: FolderKey = {
  kind: 'folder',
  name: 'migrations',
  required: true,
  doc: "Folder of the application's migrations.",
};

export const generatorTemplates: FolderKey = {
  kind: 'folder',
  name: 'templates',
  doc: 'Folder of templates that take the place of those of `fw-gen`, and of templates for further files.',
};

export const generatorTitle: TextKey = {
  kind: 'text',
  name: 'title',
  maximumLength: 128,
  doc: 'Title of the API document. Default: the namespace.',
};

export const generatorVersion: DefaultedTextKey = {
  kind: 'text',
  name: 'version',
  maximumLength: 64,
  default: '1.0.0',
  doc: 'Version of the API document.',
};

export const generator: SectionKey = {
  kind: 'section',
  name: 'generator',
  doc: 'What `fw-gen generate` reads and writes.',
  keys: [
    generatorSource,
    generatorOutput,
    generatorMigrations,
    generatorTemplates,
    generatorTitle,
    generatorVersion,
  ],
};

// The whole.

export const namespace: TextKey = {
  kind: 'text',
  name: 'namespace',
  required: true,
  maximumLength: 128,
  doc: 'Written to the `namespace` column of every outbox row.',
};

export const fw: SectionKey = {
  kind: 'section',
  name: 'fw',
  required: true,
  doc: 'The whole configuration.',
  keys: [namespace, sharding, execution, generator],
};

/** The file itself: a map with the one key `fw`. */
export const root: SectionKey = {
  kind: 'section',
  name: '',
  required: true,
  doc: 'The configuration file.',
  keys: [fw],
};
