import type { FwConfig, MemberConfig, PostgresUrl } from '../../config/types.js';
import { ValidationError } from '../../errors.js';

interface ConnectedShard {
  readonly member: MemberConfig;
  readonly url: PostgresUrl;
  /** Part of the names of files, slots and connectors: `1-0`. */
  readonly key: string;
}

type ConnectorConfig = Pick<FwConfig, 'namespace' | 'sharding'>;

const PUBLICATION = 'fw_outbox';
const CONNECTOR_ROLE = 'fw_debezium';
/** Kafka Connect reads this environment variable through its configuration provider. */
const PASSWORD_VARIABLE = 'FW_DEBEZIUM_PASSWORD';

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

function connectorOf({ namespace }: ConnectorConfig, { url, key }: ConnectedShard): Connector {
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
      // The outbox event router with its defaults, except for our column names.
      transforms: 'outbox',
      predicates: 'isEvent',
      'predicates.isEvent.type': 'org.apache.kafka.connect.transforms.predicates.TopicNameMatches',
      'predicates.isEvent.pattern': '.*\\.eventlog\\.events',
      'transforms.outbox.type': 'io.debezium.transforms.outbox.EventRouter',
      'transforms.outbox.table.field.event.id': 'id',
      'transforms.outbox.table.field.event.key': 'model_id',
      'transforms.outbox.table.field.event.payload': 'payload',
      'transforms.outbox.table.fields.additional.placement':
        'event_type:header:eventType,event_version:header:eventVersion,' +
        'model_version:header:modelVersion,trace_context:header:traceparent',
      'transforms.outbox.table.expand.json.payload': 'true',
      'transforms.outbox.route.by.field': 'model_name',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: The router replaces it.
      'transforms.outbox.route.topic.replacement': 'outbox.event.${routedByValue}',
      'transforms.outbox.predicate': 'isEvent',
    },
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

/** Instructions for using the files, step by step. */
function connectorGuide({ namespace }: ConnectorConfig, shards: readonly ConnectedShard[]): string {
  const rows = shards.map(
    ({ member, url, key }) =>
      `| ${member.shard} ${member.name} | \`${url.host}:${url.port}/${url.database}\` | \`${key}.sql\` | \`${key}.json\` | \`${slotOf(key)}\` |`,
  );
  return `# Debezium connectors of ${namespace}

Written by \`fw-gen connectors\` from the configuration. Run it again after a change of the shards.

| Shard | Database | SQL | Connector | Slot |
|---|---|---|---|---|
${rows.join('\n')}

1. Set \`wal_level = logical\` on each server and restart it. Limit the write-ahead log that the server keeps for a stopped connector: \`max_slot_wal_keep_size\`.
2. Run each SQL file in its database as a superuser, statement by statement (\`psql -f\` without \`--single-transaction\`: PostgreSQL cannot create a slot in a transaction that has written). Set the password of \`${CONNECTOR_ROLE}\`.
3. Give Kafka Connect the password in the environment variable \`${PASSWORD_VARIABLE}\`, and let it read the environment:

   \`\`\`properties
   config.providers=env
   config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
   \`\`\`

4. Create each connector:

   \`\`\`sh
   curl --fail -H 'content-type: application/json' --data @${shards[0]?.key ?? '0-0'}.json http://localhost:8083/connectors
   \`\`\`

Events arrive in \`outbox.event.<model>\`, keyed by the id of the model, with the headers \`id\`, \`eventType\`, \`eventVersion\`, \`modelVersion\` and \`traceparent\`. The value is the payload. Sagas have events of their own in \`outbox.event.SagaRun\`.

Retention keeps events that a slot has not passed. To remove a connector, delete it and drop its slot: \`select pg_drop_replication_slot('<slot>')\`.
`;
}

/** Slot names are unique per server, and a server may have several shards. */
function slotOf(key: string): string {
  return `fw_outbox_${key.replace('-', '_')}`;
}
