import { ExecutionConfiguration } from './action/execution-configuration.js';
import { assembleApplication } from './application.js';
import type { ApplicationDefinition } from './application-definition.js';
import type { FwConfig } from './config/types.js';
import { ShardedId } from './domain/id.js';
import { type Caller, principalName } from './domain/principal.js';
import { type ErrorCode, FwError, UnknownActionError, ValidationError } from './errors.js';
import { compileInput } from './http/input/compile-input.js';
import { parseJsonText } from './http/input/json-text.js';
import type { DatabaseRegistry } from './sharding/database-registry.js';

/** An action whose params are JSON. */
export interface JsonAction {
  /**
   * Reads a JSON object as the body of a request, with the rules of the params.
   *
   * @param key name of a field that is left out unless it is a param
   * @throws ValidationError
   */
  readonly read: (text: string, key?: string) => JsonCall;
  readonly close: () => Promise<void>;
}

/** One execution of such an action. */
export interface JsonCall {
  /** The first sharded id among the params. Calls of one model must keep their order. */
  readonly model: string | undefined;
  /** Runs the action under an idempotency key that does not expire. @throws its errors */
  readonly execute: (key: string) => Promise<void>;
}

interface JsonActionOptions {
  readonly application: ApplicationDefinition<unknown>;
  readonly databases: DatabaseRegistry;
  readonly config: FwConfig;
  /** Constructor arguments of its actions. */
  readonly collaborators: unknown;
  readonly caller: Caller;
  readonly warn: (message: string) => void;
}

/** Maximum nesting of a line, as of a request's body. */
const NESTING_DEPTH = 32;

/**
 * Opens an application on open databases, for one of its actions. Events are delivered by its service.
 *
 * @param name the stored name of the action
 * @throws UnknownActionError with the names that exist @throws ValidationError for an invalid caller
 */
export function openJsonAction(
  name: string,
  { application, databases, config, collaborators, caller, warn }: JsonActionOptions,
): JsonAction {
  principalName(caller);
  const { namespace, execution, access } = config;
  const { executor, registry, close } = assembleApplication(application, databases, {
    ...{ namespace, access, collaborators, warn },
    // Hundreds at once take long on a busy or embedded database, each of them.
    execution: { ...execution, slowMs: 0 },
    ...{ deliver: false, migrateAtStart: false },
  });
  // Names with a dot are the runtime's own.
  const actions = registry.all().filter((each) => !each.name.includes('.'));
  const action = actions.find((each) => each.name === name);
  if (action === undefined) {
    const known = actions.map((each) => each.name).sort();
    throw new UnknownActionError(`There is no action ${name}. Choose one of: ${known.join(', ')}.`);
  }
  const check = compileInput(action.params, 'body');
  const names = new Set(action.params.map((each) => each.name));
  const read = (text: string, key?: string): JsonCall => {
    const params = Object(parseJsonText(text, NESTING_DEPTH)) as Record<string, unknown>;
    if (key !== undefined && !names.has(key)) delete params[key];
    const problems = check(params);
    if (problems !== undefined) throw new ValidationError(problems.map(({ message }) => message).join('; '));
    const model = Object.values(params).find((each) => each instanceof ShardedId);
    const execute = async (key: string): Promise<void> => {
      const configuration = ExecutionConfiguration.Builder.executionConfiguration()
        .idempotencyKey(key, { expires: false })
        .build();
      // The check has made them what the action's class declares.
      await executor.execute(caller, action.actionClass, params as never, configuration);
    };
    return { model: model?.getValue(), execute };
  };
  return { read, close };
}

const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...([
    'FW_SHARD_UNAVAILABLE',
    'FW_SHARD_BUSY',
    'FW_DEADLINE_EXCEEDED',
    'FW_COMMIT_OUTCOME_UNKNOWN',
  ] as const),
  ...(['FW_STALE_MODEL', 'FW_ROW_BUSY', 'FW_KEY_BUSY'] as const),
]);

/** Whether another attempt under the same key may succeed: a shard is down or busy, or another writer was faster. */
export function mayPass(error: unknown): boolean {
  return error instanceof FwError && PASSING.has(error.code);
}
