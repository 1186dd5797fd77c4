/** The package's `./config` entry: loads and validates `fw.config.yaml`. */
export { configFor } from './config-for.js';
export { configSchema } from './config-schema.js';
export { ConfigurationError, type ConfigurationProblem, formatProblem } from './configuration-error.js';
export type { ConfigSchema } from './key.js';
export { type Environment, loadConfig, parseConfig } from './load-config.js';
export { printConfig } from './print-config.js';
export { SecretText } from './secret.js';
export {
  type ConfigsInput,
  type DataSourceInput,
  type GroupInput,
  type MemberInput,
  type ShardInput,
  ShardingConfig,
  type ShardingInput,
} from './sharding-config.js';
export type {
  AccessConfig,
  ClientCertificate,
  CorsConfig,
  DatabaseUrl,
  DataSourceConfig,
  ExecutionDefaults,
  FwConfig,
  GeneratorConfig,
  GroupConfig,
  HttpConfig,
  JwtConfig,
  KafkaReceiver,
  MemberConfig,
  NatsReceiver,
  PgliteUrl,
  Pooler,
  PostgresUrl,
  RelayConfig,
  RetentionConfig,
  Secret,
  ShardingTopology,
  SinkConfig,
  TenancyConfig,
  TlsConfig,
  UnsafeSetting,
  WebhookReceiver,
} from './types.js';
