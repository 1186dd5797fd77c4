import { ShardIdentifier } from '../domain/shard-identifier.js';
import { databaseKey, driverClassName } from './jdbc-url.js';
import type { DefiniteKey } from './key.js';
import { boolean, choice, choices, integer, jdbcUrl, secret, text } from './kinds.js';
import { converted, list, required, type Section, type SectionKey, section } from './section.js';
import type { DatabaseUrl, DataSourceConfig, MemberConfig, ShardingTopology } from './types.js';

const HOUR = 3_600_000;

interface DataSourceRaw extends Omit<DataSourceConfig, 'url'> {
  readonly jdbcUrl: DatabaseUrl;
  readonly driverClassName: string | undefined;
}

/** @param check further rules of this database */
function dataSource(
  doc: string,
  check?: (at: Section, url: DatabaseUrl) => void,
): SectionKey<DataSourceConfig> {
  return converted<DataSourceRaw, DataSourceConfig>({
    doc,
    definition: 'database',
    keys: {
      jdbcUrl: jdbcUrl({
        main: true,
        required: true,
        doc: 'URL of the database: `jdbc:postgresql://host:port/database`, `jdbc:pglite:file:<directory>` or `jdbc:pglite:mem:<name>`.',
      }),
      username: text(63, {
        main: true,
        doc: 'Database user. Required for PostgreSQL; the embedded database has no users and ignores it.',
      }),
      password: secret(4_096, {
        main: true,
        doc: 'Password of the user. Never shown in a message. Take it from the environment or from a file.',
      }),
      driverClassName: text(128, {
        doc: 'Must agree with the URL when given: `org.postgresql.Driver` or `fw.pglite.Driver`.',
      }),
      maximumPoolSize: integer(1, 1_000, {
        main: true,
        default: 10,
        doc: 'Maximum number of open connections.',
      }),
      connectTimeoutMs: integer(1, 600_000, {
        default: 800,
        doc: 'Timeout for opening a connection, in milliseconds.',
      }),
      lockTimeoutMs: integer(1, 600_000, {
        default: 400,
        doc: '`lock_timeout` of every session, in milliseconds.',
      }),
      statementTimeoutMs: integer(1, HOUR, {
        default: 10_000,
        doc: '`statement_timeout` of every session and the client-side timeout of one statement, in milliseconds.',
      }),
      applicationName: text(63, {
        default: 'fw-actions',
        doc: '`application_name` of every session, as `pg_stat_activity` shows it.',
      }),
      allowUnsafe: choices(['fsync', 'full_page_writes', 'synchronous_commit'], {
        doc: 'Durability settings of the server that may be off, at the risk of losing acknowledged commits. A start fails if any other durability setting is off.',
      }),
      pooler: choice(['none', 'pgbouncer', 'pgbouncer-1.21'], {
        default: 'none',
        doc: 'Pooler in front of the server: none, PgBouncer in transaction mode, or PgBouncer 1.21 or newer with prepared statements (`max_prepared_statements` above 0). The embedded database ignores it.',
      }),
    },
    check({ jdbcUrl: url, driverClassName: driver }, at) {
      if (url === undefined) return;
      const expected = driverClassName(url.kind);
      const message = `this driver class does not belong to jdbc:${url.kind}`;
      if (driver !== undefined && driver !== expected)
        at.report('driverClassName', message, `use ${expected}, or remove the key`);
      if (url.kind === 'postgresql' && !at.has('username')) at.reportMissing('username');
      check?.(at, url);
    },
    value: ({ jdbcUrl: url, driverClassName: _, ...rest }) => ({ url, ...rest }),
    raw: ({ url, ...rest }) => ({ jdbcUrl: url, driverClassName: undefined, ...rest }),
  });
}

interface ConfigsRaw {
  readonly primaryConfig: DataSourceConfig;
  readonly secondaryConfig: DataSourceConfig | undefined;
}

type Configs = Pick<MemberConfig, 'primary' | 'secondary' | 'others'>;

