import { ActionRegistry } from '../../runtime/action/action-registry.js';
import { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import type { AttemptEnd } from '../../runtime/action/execution-report.js';
import { FwError } from '../../runtime/errors.js';
import { ActionExecutor } from '../../runtime/execution/action-executor.js';
import { ShardGateways } from '../../runtime/execution/shard-gateways.js';
import { EventCatalog } from '../../runtime/persistence/codec/event-catalog.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { events, models } from './models.js';
import { currentExecution, type ExecutionRecord } from './record.js';
import { NAMESPACE, SHARDS } from './run-model.js';
import type { Script, Slot } from './script.js';
import { ScriptAction, scriptActionOf, World } from './script-action.js';
import { plainTerms } from './script-maker.js';

/** The results of one executor. */
export interface Progress {
  applied: number;
  /** Number of failed executions, by error code. */
  readonly failed: Map<string, number>;
  /** Number of attempts, by their end. */
  readonly ends: Map<AttemptEnd, number>;
  /** Latencies of the successful executions, in milliseconds. */
  readonly latenciesMs: number[];
}

export interface HotRowOptions {
  /** One registry per executor, with its own connections, as in separate processes. */
  readonly databases: readonly DatabaseRegistry[];
  /** Concurrent executions per executor. */
  readonly concurrency: number;
  readonly durationMs: number;
  readonly chaining?: boolean;
}

const HOT: Slot = { kind: 'Purse', shard: 0, number: 0 };

/** Lets executors with default settings fight over one row. */
export async function fightOverOneRow(options: HotRowOptions): Promise<readonly Progress[]> {
  const world = new World(SHARDS);
  const executors = options.databases.map((databases) => executorOn(databases, world));
  const [first] = executors;
  const content = { value: 0, bucket: 0, label: null };
  await first?.run({ number: 0, steps: [{ kind: 'add', slot: HOT, content, events: 1 }] });
  const end = performance.now() + options.durationMs;
  const script: Script = { number: 1, steps: [{ kind: 'update', slot: HOT, delta: 1, events: 1 }] };
  return Promise.all(
    executors.map(async ({ run }) => {
      const progress: Progress = { applied: 0, failed: new Map(), ends: new Map(), latenciesMs: [] };
      const loop = async (): Promise<void> => {
        while (performance.now() < end) await run(script, progress, options.chaining);
      };
      await Promise.all(Array.from({ length: options.concurrency }, loop));
      return progress;
    }),
  );
}

interface Runner {
  run(script: Script, progress?: Progress, chaining?: boolean): Promise<void>;
}

function executorOn(databases: DatabaseRegistry, world: World): Runner {
  const gateways = new ShardGateways(databases, NAMESPACE, new EventCatalog(events));
  const executor = new ActionExecutor({
    registry: new ActionRegistry([scriptActionOf(gateways, world)]),
    gateways,
    models,
  });
  const record = recordOf();
  return {
    run: async (script, progress, chaining = true) => {
      const configuration = ExecutionConfiguration.Builder.executionConfiguration()
        .chaining(chaining)
        .onReport(({ attempts }) => {
          for (const { end } of attempts) count(progress?.ends, end);
        })
        .build();
      record.traces.length = 0;
      const startMs = performance.now();
      try {
        await currentExecution.run(record, () =>
          executor.execute({ name: 'alice' }, ScriptAction, { script, first: world.id(HOT) }, configuration),
        );
        if (progress === undefined) return;
        progress.applied += 1;
        progress.latenciesMs.push(performance.now() - startMs);
      } catch (error) {
        if (progress === undefined || !(error instanceof FwError)) throw error;
        count(progress.failed, error.code);
      }
    },
  };
}

function recordOf(): ExecutionRecord {
  return {
    ...{
      number: 0,
      executor: 0,
      script: { number: 0, steps: [] },
      terms: plainTerms(),
      startTick: 0,
      traces: [],
    },
    ...{ answer: undefined, answerTick: 0, report: undefined },
  };
}

function count<K>(counts: Map<K, number> | undefined, key: K): void {
  counts?.set(key, (counts.get(key) ?? 0) + 1);
}
