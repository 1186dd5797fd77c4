import { ActionRegistry } from './action/action-registry.js';
import type { ApplicationDefinition } from './application-definition.js';
import { CODEGEN_VERSION } from './codegen/version.js';
import type { ExecutionDefaults, ShardingTopology } from './config/types.js';
import { openDatabases } from './databases.js';
import { type Clock, systemClock } from './domain/clock.js';
import { CodegenVersionError } from './errors.js';
import { ActionExecutor } from './execution/action-executor.js';
import { systemEnvironment } from './execution/execution-environment.js';
import { ShardGateways } from './execution/shard-gateways.js';
import { migrate } from './migration/migrate.js';
import { EventCatalog } from './persistence/event-catalog.js';
import { EventHistory } from './persistence/event-history.js';
import type { RepositoryContext } from './persistence/repository.js';
import type { DatabaseRegistry } from './sharding/database-registry.js';

/** What an application is wired with, over databases that are open. */
export interface AssemblyOptions<Collaborators> {
  /** Written to the `namespace` column of outbox rows. */
  readonly namespace: string;
  readonly execution?: Partial<ExecutionDefaults>;
  /** Constructor arguments of actions that are neither clock nor repository. */
  readonly collaborators: Collaborators;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** What an application is opened with. `loadConfig` gives `namespace`, `sharding` and `execution`. */
export interface ApplicationOptions<Collaborators> extends AssemblyOptions<Collaborators> {
  readonly sharding: ShardingTopology;
  /** Bring every shard's schema up to date first. Default true. */
  readonly migrate?: boolean;
  /** Told what operators should know. Default: standard error. */
  readonly warn?: (message: string) => void;
}

/** An open application: everything that callers and operators need. */
export interface Application {
  readonly executor: ActionExecutor;
  readonly databases: DatabaseRegistry;
  readonly repositories: RepositoryContext;
  readonly eventHistory: EventHistory;
  readonly registry: ActionRegistry;
  /** Waits for executions under way, then closes the databases. */
  close(): Promise<void>;
}

/**
 * Opens the databases, migrates them and wires executor and actions.
 *
 * @throws CodegenVersionError if the code was emitted for another runtime
 * @throws ShardIdentityError, UnsafeServerError, EmbeddedDatabaseLockedError, MigrationError, ShardUnavailableError
 */
export async function openApplication<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  options: ApplicationOptions<Collaborators>,
): Promise<Application> {
  requireCodegenVersion(application.codegenVersion);
  const { warn } = options;
  const databases = openDatabases(options.sharding, warn === undefined ? {} : { warn });
  try {
    if (options.migrate !== false) await migrate(databases, { migrations: application.migrations });
    return assembleApplication(application, databases, options);
  } catch (error) {
    await databases.close();
    throw error;
  }
}

/**
 * Wires executor and actions over databases that are open and migrated already. Closing the application closes them.
 *
 * @throws CodegenVersionError if the code was emitted for another runtime
 */
export function assembleApplication<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  databases: DatabaseRegistry,
  options: AssemblyOptions<Collaborators>,
): Application {
  requireCodegenVersion(application.codegenVersion);
  const { clock = systemClock } = options;
  const gateways = new ShardGateways(databases, options.namespace, new EventCatalog(application.events));
  const eventHistory = new EventHistory(gateways);
  const context = { clock, repositories: gateways, eventHistory };
  const registry = new ActionRegistry(application.wire(context, options.collaborators));
  const executor = new ActionExecutor({
    registry,
    gateways,
    models: application.models,
    environment: systemEnvironment(clock),
    ...(options.execution === undefined ? {} : { defaults: options.execution }),
  });
  const close = async (): Promise<void> => {
    await executor.close();
    await databases.close();
  };
  return { executor, databases, repositories: gateways, eventHistory, registry, close };
}

function requireCodegenVersion(version: number): void {
  if (version === CODEGEN_VERSION) return;
  throw new CodegenVersionError(
    `The generated code was made for codegen contract ${version}, this runtime has ${CODEGEN_VERSION}; ` +
      'run fw-gen generate with the installed version of fw-actions',
  );
}
