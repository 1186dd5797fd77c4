import type { FwConfig, MemberConfig, PostgresUrl } from '../../config/types.js';

/** A shard that a connector can read. */
export interface ConnectedShard {
  readonly member: MemberConfig;
  readonly url: PostgresUrl;
  /** Part of names of files, slots and connectors: `1-0`. */
  readonly key: string;
}

/** What a configuration's connectors are made from. */
export type ConnectorConfig = Pick<FwConfig, 'namespace' | 'sharding'>;

export const PUBLICATION = 'fw_outbox';
export const CONNECTOR_ROLE = 'fw_debezium';
/** Kafka Connect reads it by its provider of environment variables. */
export const PASSWORD_VARIABLE = 'FW_DEBEZIUM_PASSWORD';

/** Slots belong to the whole server, on which several shards may be. */
export function slotOf(key: string): string {
  return `fw_outbox_${key.replace('-', '_')}`;
}
