import { setImmediate as nextTurn } from 'node:timers/promises';
import { Action } from '../../runtime/action/action.js';
import type { ActionDescriptor } from '../../runtime/action/action-descriptor.js';
import { type Clock, systemClock } from '../../runtime/domain/clock.js';
import type { ModelDescriptor } from '../../runtime/domain/entity.js';
import { Id, ShardedId } from '../../runtime/domain/id.js';
import type { Principal } from '../../runtime/domain/principal.js';
import type { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { ModelNotFoundError, RefusedError } from '../../runtime/errors.js';
import { Repository, type RepositoryContext } from '../../runtime/persistence/read/repository.js';
import {
  Badge,
  badgeModel,
  type Kind,
  Purse,
  purseModel,
  type Stored,
  StoredBuilder,
  Tally,
  tallyModel,
} from './models.js';
import { currentExecution, type Trace, tick } from './record.js';
import {
  type Found,
  type PlannedItem,
  type Request,
  runScript,
  type Script,
  type ScriptResult,
  type Slot,
  type State,
  slotKey,
} from './script.js';

export interface ScriptParams {
  readonly script: Script;
  /** A model that the script touches: it lets the executor detect contention, and is the home of a key. */
  readonly first?: Id<unknown> | undefined;
}

/** Ids of models by slot, and the shards of a run. */
export class World {
  readonly shards: readonly ShardIdentifier[];
  readonly #ids = new Map<string, Id<unknown>>();
  readonly #slots = new Map<string, string>();

  constructor(shards: readonly ShardIdentifier[]) {
    this.shards = shards;
  }

  id(slot: Slot): Id<unknown> {
    const key = slotKey(slot);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#makeId(slot);
    this.#ids.set(key, id);
    this.#slots.set(`${slot.kind}/${id.getValue()}`, key);
    return id;
  }

  /** Key of the slot with this id. */
  slotOf(kind: Kind, id: string): string {
    return this.#slots.get(`${kind}/${id}`) ?? `${kind}/?/${id}`;
  }

  shard(index: number): ShardIdentifier {
    const shard = this.shards[index];
    if (shard === undefined) throw new Error(`There is no shard ${index}`);
    return shard;
  }

  #makeId({ kind, shard }: Slot): Id<unknown> {
    if (kind === 'Purse') return ShardedId.generate(Purse, this.shard(shard));
    if (kind === 'Tally') return ShardedId.generate(Tally, this.shard(shard));
    return Id.of(Badge, ShardedId.generate(Purse, this.shard(0)).getValue());
  }
}

interface PurseTable {
  readonly purses: {
    readonly id: string;
    readonly version: string;
    readonly value: number;
    readonly writer: string;
    readonly bucket: number;
    readonly label: string | null;
  };
}

class Purses extends Repository<Purse, PurseTable> {
  async inBucket(
    shard: ShardIdentifier,
    bucket: number,
  ): Promise<readonly { readonly id: string; readonly state: State }[]> {
    const rows = await this.queries(shard)
      .selectFrom('purses')
      .select(['id', 'version', 'value', 'writer', 'bucket', 'label'])
      .where('bucket', '=', bucket)
      .execute();
    return rows.map(({ id, version, ...content }) => ({
      id,
      state: { ...content, version: Number(version) },
    }));
  }
}

/** Runs a script, and records its reads and staged models. */
export class ScriptAction extends Action<ScriptParams, ScriptResult> {
  readonly #world: World;
  readonly #purses: Purses;
  readonly #repositories: Readonly<Record<Kind, Repository<Stored>>>;
  readonly #read = new Map<string, Stored>();

