import type { ShardIdentifier } from '../domain/shard-identifier.js';

/** A validated, frozen topology. Made by `loadConfig` from YAML or by `ShardingConfig.of` in code. */
export interface ShardingTopology {
  /** Serves models without a sharded id. Always one of the listed shards. */
  readonly defaultShard: ShardIdentifier;
  /** Most connections of this process over all databases. Default: what the pools allow. */
  readonly maximumConnections?: number;
  readonly groups: readonly GroupConfig[];
}

/** A group of shards, validated. */
export interface GroupConfig {
  /** 0..255 */
  readonly group: number;
  readonly name: string;
  readonly members: readonly MemberConfig[];
}

/** One shard of a group, validated. */
export interface MemberConfig {
  readonly shard: ShardIdentifier;
  readonly name: string;
  /** Share of its group's new ids under the policy `weighted`. Default 1. */
  readonly weight?: number;
  /** Gets no new ids. Default false. */
  readonly draining?: boolean;
  readonly primary: DataSourceConfig;
  /** A read replica, if configured (`secondary-config`). */
  readonly secondary: DataSourceConfig | undefined;
  /** Other named configurations, kept for the application (`configFor('jobsConfig')`), by camelCase name. */
  readonly others: Readonly<Record<string, DataSourceConfig>>;
}

/** Where one database is and how to use it. */
export interface DataSourceConfig {
  readonly url: DatabaseUrl;
  /** Default: none (PGlite), required for PostgreSQL. */
  readonly username: string | undefined;
  readonly password: Secret | undefined;
  /** Most connections open at a time. Default 10. */
  readonly maximumPoolSize: number;
  /** Most time to open a connection, in milliseconds. Default 800. */
  readonly connectTimeoutMs: number;
  /** `lock_timeout` of every session, in milliseconds. Default 400. */
  readonly lockTimeoutMs: number;
  /**
   * `statement_timeout` of every session and the client-side timeout of one statement, in milliseconds. Default 10,000.
   */
  readonly statementTimeoutMs: number;
  /** `idle_in_transaction_session_timeout`, in milliseconds. Default 10,000. */
  readonly idleInTransactionTimeoutMs: number;
  /** A pooled connection that has been idle for this time is closed, in milliseconds. Default: 30,000. */
  readonly idleTimeoutMs: number;
  /** A pooled connection of this age is closed when it is next idle, in milliseconds. Default: 1,800,000. */
  readonly maximumLifetimeMs: number;
  /** `application_name` of every session. Default `fw-actions`. */
  readonly applicationName: string;
  /**
   * Server settings that may lose acknowledged commits and are accepted all the same: `fsync`, `full_page_writes`,
   * `synchronous_commit`. Default none.
   */
  readonly allowUnsafe: readonly UnsafeSetting[];
  /** What stands between this process and the server. Default `none`. The embedded database ignores it. */
  readonly pooler: Pooler;
}

/** Server settings that lose committed transactions in a crash unless they are on. */
export type UnsafeSetting = 'fsync' | 'full_page_writes' | 'synchronous_commit';

/**
 * `none`: a session belongs to one connection. `pgbouncer`: PgBouncer in transaction mode, of any version, so that
 * statements are unnamed. `pgbouncer-1.21`: that version or a newer one, which keeps prepared statements apart.
 */
export type Pooler = 'none' | 'pgbouncer' | 'pgbouncer-1.21';

/** A parsed JDBC URL. */
export type DatabaseUrl = PostgresUrl | PgliteUrl;

/** Where a PostgreSQL server listens, and how to connect to it. */
export interface PostgresUrl {
  readonly kind: 'postgresql';
  /** Host name or address, without brackets. */
  readonly host: string;
  /** Default 5432. */
  readonly port: number;
  readonly database: string;
  /** Default `disable`. Never a silent fallback. */
  readonly sslMode: 'disable' | 'require' | 'verify-full';
  /** Absolute path of a PEM file with the CA certificates (`sslrootcert`); only with `verify-full`. */
  readonly sslRootCert: string | undefined;
  /** What this side shows of itself (`sslcert`, `sslkey`); absent: nothing. */
  readonly clientCertificate?: ClientCertificate;
}