const configs = converted<ConfigsRaw, Configs>({
  doc: 'The databases of this member.',
  keys: {
    primaryConfig: required(
      dataSource('The database of this shard. No other shard may name the same one.', (at, url) => {
        at.claim('database', 'jdbcUrl', '', databaseKey(url));
      }),
    ),
    secondaryConfig: dataSource('A read replica of this shard, with the keys of `primary-config`.'),
  },
  named: {
    suffix: 'Config',
    maximum: 16,
    key: dataSource(
      'Any other name that ends in `-config`, with the keys of `primary-config`. The application reads it by its camelCase name (`configFor(member, "jobsConfig")`).',
    ),
  },
  value: ({ primaryConfig, secondaryConfig, ...others }) => ({
    primary: primaryConfig,
    secondary: secondaryConfig,
    others,
  }),
  raw: ({ primary, secondary, others }) => ({
    ...others,
    primaryConfig: primary,
    secondaryConfig: secondary,
  }),
});

interface MemberRaw extends Pick<MemberConfig, 'name'> {
  readonly member: number;
  readonly weight: number;
  readonly draining: boolean;
  readonly configs: Configs;
}

const member = section<MemberRaw>({
  doc: 'One database of the group.',
  unique: { member: 'member number', name: 'member name' },
  keys: {
    member: integer(0, 63, {
      main: true,
      required: true,
      doc: 'Number of the member in its group. It is part of every id, so it never changes.',
    }),
    name: text(128, {
      main: true,
      required: true,
      doc: 'Name of the member, unique in its group. Shown in logs and metrics.',
    }),
    weight: integer(0, 1_000, {
      default: 1,
      doc: 'Weight of this member among the members of its group under the placement policy `weighted`.',
    }),
    draining: boolean({
      default: false,
      doc: 'Whether placement policies skip this member: it serves its existing ids and gets no new ones.',
    }),
    configs: required(configs),
  },
});

interface GroupRaw extends Omit<ShardingTopology['groups'][number], 'members'> {
  readonly members: readonly MemberRaw[];
}

const group = converted<GroupRaw, ShardingTopology['groups'][number]>({
  doc: 'One group.',
  unique: { group: 'group number', name: 'group name' },
  keys: {
    group: integer(0, 255, {
      main: true,
      required: true,
      doc: 'Number of the group. It is part of every id, so it never changes.',
    }),
    name: text(128, {
      main: true,
      required: true,
      doc: 'Name of the group, unique among the groups. Shown in logs and metrics.',
    }),
    members: list(member, { minimum: 1, maximum: 64, doc: 'One entry per database of the group.' }),
  },
  value: ({ group, name, members }) => ({
    group,
    name,
    members: members.map(({ member, configs, ...rest }) => ({
      shard: ShardIdentifier.of(group, member),
      ...rest,
      ...configs,
    })),
  }),
  raw: ({ group, name, members }) => ({
    group,
    name,
    members: members.map(({ shard, name, weight = 1, draining = false, ...configs }) => ({
      member: shard.member,
      name,
      weight,
      draining,
      configs,
    })),
  }),
});

const defaultShard = converted<Pick<ShardIdentifier, 'group' | 'member'>, ShardIdentifier>({
  doc: 'Serves models whose id carries no shard. One of the listed shards.',
  keys: {
    group: integer(0, 255, { main: true, required: true, doc: 'Group of the default shard.' }),
    member: integer(0, 63, { main: true, required: true, doc: 'Member of the default shard.' }),
  },
  value: ({ group, member }) => ShardIdentifier.of(group, member),
  raw: ({ group, member }) => ({ group, member }),
});

/** `fw.sharding` */
export const sharding: DefiniteKey<ShardingTopology> & SectionKey<ShardingTopology> = required(
  section<ShardingTopology>({
    doc: 'The databases, as groups of shards.',
    keys: {
      defaultShard: required(defaultShard),
      maximumConnections: integer(1, 100_000, {
        doc: 'Maximum number of open connections of this process over all shards and replicas. Default: only each pool is limited.',
      }),
      groups: list(group, {
        minimum: 1,
        maximum: 256,
        doc: 'One entry per group (a business or policy boundary).',
      }),
    },
    check({ defaultShard: shard, groups = [] }, at) {
      const listed = groups.some(({ members }) => members.some((member) => member.shard === shard));
      // After a problem in a group, the intended shards are unknown.
      if (shard !== undefined && at.isClean('groups') && !listed)
        at.report('defaultShard', `the default shard ${shard.toString()} is not listed under groups`);
    },
  }),
);
