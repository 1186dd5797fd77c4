import type { ShardIdentifier } from '../domain/shard-identifier.js';

/** A validated, frozen topology. Created by `loadConfig` from YAML or by `ShardingConfig.of` in code. */
export interface ShardingTopology {
  /** The shard of models without a sharded id. Always one of the listed shards. */
  readonly defaultShard: ShardIdentifier;
  /** Maximum connections of this process over all databases. Default: the sum of the pools' maximums. */
  readonly maximumConnections?: number | undefined;
  readonly groups: readonly {
    /** 0..255 */
    readonly group: number;
    readonly name: string;
    readonly members: readonly MemberConfig[];
  }[];
}

/** One shard of a group, validated. */
export interface MemberConfig {
  readonly shard: ShardIdentifier;
  readonly name: string;
  /** Share of its group's new ids under the policy `weighted`. Default 1. */
  readonly weight?: number;
  /** Whether it receives no new ids. Default false. */
  readonly draining?: boolean;
  readonly primary: DataSourceConfig;
  /** A read replica, if configured (`secondary-config`). */
  readonly secondary: DataSourceConfig | undefined;
  /** Other named configurations for the application (`configFor('jobsConfig')`), by camelCase name. */
  readonly others: Readonly<Record<string, DataSourceConfig>>;
}

/** Address and settings of one database. */
export interface DataSourceConfig {
  /**
   * The parsed JDBC URL: a PostgreSQL server and how to connect to it, or an embedded database and where it stores its
   * data.
   */
  readonly url:
    | {
        readonly kind: 'postgresql';
        /** Host name or address, without brackets. */
        readonly host: string;
        /** Default 5432. */
        readonly port: number;
        readonly database: string;
        /** Default `disable`. Never falls back silently. */
        readonly sslMode: 'disable' | 'require' | 'verify-full';
        /** Absolute path of a PEM file with the CA certificates (`sslrootcert`); only with `verify-full`. */
        readonly sslRootCert: string | undefined;
        /** The client's certificate (`sslcert`, `sslkey`). Absent: none. */
        readonly clientCertificate?: {
          /** Absolute path of a PEM file: the certificate, followed by those of intermediate authorities. */
          readonly certificate: string;
          /** The same for its unencrypted private key. */
          readonly key: string;
        };
      }
    | {
        readonly kind: 'pglite';
        /**
         * `file`: the absolute path of a directory (a relative one is resolved against the configuration file's folder).
         * `mem`: a name; the data is lost when the process ends.
         */
        readonly storage: 'file' | 'mem';
        readonly location: string;
      };
  /** Default: none (PGlite), required for PostgreSQL. */
  readonly username: string | undefined;
  readonly password: Secret | undefined;
  /** Maximum open connections. Default 10. */
  readonly maximumPoolSize: number;
  /** Time limit for opening a connection, in milliseconds. Default 800. */
  readonly connectTimeoutMs: number;
  /** `lock_timeout` of every session, in milliseconds. Default 400. */
  readonly lockTimeoutMs: number;
  /**
   * `statement_timeout` of every session and the client-side timeout of one statement, in milliseconds. Default 10,000.
   */
  readonly statementTimeoutMs: number;
  /** `application_name` of every session. Default `fw-actions`. */
  readonly applicationName: string;
  /**
   * Server settings that may lose acknowledged commits and are accepted despite that: `fsync`, `full_page_writes`,
   * `synchronous_commit`. Default none.
   */
  readonly allowUnsafe: readonly ('fsync' | 'full_page_writes' | 'synchronous_commit')[];
  /**
   * The connection pooler between this process and the server. `none`: a session belongs to one connection. `pgbouncer`:
   * PgBouncer in transaction mode, of any version, so statements are unnamed. `pgbouncer-1.21`: PgBouncer 1.21 or newer
   * in transaction mode, which tracks prepared statements per client. Default `none`. The embedded database ignores it.
   */
  readonly pooler: 'none' | 'pgbouncer' | 'pgbouncer-1.21';
}

