import { access } from './access-keys.js';
import { dataSourceKeys } from './database-keys.js';
import { http } from './http-keys.js';
import type {
  BooleanKey,
  DefaultedFolderKey,
  DefaultedIntegerKey,
  DefaultedTextKey,
  FolderKey,
  IntegerKey,
  ListKey,
  SectionKey,
  TextKey,
} from './keys.js';
import { relay } from './relay-keys.js';

export * from './access-keys.js';
export * from './database-keys.js';
export * from './http-keys.js';
export * from './relay-keys.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

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
    doc: 'Any other name that ends in `-config`, with the keys of `primary-config`. The application reads it by its camelCase name (`configFor(member, "jobsConfig")`).',
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
  doc: 'Weight of this member among the members of its group under the placement policy `weighted`.',
};

export const draining: BooleanKey = {
  kind: 'boolean',
  name: 'draining',
  default: false,
  doc: 'Whether placement policies skip this member: it serves its existing ids and gets no new ones.',
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
  doc: 'Maximum number of open connections of this process over all shards and replicas. Default: only each pool is limited.',
};

export const sharding: SectionKey = {
  kind: 'section',
  name: 'sharding',
  required: true,
  doc: 'The databases, as groups of shards.',
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
  doc: 'Maximum number of attempts of one execution, including the first.',
};

export const storeParams: BooleanKey = {
  kind: 'boolean',
  name: 'storeParams',
  default: true,
  doc: "Whether an action's parameters are stored in `eventlog.actions`, without the fields marked as secret.",
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

// Retention.

export const keepDays: IntegerKey = {
  kind: 'integer',
  name: 'keepDays',
  minimum: 1,
  maximum: 36_500,
  doc: 'Minimum age before events, actions and dependent rows are deleted, in days. Default: nothing is deleted.',
};

export const partitionDays: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'partitionDays',
  minimum: 1,
  maximum: 366,
  default: 7,
  doc: 'Time that one partition of `eventlog.events` and `eventlog.actions` covers, in days. A partition is dropped as a whole.',
};

export const partitionsAhead: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'partitionsAhead',
  minimum: 1,
  maximum: 366,
  default: 4,
  doc: 'Number of partitions created in advance.',
};

export const retentionIntervalMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'intervalMs',
  minimum: 60_000,
  maximum: 24 * HOUR,
  default: HOUR,
  doc: 'Interval between retention runs on each shard, in milliseconds. One server process runs each.',
};

export const retentionAutomatic: BooleanKey = {
  kind: 'boolean',
  name: 'automatic',
  default: true,
  doc: 'Whether server processes run retention themselves, if their role owns the tables. `fw-gen events retain` runs it in any case.',
};

export const retention: SectionKey = {
  kind: 'section',
  name: 'retention',
  doc: 'How long the event log and the audit trail are kept.',
  keys: [keepDays, partitionDays, partitionsAhead, retentionIntervalMs, retentionAutomatic],
};

// The generator.

export const generatorSource: DefaultedFolderKey = {
  kind: 'folder',
  name: 'source',
  default: '.',
  doc: 'Folder of the sources that the generator reads.',
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
  doc: 'Folder of templates that override those of `fw-gen` or emit additional files.',
};

export const generatorClient: FolderKey = {
  kind: 'folder',
  name: 'client',
  doc: 'Folder of a typed client for TypeScript. Default: none is emitted.',
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
    generatorClient,
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

export const migrateAtStart: BooleanKey = {
  kind: 'boolean',
  name: 'migrateAtStart',
  default: true,
  doc: 'Whether a starting process migrates its shards. `false`: run `fw-gen migrate up` separately; each shard is verified before its first use.',
};

export const fw: SectionKey = {
  kind: 'section',
  name: 'fw',
  required: true,
  doc: 'The whole configuration.',
  keys: [namespace, migrateAtStart, sharding, access, http, execution, retention, relay, generator],
};

/** The file itself: a map with the one key `fw`. */
export const root: SectionKey = {
  kind: 'section',
  name: '',
  required: true,
  doc: 'The configuration file.',
  keys: [fw],
};
