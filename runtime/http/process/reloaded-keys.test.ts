import { expect, it } from 'vitest';
import { parse } from '../../config/test-support/configs.js';
import { keyRows } from '../../config/test-support/key-table.js';
import type { FwConfig } from '../../config/types.js';
import { ReloadRefusedError } from '../../errors.js';
import { describeChange, topologyChanges } from '../../sharding/topology-changes.js';
import { requireSafe } from '../../sharding/topology-reload.js';
import { keysForRestart } from './config-reload.js';

const STARTED = `fw:
  namespace: example
  migrate-at-start: true
  sharding:
    default-shard: { group: 0, member: 0 }
    maximum-connections: 50
    groups:
      - { group: 0, name: global, members: [{ member: 0, name: only, configs: { primary-config: { jdbc-url: "jdbc:postgresql://a:1/a", username: u, password: p } } }] }
      - group: 1
        name: second
        members:
          - member: 1
            name: second-1
            weight: 1
            draining: false
            configs:
              primary-config:
                jdbc-url: jdbc:postgresql://b:1/b
                username: wallet
                password: secret
                driver-class-name: org.postgresql.Driver
                maximum-pool-size: 20
                connect-timeout-ms: 900
                lock-timeout-ms: 500
                statement-timeout-ms: 9000
                application-name: first
                allow-unsafe: [fsync]
                pooler: none
              secondary-config: { jdbc-url: "jdbc:postgresql://c:1/b", username: u, password: p }
              jobs-config: { jdbc-url: "jdbc:postgresql://d:1/d", username: u, password: p }
  execution: { timeout-ms: 1000, maximum-attempts: 3, store-params: true, key-retention-ms: 90000000, remembered-models: 100, slow-ms: 500 }
  retention: { keep-days: 30 }
  access: { requests-per-second: 50 }
  http: { tls: { certificate: a.pem, key: a.key }, cors: { origins: ["https://a.example"] } }
  relay: { sinks: [{ name: hooks, webhook: { url: "https://a.example", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" } }] }
  generator: { source: src, output: src/generated, migrations: src/migrations, templates: t, client: c, title: T, version: 1.0.0 }
`;

/** A server's reaction to a changed file, one line per message. */
function effectOf(started: FwConfig, next: FwConfig): readonly string[] {
  const restart = keysForRestart(started, next).map((key) => `restart: ${key}`);
  const changes = topologyChanges(started.sharding, next.sharding);
  try {
    requireSafe(changes, started.sharding, next.sharding);
  } catch (error) {
    if (!(error instanceof ReloadRefusedError)) throw error;
    return [...restart, `refused: ${error.message}`];
  }
  return [...restart, ...changes.map(describeChange)];
}

const POOL = 'shard (1, 1): connection settings changed';
const MEMBER = 'fw.sharding.groups[].members[]';
const PRIMARY = `${MEMBER}.configs.primary-config`;

const DEFAULT_SHARD = [
  '{ group: 0, member: 0 }\n',
  '{ group: 1, member: 1 }\n',
  'refused: the default shard holds',
] as const;