/** A parsed JDBC URL. */
export type DatabaseUrl = DataSourceConfig['url'];

/** A parsed URL of a PostgreSQL server. */
export type PostgresUrl = Extract<DatabaseUrl, { readonly kind: 'postgresql' }>;

/** A value that is never printed: `toString`, JSON and inspection return `***`. */
export interface Secret {
  reveal(): string;
}

/** Defaults of every execution. Times are in milliseconds. */
export interface ExecutionDefaults {
  /** Deadline over all attempts. Default 1,800. */
  readonly timeoutMs: number;
  /** Attempts, including the first. Default 4. */
  readonly maximumAttempts: number;
  /** Whether `params` are stored in `eventlog.actions`. Default true. */
  readonly storeParams: boolean;
  /** How long an idempotency key is stored, in milliseconds. Default 86,400,000 (24 hours). */
  readonly keyRetentionMs: number;
  /** Maximum committed models that the process remembers, over all shards. Default 10,000; 0: none. */
  readonly rememberedModels: number;
  /** An execution that takes longer is logged, in milliseconds. Default 1,000; 0: none. */
  readonly slowMs: number;
}

/** Where the relay sends events. */
export interface RelayConfig {
  /** Prefix of `/schemas/...`, without a trailing slash. Undefined: messages name no schema. */
  readonly schemaBaseUrl: string | undefined;
  readonly sinks: readonly SinkConfig[];
}

/** One sink: its receiver and its selection of events. */
export interface SinkConfig {
  readonly name: string;
  /** Former names, whose checkpoints the sink takes over. */
  readonly aliases: readonly string[];
  /** Format of the messages. Default `structured`. */
  readonly format: 'structured' | 'binary';
  /** Models whose events are sent. Empty: all models of the application. */
  readonly models: readonly string[];
  /** Events that are sent. Empty: all. */
  readonly events: readonly string[];
  /** Where a new sink begins in the log. Default `beginning`. */
  readonly startFrom: 'beginning' | 'now';
  /**
   * A sink has one of the following receivers: an HTTP endpoint to which events are posted, a stream of NATS JetStream,
   * or a topic of Kafka.
   */
  readonly webhook: { readonly url: string; readonly secret: Secret } | undefined;
  readonly nats:
    | {
        readonly servers: readonly string[];
        /** Template of the subject. Default `events.{model}.{event}`. */
        readonly subject: string;
        readonly username?: string | undefined;
        readonly password?: Secret | undefined;
        readonly token?: Secret | undefined;
        readonly tls: boolean;
      }
    | undefined;
  readonly kafka:
    | {
        readonly brokers: readonly string[];
        /** Template of the topic. Default `outbox.event.{model}`. */
        readonly topic: string;
        readonly tls: boolean;
        /** SASL mechanism. Default `scram-sha-512`; ignored without a user. */
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly username?: string | undefined;
        readonly password?: Secret | undefined;
      }
    | undefined;
}