/** Absolute paths of PEM files. */
export interface ClientCertificate {
  /** The certificate, those of intermediate authorities behind it. */
  readonly certificate: string;
  /** Its private key, not encrypted. */
  readonly key: string;
}

/** Where an embedded database keeps its data. */
export interface PgliteUrl {
  readonly kind: 'pglite';
  /**
   * `file`: the absolute path of a directory (a relative one was resolved against the configuration file's folder).
   * `mem`: a name; nothing is kept.
   */
  readonly storage: 'file' | 'mem';
  readonly location: string;
}

/** A value that never shows itself: `toString`, JSON and inspection give `***`. */
export interface Secret {
  reveal(): string;
}

/** Defaults of every execution, in milliseconds where a time. */
export interface ExecutionDefaults {
  /** Deadline over all attempts. Default 1,800. */
  readonly timeoutMs: number;
  /** Attempts, the first one included. Default 4. */
  readonly maximumAttempts: number;
  /** Whether `params` are stored in `eventlog.actions`. Default true. */
  readonly storeParams: boolean;
  /** How long an idempotency key is kept, in milliseconds. Default 86,400,000 (24 hours). */
  readonly keyRetentionMs: number;
}

/** How long the event log and the audit trail are kept. */
export interface RetentionConfig {
  /** How long rows are kept at least, in days. Undefined: nothing is deleted. */
  readonly keepDays: number | undefined;
  /** Time that one partition covers, in days. Default 7. */
  readonly partitionDays: number;
  /** Partitions that are made before they are needed. Default 4. */
  readonly partitionsAhead: number;
  /** How often one process does what is due on each shard, in milliseconds. Default 3,600,000. */
  readonly intervalMs: number;
  /** Whether processes that serve do it by themselves, where their role owns the tables. Default true. */
  readonly automatic: boolean;
}

/** Where the relay sends events. */
export interface RelayConfig {
  /** In front of `/schemas/...`, without a slash at its end. Undefined: messages name no schema. */
  readonly schemaBaseUrl: string | undefined;
  readonly sinks: readonly SinkConfig[];
}

/** One receiver, and what it gets. */
export interface SinkConfig {
  readonly name: string;
  /** Default `structured`. */
  readonly format: 'structured' | 'binary' | 'debezium';
  /** Default `stored`. */
  readonly versions: 'stored' | 'latest';
  /** Empty: all of the application. */
  readonly models: readonly string[];
  /** Empty: all. */
  readonly events: readonly string[];
  /** Default `park`. */
  readonly onRejected: 'park' | 'stop';
  /** Default `beginning`. */
  readonly startFrom: 'beginning' | 'now';
  /** Default 500. */
  readonly batchSize: number;
  /** Default 2. */
  readonly inFlight: number;
  /** Default 10,000. */
  readonly timeoutMs: number;
  /** Default 5. */
  readonly maximumAttempts: number;
  /** Default 200. */
  readonly retryDelayMs: number;
  readonly receiver: SinkReceiver;
}

/** Where a sink sends events. */
export type SinkReceiver = WebhookReceiver | NatsReceiver | KafkaReceiver;

/** A URL that events are posted to. */
export interface WebhookReceiver {
  readonly kind: 'webhook';
  readonly url: string;
  readonly secret: Secret;
}

/** A stream of NATS JetStream. */
export interface NatsReceiver {
  readonly kind: 'nats';
  readonly servers: readonly string[];
  /** Default `events.{model}.{event}`. */
  readonly subject: string;
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
  readonly token?: Secret | undefined;
  readonly tls: boolean;
}

/** A topic of Kafka. */
export interface KafkaReceiver {
  readonly kind: 'kafka';
  readonly brokers: readonly string[];
  /** Default `outbox.event.{model}`. */
  readonly topic: string;
  /** Default `fw-actions`. */
  readonly clientId: string;
  readonly tls: boolean;
  /** Default `scram-sha-512`; without meaning unless there is a user. */
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
}

/** Algorithms that a token may be signed with: asymmetric ones alone. */
export type JwtAlgorithm = `${'RS' | 'PS' | 'ES'}${256 | 384 | 512}` | 'EdDSA';

