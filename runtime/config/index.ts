/** The package's `./config` entry: loads and validates `fw.config.yaml`. */
export { configFor } from './config-for.js';
export { configSchema } from './config-schema.js';
export { ConfigurationError } from './configuration-error.js';
export { loadConfig, parseConfig } from './load-config.js';
export { printConfig } from './print-config.js';
export { SecretText } from './secret.js';
export { type DataSourceInput, ShardingConfig, type ShardingInput } from './sharding-config.js';
export type {
  AccessConfig,
  DataSourceConfig,
  ExecutionDefaults,
  FwConfig,
  MemberConfig,
  RelayConfig,
  Secret,
  ShardingTopology,
  SinkConfig,
} from './types.js';
