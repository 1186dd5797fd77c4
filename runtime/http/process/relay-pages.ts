import { UnauthenticatedError } from '../../errors.js';
import { defaultLogger } from '../../observability/logger.js';
import { createMetrics, type MetricsSources } from '../../observability/prometheus.js';
import { NO_WRITERS, shardStatistics } from '../../observability/shard-statistics.js';
import type { SinkStatistics } from '../../relay/sink-definition.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { createHttpServer } from '../http-server.js';
import { shardHealth } from './shard-health.js';

/** A process that relays events and serves no application. */
export interface RelayPagesOptions {
  readonly databases: DatabaseRegistry;
  readonly statistics: () => readonly SinkStatistics[];
  /** As for the metrics. */
  readonly lag: NonNullable<MetricsSources['lag']>;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Pages that are served. */
export interface RelayPages {
  /** `http://127.0.0.1:9464` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/health/live`, `/health/ready` and `/metrics`, as a server of an application does.
 *
 * @throws the system's error, for instance with code `EADDRINUSE`
 */
export async function serveRelayPages(options: RelayPagesOptions): Promise<RelayPages> {
  const { databases, statistics: sinks, lag, host, port } = options;
  const log = defaultLogger();
  const server = createHttpServer({
    routes: [],
    executor: { execute: refuse },
    authenticator: refuse,
    health: shardHealth(databases, log),
    log,
    metrics: createMetrics({
      statistics: () => shardStatistics(databases, NO_WRITERS),
      lag,
      sinks,
    }),
  });
  const { url } = await server.listen({ host, port });
  return { url, close: () => server.close(0) };
}

/** There is no route that would call it. */
function refuse(): never {
  throw new UnauthenticatedError('This process serves no application');
}
