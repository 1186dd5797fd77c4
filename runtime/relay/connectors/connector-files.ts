import type { FwConfig } from '../../config/types.js';
import { ValidationError } from '../../errors.js';
import { connectorGuide } from './connector-guide.js';
import {
  CONNECTOR_ROLE,
  type ConnectedShard,
  type ConnectorConfig,
  PASSWORD_VARIABLE,
  PUBLICATION,
  slotOf,
} from './connector-names.js';

/** One Debezium connector in the format of Kafka Connect: `POST /connectors`. */
export interface Connector {
  readonly name: string;
  readonly config: Readonly<Record<string, string>>;
}

/**
 * Files of Debezium connectors by path: settings and SQL of each shard on a PostgreSQL server, and a guide.
 *
 * @throws ValidationError if there is no such shard: an embedded database has no replication
 */
export function connectorFiles(config: ConnectorConfig): ReadonlyMap<string, string> {
  const shards = connectedShards(config);
  if (shards.length === 0) {
    throw new ValidationError(
      'No shard of the configuration is on a PostgreSQL server. Debezium cannot read the embedded database; the relay can',
    );
  }
  const files = new Map<string, string>([['README.md', connectorGuide(config, shards)]]);
  for (const shard of shards) {
    files.set(`${shard.key}.json`, `${JSON.stringify(connectorOf(config, shard), null, 2)}\n`);
    files.set(`${shard.key}.sql`, sqlOf(shard));
  }
  return files;
}

function connectedShards({ sharding }: ConnectorConfig): readonly ConnectedShard[] {
  return sharding.groups.flatMap(({ members }) =>
    members.flatMap((member) => {
      const { url } = member.primary;
      if (url.kind !== 'postgresql') return [];
      return [{ member, url, key: `${member.shard.group}-${member.shard.member}` }];
    }),
  );
}

/** The settings of one shard's connector. */
export function connectorOf(
  { namespace }: Pick<FwConfig, 'namespace'>,
  { url, key }: ConnectedShard,
): Connector {
  const prefix = `${namespace.replace(/[^A-Za-z0-9._-]/g, '_')}.${key}`;
  return {
    name: `${prefix}-outbox`,
    config: {
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'tasks.max': '1',
      'database.hostname': url.host,
      'database.port': String(url.port),
      'database.dbname': url.database,
      'database.user': CONNECTOR_ROLE,
      'database.password': `\${env:${PASSWORD_VARIABLE}}`,
      'database.sslmode': url.sslMode,
      ...(url.sslRootCert === undefined ? {} : { 'database.sslrootcert': url.sslRootCert }),
      'topic.prefix': prefix,
      'plugin.name': 'pgoutput',
      'slot.name': slotOf(key),
      'publication.name': PUBLICATION,
      'publication.autocreate.mode': 'disabled',
      'table.include.list': 'eventlog.events',
      'snapshot.mode': 'no_data',
      'heartbeat.interval.ms': '10000',
      'heartbeat.action.query': "select pg_logical_emit_message(false, 'fw_heartbeat', '')",
      'tombstones.on.delete': 'false',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'header.converter': 'org.apache.kafka.connect.storage.StringConverter',
      ...outboxRouter(),
    },
  };
}

/** Standard settings of the outbox event router: its defaults, except for our column names. */
function outboxRouter(): Readonly<Record<string, string>> {
  const headers = [
    ['event_type', 'eventType'],
    ['event_version', 'eventVersion'],
    ['model_version', 'modelVersion'],
    ['trace_context', 'traceparent'],
  ];
  const settings = {
    type: 'io.debezium.transforms.outbox.EventRouter',
    'table.field.event.id': 'id',
    'table.field.event.key': 'model_id',
    'table.field.event.payload': 'payload',
    'table.fields.additional.placement': headers
      .map(([column, name]) => `${column}:header:${name}`)
      .join(','),
    'table.expand.json.payload': 'true',
    'route.by.field': 'model_name',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: The router replaces it.
    'route.topic.replacement': 'outbox.event.${routedByValue}',
    predicate: 'isEvent',
  };
  return {
    transforms: 'outbox',
    predicates: 'isEvent',
    'predicates.isEvent.type': 'org.apache.kafka.connect.transforms.predicates.TopicNameMatches',
    'predicates.isEvent.pattern': '.*\\.eventlog\\.events',
    ...Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [`transforms.outbox.${name}`, value]),
    ),
  };
}

function sqlOf({ member, url, key }: ConnectedShard): string {
  const slot = slotOf(key);
  return `-- Shard ${member.shard} ${member.name}: run in ${url.database} on ${url.host} as a superuser, before the connector starts.
-- The server needs wal_level = logical.
do $$ begin
  if not exists (select from pg_roles where rolname = '${CONNECTOR_ROLE}') then
    create role ${CONNECTOR_ROLE} login replication; -- set its password: \\password ${CONNECTOR_ROLE}
  end if;
end $$;
grant usage on schema eventlog to ${CONNECTOR_ROLE};
grant select on eventlog.events to ${CONNECTOR_ROLE};

-- Rows of every partition are published as rows of the partitioned table.
do $$ begin
  if not exists (select from pg_publication where pubname = '${PUBLICATION}') then
    create publication ${PUBLICATION} for table eventlog.events with (publish = 'insert', publish_via_partition_root = true);
  end if;
end $$;

-- The slot keeps the write-ahead log from here on, so the connector misses nothing, however late it starts.
select pg_create_logical_replication_slot('${slot}', 'pgoutput')
where not exists (select from pg_replication_slots where slot_name = '${slot}');
`;
}