  constructor(clock: Clock, context: RepositoryContext, world: World) {
    super(clock);
    this.#world = world;
    this.#purses = new Purses(context, purseModel);
    this.#repositories = {
      Purse: this.#purses as unknown as Repository<Stored>,
      Tally: new Repository(context, tallyModel) as unknown as Repository<Stored>,
      Badge: new Repository(context, badgeModel) as unknown as Repository<Stored>,
    };
  }

  protected override async perform(_principal: Principal, { script }: ScriptParams): Promise<ScriptResult> {
    const execution = currentExecution.getStore();
    if (execution === undefined) throw new Error('Not inside a recorded execution');
    const trace: Trace = {
      writer: `${execution.number}.${execution.traces.length + 1}`,
      reads: [],
      items: [],
    };
    execution.traces.push(trace);
    const run = runScript(script, trace.writer);
    let found: readonly Found[] = [];
    for (;;) {
      const { done, value } = run.next(found);
      if (done === true) return answer(value);
      found = await this.#serve(value, trace);
    }
  }

  async #serve(request: Request, trace: Trace): Promise<readonly Found[]> {
    switch (request.kind) {
      case 'pause':
        for (let turn = 0; turn < request.turns; turn += 1) await nextTurn();
        return [];
      case 'stage':
        trace.items.push(request.item);
        this.#stage(request.item);
        return [];
      case 'own': {
        const [found] = await this.#find([request.slot]);
        if (JSON.stringify(found?.state) === JSON.stringify(stateInOrder(request.state))) return [];
        throw new Error(
          `${slotKey(request.slot)}: read ${JSON.stringify(found?.state)} instead of what was staged`,
        );
      }
      default: {
        const asked = tick();
        const found = await this.#answer(request);
        trace.reads.push({ kind: request.kind, tick: asked, found });
        return found;
      }
    }
  }

  async #answer(request: Exclude<Request, { kind: 'pause' | 'stage' | 'own' }>): Promise<readonly Found[]> {
    switch (request.kind) {
      case 'get':
      case 'find':
        return this.#find([request.slot]);
      case 'findAll':
        return this.#find(request.slots);
      case 'query': {
        const rows = await this.#purses.inBucket(this.#world.shard(request.shard), request.bucket);
        return rows.map(({ id, state }) => ({ slot: this.#world.slotOf('Purse', id), state }));
      }
    }
  }

  #find(slots: readonly Slot[]): Promise<readonly Found[]> {
    return Promise.all(
      slots.map(async (slot) => {
        const id = this.#world.id(slot);
        const model = await this.#repositories[slot.kind].findById(id.getValue());
        if (model !== undefined) this.#read.set(slotKey(slot), model);
        return { slot: slotKey(slot), state: model === undefined ? undefined : stateInOrder(model) };
      }),
    );
  }

  #stage({ kind, slot, state, events }: PlannedItem): void {
    const descriptor = DESCRIPTORS[slot.kind];
    if (kind === 'add') {
      const id = this.#world.id(slot) as Stored['id'];
      this.plan().add(StoredBuilder.create(descriptor, id, state, events));
      return;
    }
    const model = this.#read.get(slotKey(slot));
    if (model === undefined) throw new Error(`${slotKey(slot)} was not read`);
    if (kind === 'expect') this.plan().expect(model);
    else this.plan().update(StoredBuilder.change(descriptor, model, state, events));
  }
}

const DESCRIPTORS = { Purse: purseModel, Tally: tallyModel, Badge: badgeModel } as unknown as Readonly<
  Record<Kind, ModelDescriptor<Stored>>
>;

function stateInOrder({ version, value, writer, bucket, label }: State): State {
  return { version, value, writer, bucket, label };
}

function answer(
  outcome: ReturnType<typeof runScript> extends Generator<unknown, infer R> ? R : never,
): ScriptResult {
  if (outcome.kind === 'done') return outcome.result;
  switch (outcome.refusal) {
    case 'missing':
      throw new ModelNotFoundError('Slot', 'missing');
    case 'odd':
      throw new RefusedError('The sum is odd');
    case 'thrown':
      throw new TypeError('thrown by the script');
  }
}

/** The action of one executor. */
export function scriptActionOf(context: RepositoryContext, world: World): ActionDescriptor {
  const descriptor: ActionDescriptor<ScriptParams, ScriptResult> = {
    name: 'script',
    actionClass: ScriptAction,
    params: [
      { name: 'script', type: { kind: 'json' } },
      { name: 'first', type: { kind: 'id', model: 'Purse', sharded: true }, optional: true },
    ],
    result: { kind: 'field', type: { kind: 'json' } },
    create: () => new ScriptAction(systemClock, context, world),
  };
  return descriptor as unknown as ActionDescriptor;
}
