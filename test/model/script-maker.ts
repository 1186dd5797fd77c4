import { KINDS, type Kind } from './models.js';
import { Random } from './random.js';
import type { Terms } from './record.js';
import { type Script, type Slot, type Step, slotKey } from './script.js';

/** The frequencies of random choices. */
export interface Profile {
  /** Whether all actions, without chaining, change one model of a pair and expect the other. */
  readonly skew?: boolean;
  /** Chance of a unique label that is probably in use. */
  readonly labelClashes?: number;
  /** Whether executions are aborted and time out at random. */
  readonly limits?: boolean;
}

/** A planned execution. */
export interface Job {
  readonly script: Script;
  readonly terms: Terms;
}

/** Number of models per kind and shard at the beginning. */
export const INITIAL_MODELS = 24;
const HOT_MODELS = 2;
const PAIRS = 4;
const BUCKETS = 5;
const LABELS = 40;
const SHARDS = 2;

/** Creates random jobs: the same seed gives the same ones. */
export class ScriptMaker {
  readonly #random: Random;
  readonly #profile: Profile;
  readonly #added = new Map<string, number>();
  readonly #keyed: Job[] = [];
  #scripts = 0;

  constructor(seed: number, profile: Profile = {}) {
    this.#random = new Random(seed);
    this.#profile = profile;
  }

