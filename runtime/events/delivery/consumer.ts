import { type Logger, SILENT, withFacts } from '../../domain/logger.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ValidationError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import { byStoredName, EventTypes } from '../log/event-types.js';
import type { LogSelection } from '../log/log-reader.js';
import type { Attempts } from './attempts.js';
import { DEFAULT_CONCURRENCY, HandlerAttempts } from './handler-attempts.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

/** A reader of the log with a lease and a checkpoint on each shard: a handler, or a sink of the relay. */
export interface Consumer {
  /** Identifies its checkpoints. */
  readonly name: string;
  /** Earlier names. Default none. */
  readonly aliases?: readonly string[];
  /** Where a consumer without a checkpoint on a shard begins. Default `beginning`. */
  readonly startFrom?: 'beginning' | 'now';
  readonly selection: Pick<LogSelection, 'eventTypes' | 'modelNames' | 'exceptModels' | 'withoutActions'>;
  /** Maximum models handled in parallel, on each shard. */
  readonly concurrency: number;
  /** Maximum unhandled events in memory before reading pauses. Default: 4,000. */
  readonly readAhead?: number;
  /** Whether it writes through the transaction that moves its checkpoint. Default false. */
  readonly transactional?: boolean;
  /** Tables that only it writes. Undefined: none is known, and they cannot be rebuilt. */
  readonly projection?: readonly string[] | undefined;
  /** Called once for each shard. */
  readonly attempts: (shard: ShardIdentifier) => Attempts;
  /** Called once delivery on a removed shard has stopped. */
  readonly left?: (shard: ShardIdentifier) => Promise<void>;
  /** Called once delivery has stopped. */
  readonly close?: () => Promise<void>;
}

/**
 * What a consumer selects, as its registration stores it: `event:<name>` and `model:<name>`, or `event:*` and
 * `model:*`, and `transactional`.
 */
export function selectionItems({ selection, transactional }: Consumer): readonly string[] {
  const { eventTypes = ['*'], modelNames = ['*'] } = selection;
  return [
    ...eventTypes.map((name) => `event:${name}`),
    ...modelNames.map((name) => `model:${name}`),
    ...(transactional === true ? ['transactional'] : []),
  ];
}

/** The items that `selected` does not include. `event:*` includes every event, `model:*` every model. */
export function missingItems(items: readonly string[], selected: readonly string[]): readonly string[] {
  const included = new Set(selected);
  return items.filter((item) => !included.has(item) && !included.has(`${item.split(':', 1)[0]}:*`));
}

export const SINK_PREFIX = 'relay:';

const NAME = /^[\x21-\x22\x24-\x7e]{1,100}$/;

/** @throws ValidationError if two handlers have the same name, a name or number is invalid, or upcasters are missing */
export function checkHandlers(handlers: readonly HandlerDescriptor[]): void {
  const names = new Set<string>();
  for (const { name, aliases = [], events, projection, transactional } of handlers) {
    for (const each of [name, ...aliases]) {
      if (!NAME.test(each)) {
        throw new ValidationError(
          `A handler's name has 1 to 100 visible ASCII characters and no #, got ${JSON.stringify(each)}`,
        );
      }
      if (each.startsWith(SINK_PREFIX)) {
        throw new ValidationError(`Names that begin with ${SINK_PREFIX} are reserved for sinks, got ${each}`);
      }
      if (names.has(each)) throw new ValidationError(`Two handlers are named ${each}`);
      names.add(each);
    }
    if (projection !== undefined && transactional !== true)
      throw new ValidationError(`Handler ${name} has a projection, and must be transactional`);
    if (events.length === 0) throw new ValidationError(`Handler ${name} handles no event`);
    new EventTypes(events);
  }
  for (const handler of handlers) requireNumbers(handler);
}

/** The generator checks the numbers of handlers. Those of sagas, and of applications without it, come unchecked. */
function requireNumbers({
  name,
  concurrency = 1,
  maximumAttempts = 1,
  retryDelayMs = 0,
}: HandlerDescriptor): void {
  for (const [what, count] of Object.entries({ concurrency, maximumAttempts }))
    if (!Number.isSafeInteger(count) || count < 1)
      throw new ValidationError(`The ${what} of ${name} must be a whole number of at least 1, got ${count}`);
  if (!(retryDelayMs >= 0 && retryDelayMs < Number.POSITIVE_INFINITY))
    throw new ValidationError(
      `The retryDelayMs of ${name} must be a number of at least 0, got ${retryDelayMs}`,
    );
}

export function handlerConsumer(
  handler: HandlerDescriptor,
  executor: ActionRunner,
  random: () => number,
  log: Logger = SILENT,
): Consumer {
  const { name, aliases = [], startFrom = 'beginning', concurrency = DEFAULT_CONCURRENCY } = handler;
  return {
    name,
    aliases,
    startFrom,
    concurrency,
    transactional: handler.transactional === true,
    projection: handler.projection,
    selection: { eventTypes: [...byStoredName(handler.events, () => true).keys()] },
    attempts: (shard) => {
      const facts = { handler: name, shard: shard.toString() };
      return new HandlerAttempts(handler, executor, random, withFacts(log, facts));
    },
  };
}
