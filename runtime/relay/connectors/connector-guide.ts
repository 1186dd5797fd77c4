import {
  CONNECTOR_ROLE,
  type ConnectedShard,
  type ConnectorConfig,
  PASSWORD_VARIABLE,
  slotOf,
} from './connector-names.js';

/** Instructions for using the files, step by step. */
export function connectorGuide({ namespace }: ConnectorConfig, shards: readonly ConnectedShard[]): string {
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
