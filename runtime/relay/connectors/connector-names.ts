import type { FwConfig, MemberConfig, PostgresUrl } from '../../config/types.js';

/** A shard that a connector can read. */
export interface ConnectedShard {
  readonly member: MemberConfig;
  readonly url: PostgresUrl;
  /** Part of the names of files, slots and connectors: `1-0`. */
  readonly key: string;
}

/** The parts of a configuration from which connectors are created. */
export type ConnectorConfig = Pick<FwConfig, 'namespace' | 'sharding'>;

export const PUBLICATION = 'fw_outbox';
export const CONNECTOR_ROLE = 'fw_debezium';
/** Kafka Connect reads this environment variable through its configuration provider. */
export const PASSWORD_VARIABLE = 'FW_DEBEZIUM_PASSWORD';

/** Slot names are unique per server, and a server may have several shards. */
export function slotOf(key: string): string {
  return `fw_outbox_${key.replace('-', '_')}`;
}