/** Whose tokens are taken. */
export interface JwtConfig {
  readonly issuer: string;
  readonly audience: string;
  /** Undefined: below the issuer. */
  readonly jwksUrl: string | undefined;
  /** Empty: the usual ones. */
  readonly algorithms: readonly JwtAlgorithm[];
  /** Default 5,000. */
  readonly clockToleranceMs: number;
  /** How long the last keys are used while the issuer does not answer, in milliseconds. Default 3,600,000. */
  readonly keepMs: number;
  /** Verified tokens that are remembered. Default 10,000. */
  readonly rememberedTokens: number;
  /** Claims of the token that the principal gets. */
  readonly claims: readonly string[];
}

/** Which groups of shards callers reach. */
export interface TenancyConfig {
  /** Holds the name of a group, or a list of names. */
  readonly claim: string;
  /** Callers who reach every group. Undefined: none. */
  readonly unrestricted: { readonly claim: string; readonly value: string } | undefined;
}

/** Who may call, and how much. */
export interface AccessConfig {
  /** Whether a route whose action has no rule may be called. Default `allow`. */
  readonly default: 'allow' | 'deny';
  /** Undefined: tokens are not taken. */
  readonly jwt: JwtConfig | undefined;
  /** Whether API keys are taken. Default false. */
  readonly apiKeys: boolean;
  /** Which name of a client certificate is the principal. Default `off`: certificates prove nothing. */
  readonly clientCertificates: 'off' | 'common-name' | 'dns' | 'uri' | 'email';
  /** Undefined: every caller reaches every group. */
  readonly tenancy: TenancyConfig | undefined;
  /** Per principal and route. Undefined: no limit. */
  readonly requestsPerSecond: number | undefined;
  /** Default: `requestsPerSecond`. */
  readonly burst: number | undefined;
  /** Whether all processes count `requestsPerSecond` together, and what holds while they cannot. Default `off`. */
  readonly sharedLimits: 'off' | 'lenient' | 'strict';
  /** Per principal. Undefined: no limit. */
  readonly concurrentRequests: number | undefined;
  /** Names that `Host` may have. Empty: any. */
  readonly hosts: readonly string[];
}

/** How the server proves who it is, and asks its clients to. Paths are absolute. */
export interface TlsConfig {
  readonly certificate: string;
  readonly key: string;
  /** Undefined: clients are not asked for a certificate. */
  readonly clientAuthorities: string | undefined;
  /** Default `optional`. */
  readonly clientCertificates: 'optional' | 'required';
  /** 0: the header is left out. Default 31,536,000. */
  readonly strictTransportSeconds: number;
}

/** Pages of other origins that may call the server. */
export interface CorsConfig {
  /** `*` stands for all. */
  readonly origins: readonly string[];
  /** Default false. */
  readonly credentials: boolean;
  /** Default 600. */
  readonly maxAgeSeconds: number;
}

/** How the server is reached. */
export interface HttpConfig {
  /** Undefined: it speaks HTTP. */
  readonly tls: TlsConfig | undefined;
  /** Undefined: no page of another origin may call it. */
  readonly cors: CorsConfig | undefined;
}

/** What `fw-gen generate` reads and writes. Paths are absolute, resolved against the configuration file. */
export interface GeneratorConfig {
  /** Folder that all inputs lie in. */
  readonly sourceDirectory: string;
  /** Folder of emitted code. */
  readonly outputDirectory: string;
  /** Folder of the application's migrations. */
  readonly migrationsDirectory: string;
  /** Folder of the user's own templates, if there is one. */
  readonly templatesDirectory: string | undefined;
  /** Folder of the emitted client, if there is to be one. */
  readonly clientDirectory: string | undefined;
  /** Title of the API document. Default: the namespace. */
  readonly title: string;
  /** Version of the API document. Default `1.0.0`. */
  readonly version: string;
}

/** The whole of `fw.config.yaml`. */
export interface FwConfig {
  /** Absolute path of the file. */
  readonly file: string;
  readonly namespace: string;
  /** False: migrations run separately, and a start only verifies. */
  readonly migrateAtStart: boolean;
  readonly sharding: ShardingTopology;
  readonly access: AccessConfig;
  readonly http: HttpConfig;
  readonly execution: ExecutionDefaults;
  readonly retention: RetentionConfig;
  /** Absent if the file has no `fw.relay`. */
  readonly relay: RelayConfig | undefined;
  /** Absent if the file has no `fw.generator`. */
  readonly generator: GeneratorConfig | undefined;
}
