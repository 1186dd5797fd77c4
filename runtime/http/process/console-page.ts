import type { Application } from '../../application.js';
import { durationText } from '../../duration-text.js';
import { FwError } from '../../errors.js';
import { onShard } from '../../persistence/read/scatter.js';
import { onEachShard, SHARDS_AT_ONCE } from '../../sharding/each-shard.js';
import { type Html, html } from '../docs/html.js';
import { type OperatorPage, tableOf } from './operator-page.js';

/** Maximum dead letters of each shard. */
const MOST_ROWS = 100;
/** Time limit of each shard, in milliseconds. */
const PATIENCE_MS = 2_000;

type Lag = Awaited<ReturnType<Application['events']['lag']>>[number];
type DeadLetter = Awaited<ReturnType<Application['events']['deadLetters']['list']>>[number];

/** What waits on a shard. */
interface ShardState extends Omit<Lag, 'shard'> {
  readonly deadLetters: readonly Omit<DeadLetter, 'shard'>[];
  /** Partially applied cross-shard plans: open ones are finished automatically, flagged ones need an operator. */
  readonly journal: { readonly open: number; readonly flagged: number };
}

/** A shard on the page. */
export interface ConsoleShard {
  readonly shard: string;
  readonly name: string;
  /** Absent if the shard does not answer. */
  readonly state?: ShardState;
  /** Why it does not answer. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Asks all shards. One that does not answer delays the others by two seconds at most. */
export async function readConsole(application: Application): Promise<readonly ConsoleShard[]> {
  const { databases } = application;
  const outcomes = await onEachShard(databases.shards(), SHARDS_AT_ONCE, (shard) =>
    onShard(shard, PATIENCE_MS, async (): Promise<ShardState> => {
      const { events, journal } = application;
      const [[lag], deadLetters, { open, flagged }] = await Promise.all([
        events.lag(shard),
        events.deadLetters.list({ shard, limit: MOST_ROWS }),
        journal.survey(shard, 0),
      ]);
      const { shard: _, ...state } = lag as Lag;
      const letters = deadLetters.map(({ shard: __, ...letter }) => letter);
      return { ...state, deadLetters: letters, journal: { open, flagged } };
    }),
  );
  return outcomes.map((outcome) => {
    const { shard } = outcome;
    const named = { shard: shard.toString(), name: databases.memberConfig(shard).name };
    if (outcome.ok) return { ...named, state: outcome.value };
    const { error } = outcome;
    if (!(error instanceof FwError)) throw error;
    const { code, message } = error;
    return { ...named, error: { code, message: databases.withheld(shard) ?? message } };
  });
}

export function consolePage(shards: readonly ConsoleShard[]): OperatorPage {
  const answering = shards.flatMap(({ shard, state }) => (state === undefined ? [] : [{ shard, ...state }]));
  const part = <T>(of: (each: (typeof answering)[number]) => readonly T[]) =>
    answering.flatMap((each) => of(each).map((item) => ({ ...item, shard: each.shard })));
  const content = html`${shardTable(shards)}
${tableOf(
  'Handlers and sinks.',
  part(({ consumers }) => consumers),
  {
    Name: ({ name }) => name,
    Shard: ({ shard }) => shard,
    'Events behind': ({ behind }) => behind,
    'Oldest of them': ({ behindMs }) => durationText(behindMs),
    'Dead letters': ({ deadLetters }) => deadLetters,
    Process: ({ holder }) => holder ?? 'none',
    'Waits for': ({ waitingFor }) => waitingFor,
  },
)}
${tableOf(
  'Sagas that have not ended.',
  part(({ sagas }) => sagas),
  {
    Saga: ({ saga }) => saga,
    Shard: ({ shard }) => shard,
    Running: ({ running }) => running,
    'Wait for an operator': ({ parked }) => parked,
    'Age of the oldest': ({ oldestMs }) => durationText(oldestMs),
  },
)}
${tableOf(
  `Dead letters, at most ${MOST_ROWS} of each shard.`,
  part(({ deadLetters }) => deadLetters),
  {
    Event: ({ eventType, eventId }) => `${eventType} ${eventId}`,
    Model: ({ modelName, modelId }) => html`<a href="operate/history/${modelId}">${modelName} ${modelId}</a>`,
    Handler: ({ handler }) => handler,
    Shard: ({ shard }) => shard,
    State: ({ state, retrying }) => (retrying ? 'is retried' : state),
    Attempts: ({ attempts }) => attempts,
    Error: ({ errorCode, errorMessage }) => [errorCode, errorMessage].filter(Boolean).join(': '),
    Since: ({ parkedDate }) => parkedDate.toISOString(),
  },
)}`;
  return { title: 'Shards and delivery', content };
}

function shardTable(shards: readonly ConsoleShard[]): Html {
  return tableOf('Shards.', shards, {
    Shard: ({ shard }) => shard,
    Name: ({ name }) => name,
    State: ({ state, error }) => (state === undefined ? `${error?.code}: ${error?.message}` : stateOf(state)),
    'Log held back for': ({ state }) => state && durationText(state.horizon.ageMs),
    'Actions due': ({ state }) => state?.dueActions,
    'Actions failed': ({ state }) => state?.failedActions,
    'Plans to finish': ({ state }) => state?.journal.open,
    'Plans flagged': ({ state }) => state?.journal.flagged,
  });
}

function stateOf({ failovers, actionsWaitFor }: ShardState): string {
  if (failovers.length > 0) return 'has failed over: see fw-gen events failovers';
  return actionsWaitFor === undefined ? 'answers' : `scheduled actions wait: ${actionsWaitFor}`;
}