  /** Jobs that add the initial models. */
  initial(): readonly Job[] {
    const slots = KINDS.flatMap((kind) =>
      shardsOf(kind).flatMap((shard) =>
        Array.from({ length: INITIAL_MODELS }, (_, number) => ({ kind, shard, number })),
      ),
    );
    return slots.map((slot) => ({
      script: this.#script([
        {
          kind: 'add',
          slot,
          content: { value: slot.number * 7, bucket: slot.number % BUCKETS, label: null },
          events: 1,
        },
      ]),
      terms: plainTerms(),
    }));
  }

  next(): Job {
    const repeated = this.#repeat();
    if (repeated !== undefined) return repeated;
    const script = this.#script(this.#profile.skew === true ? this.#skewedSteps() : this.#steps());
    const job = { script, terms: this.#terms(script) };
    if (job.terms.key !== undefined) this.#keyed.push(job);
    return job;
  }

  #script(steps: readonly Step[]): Script {
    this.#scripts += 1;
    return { number: this.#scripts, steps };
  }

  /** Uses an earlier key again: mostly with its request, sometimes with another. */
  #repeat(): Job | undefined {
    const random = this.#random;
    const [first, ...others] = this.#keyed.slice(-40);
    if (first === undefined || !random.chance(0.03)) return undefined;
    const job = random.pick([first, ...others]);
    return random.chance(0.9) ? job : { ...job, script: this.#script(this.#steps()) };
  }

  #terms(script: Script): Terms {
    const random = this.#random;
    const updates = script.steps.flatMap((step) => (step.kind === 'update' ? [step.slot] : []));
    const guarded = updates[0] !== undefined && random.chance(0.06) ? slotKey(updates[0]) : undefined;
    const limits = this.#profile.limits === true;
    return {
      chaining: this.#profile.skew !== true && !random.chance(0.1),
      allowCrossShard: random.chance(0.7),
      principal: random.pick(['alice', 'bob']),
      key: random.chance(0.06) ? `key-${script.number}` : undefined,
      ifVersion: guarded === undefined ? undefined : { slot: guarded, version: 1 + random.below(30) },
      timeoutMs: limits && random.chance(0.03) ? 1 + random.below(60) : undefined,
      abortMs: limits && random.chance(0.03) ? random.below(30) : undefined,
    };
  }

  /** Updates one model of a pair and expects the other one, so that order matters; or occupies the writers. */
  #skewedSteps(): readonly Step[] {
    const random = this.#random;
    const slot = (number: number): Slot => ({ kind: 'Purse', shard: 0, number });
    const delta = random.below(100);
    if (random.chance(0.3))
      return [{ kind: 'update', slot: slot(PAIRS * 2 + random.below(8)), delta, events: 0 }];
    const changed = random.below(PAIRS * 2);
    return [
      { kind: 'expect', slot: slot(changed ^ 1) },
      { kind: 'update', slot: slot(changed), delta, events: 1 },
    ];
  }

  #steps(): readonly Step[] {
    const random = this.#random;
    const steps: Step[] = [];
    const staged = new Set<string>();
    const home = random.below(SHARDS);
    const count = random.pick([1, 1, 1, 2, 2, 3, 4, 5]);
    for (let index = 0; index < count; index += 1) {
      if (random.chance(0.25)) steps.push({ kind: 'pause', turns: 1 + random.below(3) });
      const shard = random.chance(0.04) ? 1 - home : home;
      const step = this.#step(shard, steps);
      const slot = stagedSlot(step);
      if (slot !== undefined && staged.has(slot)) continue;
      if (slot !== undefined) staged.add(slot);
      steps.push(step);
    }
    return steps;
  }

  #step(shard: number, before: readonly Step[]): Step {
    const random = this.#random;
    const dice = random.next();
    if (dice < 0.5)
      return {
        kind: 'update',
        slot: this.#slot(shard),
        delta: random.below(1_000),
        events: random.pick([0, 1, 1, 1, 2, 3]),
      };
    if (dice < 0.6) return { kind: 'expect', slot: this.#slot(shard) };
    if (dice < 0.7) return this.#add(shard);
    if (dice < 0.8) return { kind: random.pick(['get', 'find']), slot: this.#slot(shard) };
    if (dice < 0.84)
      return { kind: 'findAll', slots: [this.#slot(shard), this.#slot(shard), this.#slot(1 - shard)] };
    if (dice < 0.88) return { kind: 'query', shard, bucket: random.below(BUCKETS) };
    if (dice < 0.94) return { kind: 'refuseOdd' };
    if (dice < 0.97) return this.#own(before) ?? { kind: 'refuseOdd' };
    return { kind: 'throw' };
  }

  /** A read of what an earlier step has staged. */
  #own(before: readonly Step[]): Step | undefined {
    const [step] = before.filter(({ kind }) => kind === 'update' || kind === 'add');
    return step !== undefined && 'slot' in step ? { kind: 'get', slot: step.slot } : undefined;
  }

  /** A model that probably exists: hot, warm, or one of those added later. */
  #slot(shard: number): Slot {
    const random = this.#random;
    const kind = random.pick(['Purse', 'Purse', 'Purse', 'Tally', 'Badge'] as const);
    const dice = random.next();
    const added = this.#added.get(kind) ?? 0;
    const limit = dice < 0.25 ? HOT_MODELS : dice < 0.85 ? INITIAL_MODELS : INITIAL_MODELS + added + 1;
    return { kind, shard: kind === 'Badge' ? 0 : shard, number: random.below(limit) };
  }

  #add(shard: number): Step {
    const random = this.#random;
    const kind = random.pick(KINDS);
    const added = (this.#added.get(kind) ?? 0) + 1;
    this.#added.set(kind, added);
    const number = random.chance(0.85) ? INITIAL_MODELS + added : random.below(INITIAL_MODELS + added);
    const clash = random.chance(this.#profile.labelClashes ?? 0.15);
    const label = clash ? `label-${random.below(LABELS)}` : random.chance(0.3) ? `own-${added}` : null;
    return {
      kind: 'add',
      slot: { kind, shard: kind === 'Badge' ? 0 : shard, number },
      content: { value: random.below(1_000), bucket: random.below(BUCKETS), label },
      events: random.pick([0, 1, 1, 2]),
    };
  }
}

/** Settings without any condition. */
export function plainTerms(): Terms {
  return {
    chaining: true,
    allowCrossShard: false,
    principal: 'alice',
    key: undefined,
    ifVersion: undefined,
    timeoutMs: undefined,
    abortMs: undefined,
  };
}

function shardsOf(kind: Kind): readonly number[] {
  return kind === 'Badge' ? [0] : [0, 1];
}

function stagedSlot(step: Step): string | undefined {
  switch (step.kind) {
    case 'add':
    case 'update':
    case 'expect':
      return slotKey(step.slot);
    default:
      return undefined;
  }
}
