import { setTimeout as sleep } from 'node:timers/promises';
import type { StagedItem } from '../../runtime/action/action-plan.js';
import { type Entity, rowOf } from '../../runtime/domain/entity.js';
import type { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { type StagedState, StagedStates } from '../../runtime/execution/perform/staged-states.js';
import { type ShardGateway, ShardGateways } from '../../runtime/execution/shard-gateways.js';
import type { EventCatalog } from '../../runtime/persistence/codec/event-catalog.js';
import type { FlushOutcome, FlushRequest, ShardStore } from '../../runtime/persistence/shard-store.js';
import { PendingPlan } from '../../runtime/persistence/write/pending-plan.js';
import type { PlanWrite } from '../../runtime/persistence/write/plan-write.js';
import type { QueueOptions, Submission } from '../../runtime/persistence/write/queued-plan.js';
import { ShardWriter } from '../../runtime/persistence/write/shard-writer.js';
import { DEFAULT_WRITER_LIMITS } from '../../runtime/persistence/write/writer-limits.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { CallOptions } from '../../runtime/sharding/shard-database.js';
import { type MakeGateways, NAMESPACE } from './run-model.js';

/** Number of reads of a state that was never committed, before it is dropped. */
const GHOST_READS = 3;

/** Keeps a staged state for a while after its plan has failed. */
class GhostStates extends StagedStates {
  readonly #ghosts = new Map<string, { readonly model: Entity; reads: number }>();

  override get(row: string): StagedState | undefined {
    const state = super.get(row);
    const ghost = this.#ghosts.get(row);
    if (state !== undefined || ghost === undefined) return state;
    ghost.reads += 1;
    if (ghost.reads > GHOST_READS) this.#ghosts.delete(row);
    return { model: ghost.model, pending: appliedLink() };
  }

  override publish(items: readonly StagedItem[], pending: PendingPlan, shard: ShardIdentifier): void {
    super.publish(items, pending, shard);
    pending.onSettled(() => {
      if (pending.state === 'applied') return;
      for (const { kind, model } of items) {
        if (kind !== 'expect') this.#ghosts.set(rowOf(model), { model, reads: 0 });
      }
    });
  }
}

/** Treats every staged state as committed, so that no answer waits for it. */
class HastyStates extends StagedStates {
  override get(row: string): StagedState | undefined {
    const state = super.get(row);
    return state === undefined ? undefined : { model: state.model, pending: appliedLink() };
  }
}

function appliedLink(): PendingPlan {
  const pending = new PendingPlan();
  pending.settle(true);
  return pending;
}

/** A store that forwards all calls. */
abstract class StoreWrapper implements ShardStore {
  protected readonly store: ShardStore;
  readonly read: ShardStore['read'];
  readonly readByKey: ShardStore['readByKey'];
  readonly fence: ShardStore['fence'];
  readonly readAttempt: ShardStore['readAttempt'];
  readonly readKey: ShardStore['readKey'];
  readonly claimKey: ShardStore['claimKey'];
  readonly releaseKey: ShardStore['releaseKey'];
  readonly purgeKeys: ShardStore['purgeKeys'];

  constructor(store: ShardStore) {
    this.store = store;
    this.read = store.read.bind(store);
    this.readByKey = store.readByKey.bind(store);
    this.fence = store.fence.bind(store);
    this.readAttempt = store.readAttempt.bind(store);
    this.readKey = store.readKey.bind(store);
    this.claimKey = store.claimKey.bind(store);
    this.releaseKey = store.releaseKey.bind(store);
    this.purgeKeys = store.purgeKeys.bind(store);
  }

  abstract flush(request: FlushRequest, options?: CallOptions): Promise<readonly FlushOutcome[]>;
}

/** After a statement of several groups has failed, drops one of the next statement's groups. */
class ForgetfulStore extends StoreWrapper {
  #failed = false;

  async flush(request: FlushRequest, options?: CallOptions): Promise<readonly FlushOutcome[]> {
    const { groups, locked } = request;
    try {
      if (!this.#failed || groups.length < 2) return await this.store.flush(request, options);
      this.#failed = false;
      const outcomes = await this.store.flush({ groups: groups.slice(0, -1), locked }, options);
      return [...outcomes, 'applied'];
    } catch (error) {
      this.#failed ||= groups.length > 1;
      throw error;
    }
  }
}

/** The plans before their expectations were hidden from the writer. */
const whole = new WeakMap<PlanWrite['action'], PlanWrite>();

/** Waiting plans are sent in one statement. */
const ONE_AT_A_TIME = { ...DEFAULT_WRITER_LIMITS, maximumInFlight: 1 };

/** Composes statements as if expectations touched no rows. */
class BlindWriter extends ShardWriter {
  override submit(plan: PlanWrite, options: QueueOptions): Submission {
    whole.set(plan.action, plan);
    return super.submit({ ...plan, items: plan.items.filter(({ kind }) => kind !== 'expect') }, options);
  }
}

/** Restores the expectations that were hidden from the writer. */
class RestoringStore extends StoreWrapper {
  flush({ groups, locked }: FlushRequest, options?: CallOptions): Promise<readonly FlushOutcome[]> {
    const restored = groups.map((group) => group.map((plan) => whole.get(plan.action) ?? plan));
    return this.store.flush({ groups: restored, locked }, options);
  }
}

class GhostGateways extends ShardGateways {
  override readonly staged: StagedStates = new GhostStates();
}

class HastyGateways extends ShardGateways {
  override readonly staged: StagedStates = new HastyStates();
}

/** Gateways with another store and writer. */
abstract class ReplacingGateways extends ShardGateways {
  readonly #replaced = new Map<ShardIdentifier, ShardGateway>();

  override gateway(shard: ShardIdentifier): ShardGateway {
    const known = this.#replaced.get(shard);
    if (known !== undefined) return known;
    const gateway = this.replace(super.gateway(shard));
    this.#replaced.set(shard, gateway);
    return gateway;
  }

  protected abstract replace(gateway: ShardGateway): ShardGateway;
}

class ForgetfulGateways extends ReplacingGateways {
  protected replace(gateway: ShardGateway): ShardGateway {
    const store = new ForgetfulStore(gateway.store);
    return { ...gateway, store, writer: new ShardWriter(store, gateway.shard) };
  }
}

class BlindGateways extends ReplacingGateways {
  protected replace(gateway: ShardGateway): ShardGateway {
    const store = new RestoringStore(gateway.store);
    return { ...gateway, store, writer: new BlindWriter(store, gateway.shard, ONE_AT_A_TIME) };
  }
}

/** Executors with one planted defect each. */
export const defects: Readonly<Record<'ghost' | 'hasty' | 'forgetful' | 'blind', MakeGateways>> = {
  ghost: (databases, events) => new GhostGateways(databases, NAMESPACE, events),
  hasty: (databases, events) => new HastyGateways(databases, NAMESPACE, events),
  forgetful: (databases, events) => new ForgetfulGateways(databases, NAMESPACE, events),
  blind: (databases, events) => new BlindGateways(databases, NAMESPACE, events),
};

/** Delays the answers of statements. */
class LateStore extends StoreWrapper {
  readonly #delayMs: number;

  constructor(store: ShardStore, delayMs: number) {
    super(store);
    this.#delayMs = delayMs;
  }

  async flush(request: FlushRequest, options?: CallOptions): Promise<readonly FlushOutcome[]> {
    const outcomes = await this.store.flush(request, options);
    await sleep(this.#delayMs);
    return outcomes;
  }
}

/** Gateways to databases with slow answers to writes: not a defect, but a slow connection. */
export function lateGateways(
  databases: DatabaseRegistry,
  events: EventCatalog,
  delayMs: number,
): ShardGateways {
  class LateGateways extends ReplacingGateways {
    protected replace(gateway: ShardGateway): ShardGateway {
      const store = new LateStore(gateway.store, delayMs);
      return { ...gateway, store, writer: new ShardWriter(store, gateway.shard) };
    }
  }
  return new LateGateways(databases, NAMESPACE, events);
}
