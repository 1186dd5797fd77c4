import { setTimeout as sleep } from 'node:timers/promises';
import { ActionRegistry } from '../../runtime/action/action-registry.js';
import { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { CommitOutcomeUnknownError, CrossShardPartialError } from '../../runtime/errors.js';
import { ActionExecutor } from '../../runtime/execution/action-executor.js';
import { ShardGateways } from '../../runtime/execution/shard-gateways.js';
import { EventCatalog } from '../../runtime/persistence/codec/event-catalog.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { events, models } from './models.js';
import { Random } from './random.js';
import { currentExecution, type ExecutionRecord, tick } from './record.js';
import { type Slot, type Step, slotKey } from './script.js';
import { ScriptAction, type ScriptParams, scriptActionOf, World } from './script-action.js';
import { type Job, type Profile, ScriptMaker } from './script-maker.js';

export const NAMESPACE = 'model-test';
export const SHARDS: readonly ShardIdentifier[] = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)];

/** Creates the gateways of one executor, possibly with a planted defect. */
export type MakeGateways = (
  databases: DatabaseRegistry,
  events: EventCatalog,
  executor: number,
) => ShardGateways;

export interface ModelRunOptions {
  readonly databases: DatabaseRegistry;
  readonly seed: number;
  readonly actions: number;
  /** Concurrent executions on each of the two executors. */
  readonly concurrency: number;
  readonly profile?: Profile;
  readonly gateways?: MakeGateways;
}

/** The recorded run, for the checker. */
export interface ModelRun {
  readonly world: World;
  readonly executions: readonly ExecutionRecord[];
}

/** The second executor pipelines statements whenever possible. */
const soundGateways: MakeGateways = (databases, catalog, executor) =>
  new ShardGateways(databases, NAMESPACE, catalog, {
    writing: executor === 0 ? {} : { overlapFrom: 1 },
  });

/** Runs random actions on two executors that share only the databases, as two processes would. */
export async function runModel(options: ModelRunOptions): Promise<ModelRun> {
  const { databases, seed, actions, concurrency, profile, gateways = soundGateways } = options;
  const world = new World(SHARDS);
  const maker = new ScriptMaker(seed, profile);
  const executions: ExecutionRecord[] = [];
  const peers = [0, 1].map(
    (number) => new Peer(number, gateways(databases, new EventCatalog(events), number), world, executions),
  );
  const initial = maker.initial();
  await Promise.all(initial.map((job, index) => peers[index % peers.length]?.run(job)));
  let left = actions - initial.length;
  const loop = async (peer: Peer, random: Random): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const job = maker.next();
      await peer.run(job);
      // Occasional pauses let the writers' queues run empty, so that single plans occur too.
      if (random.chance(0.01)) await sleep(random.below(8));
    }
  };
  await Promise.all(
    peers.flatMap((peer, index) =>
      Array.from({ length: concurrency }, (_, worker) =>
        loop(peer, new Random(seed + index * 1_000 + worker)),
      ),
    ),
  );
  await Promise.all(peers.map((peer) => peer.executor.close()));
  return { world, executions };
}

/** One executor with everything that a process has of its own. */
class Peer {
  readonly executor: ActionExecutor;
  readonly #number: number;
  readonly #world: World;
  readonly #executions: ExecutionRecord[];

  constructor(number: number, gateways: ShardGateways, world: World, executions: ExecutionRecord[]) {
    this.executor = new ActionExecutor({
      registry: new ActionRegistry([scriptActionOf(gateways, world)]),
      gateways,
      models,
      defaults: { timeoutMs: 20_000, maximumAttempts: 12 },
    });
    this.#number = number;
    this.#world = world;
    this.#executions = executions;
  }

  async run({ script, terms }: Job): Promise<void> {
    const record: ExecutionRecord = {
      number: this.#executions.length + 1,
      executor: this.#number,
      ...{ script, terms, startTick: tick(), traces: [] },
      ...{ answer: undefined, answerTick: 0, report: undefined },
    };
    this.#executions.push(record);
    const params: ScriptParams = { script, first: this.#firstId(script.steps) };
    const configuration = this.#configurationOf(record);
    try {
      const result: unknown = await currentExecution.run(record, () =>
        this.executor.execute({ name: terms.principal }, ScriptAction, params, configuration),
      );
      record.answer = { kind: 'result', result };
    } catch (error) {
      record.answer = { kind: 'error', error };
      record.answerTick = tick();
      await this.#settle(error);
      return;
    }
    record.answerTick = tick();
  }

  #configurationOf(record: ExecutionRecord): ExecutionConfiguration {
    const { terms } = record;
    const builder = ExecutionConfiguration.Builder.executionConfiguration()
      .chaining(terms.chaining)
      .allowCrossShard(terms.allowCrossShard)
      .onReport((report) => {
        record.report = report;
      });
    if (terms.key !== undefined) builder.idempotencyKey(terms.key);
    if (terms.timeoutMs !== undefined) builder.timeoutMs(terms.timeoutMs);
    if (terms.abortMs !== undefined) builder.signal(AbortSignal.timeout(terms.abortMs));
    const { ifVersion } = terms;
    const slot = ifVersion === undefined ? undefined : slotNamed(record.script.steps, ifVersion.slot);
    if (ifVersion !== undefined && slot !== undefined)
      builder.ifVersion(this.#world.id(slot), ifVersion.version);
    return builder.build();
  }

  #firstId(steps: readonly Step[]): ScriptParams['first'] {
    const staged = steps.find((step) => step.kind === 'update' && step.slot.kind !== 'Badge');
    return staged !== undefined && 'slot' in staged ? this.#world.id(staged.slot) : undefined;
  }

  /** Queries an outcome that the executor could not determine in time, so that it is final. */
  async #settle(error: unknown): Promise<void> {
    if (error instanceof CommitOutcomeUnknownError) await this.executor.outcomeOf(error.actionId);
    if (error instanceof CrossShardPartialError) await this.executor.outcomeOf(error.failed.actionId);
  }
}

function slotNamed(steps: readonly Step[], key: string): Slot | undefined {
  for (const step of steps) if ('slot' in step && slotKey(step.slot) === key) return step.slot;
  return undefined;
}