/** Authentication, authorization and rate limits. */
export interface AccessConfig {
  /** Whether a route may be called if its action has no rule. Default `allow`. */
  readonly default: 'allow' | 'deny';
  /** The issuer and rules of accepted tokens. Undefined: tokens are refused. */
  readonly jwt:
    | {
        readonly issuer: string;
        readonly audience: string;
        /** URL of the issuer's key set (JWKS). Undefined: `.well-known/jwks.json` below the issuer. */
        readonly jwksUrl: string | undefined;
        /** Claims of the token that are copied to the principal. */
        readonly claims: readonly string[];
      }
    | undefined;
  /** Whether API keys are accepted. Default false. */
  readonly apiKeys: boolean;
  /** Which name of a client certificate is the principal. Default `off`: certificates do not authenticate callers. */
  readonly clientCertificates: 'off' | 'common-name' | 'dns' | 'uri' | 'email';
  /** Restricts callers to groups of shards. Undefined: every caller reaches every group. */
  readonly tenancy:
    | {
        /** Claim with the name of a group, or a list of names. */
        readonly claim: string;
        /** The claim value of callers who reach every group. Undefined: none. */
        readonly unrestricted: { readonly claim: string; readonly value: string } | undefined;
      }
    | undefined;
  /** The claim value of callers who see why a shard is down, and the lives of models. Undefined: no caller does. */
  readonly operators: { readonly claim: string; readonly value: string } | undefined;
  /** Maximum rate per principal and route. Undefined: no limit. */
  readonly requestsPerSecond: number | undefined;
  /**
   * Whether all processes count the rate together, on the default shard. While it does not answer, each process counts
   * alone. Default false.
   */
  readonly sharedLimits: boolean;
  /** Maximum concurrent requests per principal. Undefined: no limit. */
  readonly concurrentRequests: number | undefined;
  /** Accepted values of the `Host` header. Empty: any. */
  readonly hosts: readonly string[];
}

/** The content of `fw.config.yaml`. */
export interface FwConfig {
  /** Absolute path of the file. */
  readonly file: string;
  readonly namespace: string;
  /** False: migrations run separately, and the start only verifies them. */
  readonly migrateAtStart: boolean;
  readonly sharding: ShardingTopology;
  readonly access: AccessConfig;
  /** Network settings of the server. */
  readonly http: {
    /**
     * The server's certificate, and the certificates that it requires of clients. Paths are absolute. Undefined: plain
     * HTTP.
     */
    readonly tls:
      | {
          readonly certificate: string;
          readonly key: string;
          /** Authorities of client certificates. Undefined: the server requests no client certificate. */
          readonly clientAuthorities: string | undefined;
          /** Whether clients must present a certificate. Default `optional`. */
          readonly clientCertificates: 'optional' | 'required';
          /** `max-age` of `Strict-Transport-Security`, in seconds. 0: the header is left out. Default 31,536,000. */
          readonly strictTransportSeconds: number;
        }
      | undefined;
    /** Cross-origin requests that the server allows. Undefined: browsers may not call it from other origins. */
    readonly cors:
      | {
          /** `*`: every origin. */
          readonly origins: readonly string[];
          /** Whether requests may carry credentials. Default false. */
          readonly credentials: boolean;
        }
      | undefined;
    /** Name, e-mail address or URL for questions, in the API document. */
    readonly contact: string | undefined;
    /** Terms of use, in the API document: an SPDX identifier or another name. */
    readonly license: string | undefined;
  };
  readonly execution: ExecutionDefaults;
  /** Of the event log and the audit trail. */
  readonly retention: {
    /** Minimum age at which rows are deleted, in days. Undefined: nothing is deleted. */
    readonly keepDays: number | undefined;
  };
  /** Absent if the file has no `fw.relay`. */
  readonly relay: RelayConfig | undefined;
  /**
   * Inputs and outputs of `fw-gen generate`. Paths are absolute, resolved against the configuration file's folder.
   * Absent if the file has no `fw.generator`.
   */
  readonly generator:
    | {
        /** Folder that contains all inputs. */
        readonly source: string;
        /** Folder of emitted code. */
        readonly output: string;
        /** Folder of the application's migrations. */
        readonly migrations: string;
        /** Folder of the user's own templates, if there is one. */
        readonly templates: string | undefined;
        /** Folder of the emitted client. Undefined: no client is emitted. */
        readonly client: string | undefined;
        /** Title of the API document. Undefined: the namespace. */
        readonly title: string | undefined;
        /** Version of the API document. Default `1.0.0`. */
        readonly version: string;
      }
    | undefined;
}

/** A configuration for a command that connects to no database. Undefined: the shards are unused and unknown. */
export type ProjectConfig = Omit<FwConfig, 'sharding'> & {
  readonly sharding: FwConfig['sharding'] | undefined;
};