/** By key: what is written in its place, and what a server that has the file from before says. */
const EFFECTS: readonly (readonly [key: string, from: string, to: string, ...effect: string[]])[] = [
  ['fw.namespace', 'namespace: example', 'namespace: other', 'restart: fw.namespace'],
  ['fw.migrate-at-start', 'start: true', 'start: false', 'restart: fw.migrate-at-start'],
  ['fw.sharding.default-shard.group', ...DEFAULT_SHARD],
  ['fw.sharding.default-shard.member', ...DEFAULT_SHARD],
  ['fw.sharding.maximum-connections', 'connections: 50', 'connections: 51', 'refused: maximum-connections'],
  ['fw.sharding.groups[].group', 'group: 1\n', 'group: 2\n', 'shard (1, 1) removed', 'shard (2, 1) added'],
  ['fw.sharding.groups[].name', 'name: second\n', 'name: other\n', 'group 1 renamed to other'],
  [`${MEMBER}.member`, 'member: 1\n', 'member: 2\n', 'shard (1, 1) removed', 'shard (1, 2) added'],
  [`${MEMBER}.name`, 'name: second-1', 'name: other', 'shard (1, 1): renamed to other'],
  [`${MEMBER}.weight`, 'weight: 1', 'weight: 2', 'shard (1, 1): weight 2'],
  [`${MEMBER}.draining`, 'draining: false', 'draining: true', 'shard (1, 1): drains'],
  [`${PRIMARY}.jdbc-url`, '//b:1/b', '//b:2/b', 'shard (1, 1) moved to another server or database'],
  [`${PRIMARY}.username`, 'username: wallet', 'username: other', POOL],
  [`${PRIMARY}.password`, 'password: secret', 'password: rotated', POOL],
  // The URL already implies it.
  [`${PRIMARY}.driver-class-name`, 'driver-class-name: org.postgresql.Driver', ''],
  [`${PRIMARY}.maximum-pool-size`, 'size: 20', 'size: 21', POOL],
  [`${PRIMARY}.connect-timeout-ms`, 'connect-timeout-ms: 900', 'connect-timeout-ms: 901', POOL],
  [`${PRIMARY}.lock-timeout-ms`, 'lock-timeout-ms: 500', 'lock-timeout-ms: 501', POOL],
  [`${PRIMARY}.statement-timeout-ms`, 'statement-timeout-ms: 9000', 'statement-timeout-ms: 9001', POOL],
  [`${PRIMARY}.application-name`, 'application-name: first', 'application-name: other', POOL],
  [`${PRIMARY}.allow-unsafe`, '[fsync]', '[full_page_writes]', POOL],
  [`${PRIMARY}.pooler`, 'pooler: none', 'pooler: pgbouncer', POOL],
  [`${MEMBER}.configs.secondary-config`, '//c:1/b', '//c:2/b', 'shard (1, 1): replica changed'],
  [`${MEMBER}.configs.<name>-config`, '//d:1/d', '//d:2/d', 'shard (1, 1): further configurations changed'],
  ['fw.execution.timeout-ms', 'timeout-ms: 1000,', 'timeout-ms: 1001,', 'restart: fw.execution.timeout-ms'],
  ['fw.execution.maximum-attempts', 'attempts: 3', 'attempts: 4', 'restart: fw.execution.maximum-attempts'],
  ['fw.execution.store-params', 'params: true', 'params: false', 'restart: fw.execution.store-params'],
  ['fw.execution.key-retention-ms', ': 90000000', ': 90000001', 'restart: fw.execution.key-retention-ms'],
  ['fw.execution.remembered-models', 'models: 100', 'models: 0', 'restart: fw.execution.remembered-models'],
  ['fw.execution.slow-ms', 'slow-ms: 500', 'slow-ms: 0', 'restart: fw.execution.slow-ms'],
  ['fw.retention.keep-days', 'keep-days: 30', 'keep-days: 31', 'restart: fw.retention.keep-days'],
  // One message for the whole section.
  ['fw.access', 'requests-per-second: 50', 'requests-per-second: 51', 'restart: fw.access'],
  ['fw.http', 'certificate: a.pem', 'certificate: b.pem', 'restart: fw.http'],
  ['fw.relay', 'url: "https://a.example"', 'url: "https://b.example"', 'restart: fw.relay'],
  // Only the generator reads them.
  ['fw.generator', 'source: src, output: src/generated', 'source: s, output: src/made'],
];

it.each(EFFECTS)('a changed %s takes effect, is refused or needs a restart', (_, from, to, ...effect) => {
  expect(STARTED).toContain(from);
  const said = effectOf(parse(STARTED), parse(STARTED.replace(from, to)));
  expect(said).toHaveLength(effect.length);
  for (const [index, text] of effect.entries()) expect(said[index]).toContain(text);
});

it('only a restart replaces a server by an embedded database, or the other way round', () => {
  const server = 'jdbc-url: "jdbc:postgresql://a:1/a", username: u, password: p';
  const embedded = STARTED.replace(server, 'jdbc-url: "jdbc:pglite:mem:data"');
  const reason = 'shard (0, 0) is an embedded database, which only a restart can change';
  expect(effectOf(parse(STARTED), parse(embedded))).toEqual([expect.stringContaining(reason)]);
  expect(effectOf(parse(embedded), parse(STARTED))).toEqual([expect.stringContaining(reason)]);
});

it('every key of the catalogue is among these', () => {
  const sections = new Set(
    keyRows()
      .filter(({ type }) => type === 'section' || type.startsWith('list, '))
      .map(({ path }) => path),
  );
  const keys = keyRows().map(({ path }) => path);
  const tested = new Set(EFFECTS.map(([key]) => key));
  const isTested = (key: string): boolean =>
    tested.has(key) || /^fw\.(access|http|relay|generator)\./.test(key);
  expect(keys.filter((key) => !sections.has(key) && !isTested(key))).toEqual([]);
  expect([...tested].filter((key) => !keys.includes(key))).toEqual([]);
});
