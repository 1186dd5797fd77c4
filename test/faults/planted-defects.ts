import { ActionExecutor, systemClock } from 'fw-actions';
import { ActionRegistry, type ModelDescriptor } from 'fw-actions/codegen';
import { openDatabases, type ShardDatabase } from 'fw-actions/operate';
import { application } from '../../examples/wallet/generated/application.js';
import type { StagedItem } from '../../runtime/action/action-plan.js';
import type { Entity } from '../../runtime/domain/entity.js';
import type { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { type ShardGateway, ShardGateways } from '../../runtime/execution/shard-gateways.js';
import { EventCatalog } from '../../runtime/persistence/codec/event-catalog.js';
import { EventHistory } from '../../runtime/persistence/read/event-history.js';
import type { ShardStore, WriteGroup } from '../../runtime/persistence/shard-store.js';
import type { KeyClaim } from '../../runtime/persistence/write/idempotency-key.js';
import type { PlanWrite } from '../../runtime/persistence/write/plan-write.js';
import { ShardWriter } from '../../runtime/persistence/write/shard-writer.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { Placement } from '../../runtime/sharding/placement.js';
import type { ShardSession } from '../../runtime/sharding/shard-database.js';
import { TransactionManager } from '../../runtime/sharding/transaction-manager.js';
import { type Opener, TIMEOUT_MS } from './fault-world.js';

/** Makes a store with one planted defect from a correct one. */
export type BreakStore = (store: ShardStore, database: ShardDatabase) => ShardStore;

/** Checks whether a lost attempt was applied, without writing a void row in its place: it may still arrive. */
export const lookUpInsteadOfFence: BreakStore = (store, database) =>
  override(store, {
    fence: async ({ id }, options) => {
      const text = 'select status from eventlog.actions where id = $1';
      const { rows } = await database.query({ text, values: [id] }, options);
      return rows[0]?.[0] === 'committed' ? 'committed' : 'void';
    },
  });

/** Reports every plan as applied as soon as it was sent. */
export const acknowledgedBeforeReply: BreakStore = (store) =>
  override(store, {
    flush: (request, options) => {
      store.flush(request, options).catch(() => {});
      return Promise.resolve(request.groups.map(() => 'applied' as const));
    },
  });

/** Stores the key in a separate statement, after the plan has been applied. */
export const keyOutsideTransaction: BreakStore = (store, database) =>
  override(store, {
    flush: async (request, options) => {
      const groups = request.groups.map((group) => group.map((plan) => ({ ...plan, key: undefined })));
      const outcomes = await store.flush({ ...request, groups }, options);
      const applied = request.groups.filter((_, index) => outcomes[index] === 'applied').flat();
      for (const { key, action } of applied) if (key !== undefined) await keepKey(database, key, action.id);
      return outcomes;
    },
  });

/** Overwrites any stored version. */
export const guardLeftOut: BreakStore = (store) =>
  override(store, {
    flush: async (request, options) => {
      const groups = await Promise.all(request.groups.map((group) => withPresentVersions(store, group)));
      return store.flush({ ...request, groups }, options);
    },
  });

/** Treats any answer to COMMIT as success. */
export function ignoringCommitTag(database: ShardDatabase): TransactionManager {
  const trusting = (session: ShardSession): ShardSession =>
    override(session, {
      query: async (statement, options) => {
        const rows = await session.query(statement, options);
        return statement.text === 'COMMIT' ? { ...rows, command: 'COMMIT' } : rows;
      },
    });
  return new TransactionManager(
    override(database, { acquire: async (options) => trusting(await database.acquire(options)) }),
  );
}

/** Opens the wallet with defective stores. */
export function openBroken(breakStore: BreakStore): Opener {
  return (sharding) => {
    const databases = openDatabases(sharding);
    const gateways = new BrokenGateways(databases, new EventCatalog(application.events), breakStore);
    const context = {
      clock: systemClock,
      repositories: gateways,
      eventHistory: new EventHistory(gateways),
      placement: new Placement(databases),
    };
    const executor = new ActionExecutor({
      registry: new ActionRegistry(application.wire(context, {})),
      gateways,
      models: application.models,
      defaults: { timeoutMs: TIMEOUT_MS },
    });
    const close = async (): Promise<void> => {
      await executor.close();
      await databases.close();
    };
    return Promise.resolve({ executor, databases, close });
  };
}

class BrokenGateways extends ShardGateways {
  readonly #databases: DatabaseRegistry;
  readonly #breakStore: BreakStore;
  readonly #broken = new Map<ShardIdentifier, ShardGateway>();

  constructor(databases: DatabaseRegistry, events: EventCatalog, breakStore: BreakStore) {
    super(databases, 'faults', events);
    this.#databases = databases;
    this.#breakStore = breakStore;
  }

  override gateway(shard: ShardIdentifier): ShardGateway {
    const known = this.#broken.get(shard);
    if (known !== undefined) return known;
    const honest = super.gateway(shard);
    const store = this.#breakStore(honest.store, this.#databases.database(shard));
    const broken = { ...honest, store, writer: new ShardWriter(store, shard) };
    this.#broken.set(shard, broken);
    return broken;
  }
}

/** The same object with some methods replaced. */
function override<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (object, name) => {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const inherited: unknown = Reflect.get(object, name, object);
      return typeof inherited === 'function' ? inherited.bind(object) : inherited;
    },
  });
}

async function keepKey(database: ShardDatabase, key: KeyClaim, actionId: string): Promise<void> {
  const { principal, operation, fingerprint, target, keepMs, result } = key;
  await database.query({
    text:
      'insert into eventlog.idempotency_keys (principal, operation, key, fingerprint, action_id, target_group, ' +
      'target_member, result, created_date, expires_date) values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, now(), ' +
      "now() + $9::bigint * interval '1 ms') on conflict do nothing",
    values: [
      principal,
      operation,
      key.key,
      fingerprint,
      actionId,
      target.group,
      target.member,
      result ?? null,
      keepMs,
    ],
  });
}

/** The group with the stored versions as the expected ones. */
async function withPresentVersions(store: ShardStore, group: WriteGroup): Promise<WriteGroup> {
  const seen = new Set<string>();
  const plans: PlanWrite[] = [];
  for (const plan of group) {
    const items: StagedItem[] = [];
    for (const item of plan.items) {
      const id = item.model.id.getValue();
      items.push(item.kind === 'update' && !seen.has(id) ? await atPresentVersion(store, item) : item);
      seen.add(id);
    }
    plans.push({ ...plan, items });
  }
  return plans;
}

async function atPresentVersion(
  store: ShardStore,
  item: Extract<StagedItem, { readonly kind: 'update' }>,
): Promise<StagedItem> {
  const descriptor: ModelDescriptor<Entity> = item.descriptor;
  const [present] = await store.read(descriptor, [item.model.id.getValue()]);
  return { ...item, expectedVersion: present?.version ?? item.expectedVersion };
}
