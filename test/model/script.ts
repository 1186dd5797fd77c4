import type { Content, Kind } from './models.js';

/** Identifies a model before it has an id. */
export interface Slot {
  readonly kind: Kind;
  /** 0 or 1: index among the shards of the run. */
  readonly shard: number;
  readonly number: number;
}

export function slotKey({ kind, shard, number }: Slot): string {
  return `${kind}/${shard}/${number}`;
}

export type Step =
  | { readonly kind: 'get' | 'find'; readonly slot: Slot }
  | { readonly kind: 'expect'; readonly slot: Slot }
  | { readonly kind: 'findAll'; readonly slots: readonly Slot[] }
  /** All purses of a bucket on a shard, read with the repository's own query. */
  | { readonly kind: 'query'; readonly shard: number; readonly bucket: number }
  | { readonly kind: 'update'; readonly slot: Slot; readonly delta: number; readonly events: number }
  | {
      readonly kind: 'add';
      readonly slot: Slot;
      readonly content: Omit<Content, 'writer'>;
      readonly events: number;
    }
  /** Refuses if the sum of all values read so far is odd. */
  | { readonly kind: 'refuseOdd' }
  | { readonly kind: 'throw' }
  /** Lets other executions run for this number of turns of the event loop. */
  | { readonly kind: 'pause'; readonly turns: number };

/** The steps of one action. Plain data: it is the action's parameter. */
export interface Script {
  readonly number: number;
  readonly steps: readonly Step[];
}

/** One state of a model. */
export interface State extends Content {
  readonly version: number;
}

/** The state found for a slot; undefined if there is none. */
export interface Found {
  readonly slot: string;
  readonly state: State | undefined;
}

/** An item that `perform` stages and that the commit must store. */
export interface PlannedItem {
  readonly kind: 'add' | 'update' | 'expect';
  readonly slot: Slot;
  /** Version that the row must have; 0 for an insert. */
  readonly from: number;
  /** The state after the change. */
  readonly state: State;
  /** Number of attached events. */
  readonly events: number;
}

export type Request =
  | { readonly kind: 'get' | 'find'; readonly slot: Slot }
  | { readonly kind: 'findAll'; readonly slots: readonly Slot[] }
  | { readonly kind: 'query'; readonly shard: number; readonly bucket: number }
  /** A read of a model that this run has staged. */
  | { readonly kind: 'own'; readonly slot: Slot; readonly state: State }
  | { readonly kind: 'stage'; readonly item: PlannedItem }
  | { readonly kind: 'pause'; readonly turns: number };

export type Refusal = 'missing' | 'odd' | 'thrown';

export type Outcome =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'done'; readonly result: ScriptResult };

export interface ScriptResult {
  readonly writer: string;
  readonly sum: number;
}

const MODULUS = 1_000_003;

/**
 * The meaning of a script: yields its reads, and returns the staged items. The action runs it with real reads, the
 * checker with the committed states.
 */
export function* runScript(script: Script, writer: string): Generator<Request, Outcome, readonly Found[]> {
  const seen = new Map<string, number>();
  const own = new Map<string, State>();
  const sum = (): number => [...seen.values()].reduce((total, value) => (total + value) % MODULUS, 0);
  const note = (found: readonly Found[]): void => {
    for (const { slot, state } of found) if (state !== undefined) seen.set(slot, state.value);
  };
  for (const step of script.steps) {
    switch (step.kind) {
      case 'pause':
        yield step;
        break;
      case 'query':
      case 'findAll':
        note(yield step);
        break;
      case 'get':
      case 'find': {
        const state = own.get(slotKey(step.slot));
        if (state !== undefined) {
          yield { kind: 'own', slot: step.slot, state };
          break;
        }
        const found = yield step;
        if (step.kind === 'get' && found[0]?.state === undefined)
          return { kind: 'refused', refusal: 'missing' };
        note(found);
        break;
      }
      case 'add': {
        const { slot, content, events } = step;
        const state = { ...content, value: (content.value + sum()) % MODULUS, writer, version: 1 };
        own.set(slotKey(slot), state);
        yield { kind: 'stage', item: { kind: 'add', slot, from: 0, state, events } };
        break;
      }
      case 'expect':
      case 'update': {
        const found = yield { kind: 'get', slot: step.slot };
        const before = found[0]?.state;
        if (before === undefined) return { kind: 'refused', refusal: 'missing' };
        note(found);
        const { slot } = step;
        const from = before.version;
        if (step.kind === 'expect') {
          own.set(slotKey(slot), before);
          yield { kind: 'stage', item: { kind: 'expect', slot, from, state: before, events: 0 } };
          break;
        }
        const value = (before.value * 3 + step.delta + sum()) % MODULUS;
        const state = { ...before, value, writer, version: from + 1 };
        own.set(slotKey(slot), state);
        yield { kind: 'stage', item: { kind: 'update', slot, from, state, events: step.events } };
        break;
      }
      case 'refuseOdd':
        if (sum() % 2 === 1) return { kind: 'refused', refusal: 'odd' };
        break;
      case 'throw':
        return { kind: 'refused', refusal: 'thrown' };
    }
  }
  return { kind: 'done', result: { writer, sum: sum() } };
}
