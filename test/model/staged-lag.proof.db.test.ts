import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ActionRegistry } from '../../runtime/action/action-registry.js';
import { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import { ActionExecutor } from '../../runtime/execution/action-executor.js';
import { ShardGateways } from '../../runtime/execution/shard-gateways.js';
import { EventCatalog } from '../../runtime/persistence/codec/event-catalog.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { describeOn } from '../databases/vitest.js';
import { lateGateways } from './defects.js';
import { events, migrations, models } from './models.js';
import { currentExecution, type ExecutionRecord, tick } from './record.js';
import { NAMESPACE, SHARDS } from './run-model.js';
import type { Slot, Step } from './script.js';
import { ScriptAction, scriptActionOf, World } from './script-action.js';
import { plainTerms } from './script-maker.js';

const SLOT: Slot = { kind: 'Purse', shard: 0, number: 0 };
const UPDATE: Step = { kind: 'update', slot: SLOT, delta: 1, events: 1 };
const LATE_MS = 400;

type Run = (steps: Step | readonly Step[], chaining?: boolean, key?: string) => Promise<ExecutionRecord>;

function executorOn(gateways: ShardGateways, world: World): Run {
  const registry = new ActionRegistry([scriptActionOf(gateways, world)]);
  const executor = new ActionExecutor({ registry, gateways, models });
  return async (steps, chaining = true, key) => {
    const script = { number: 1, steps: [steps].flat() };
    const record: ExecutionRecord = {
      ...{ number: 1, executor: 0, script, terms: plainTerms(), startTick: tick(), traces: [] },
      ...{ answer: undefined, answerTick: 0, report: undefined },
    };
    const builder = ExecutionConfiguration.Builder.executionConfiguration().chaining(chaining);
    if (key !== undefined) builder.idempotencyKey(key);
    const configuration = builder.build();
    const work = currentExecution.run(record, () =>
      executor.execute({ name: 'alice' }, ScriptAction, { script }, configuration),
    );
    await work.catch((error: unknown) => {
      record.answer = { kind: 'error', error };
    });
    return record;
  };
}

/** The version that was read last. */
function versionRead({ traces }: ExecutionRecord): number | undefined {
  return traces.at(-1)?.reads.at(-1)?.found[0]?.state?.version;
}

/** The database's answers to one executor are late; meanwhile the other executor continues from committed states. */
async function overtaken(
  databases: DatabaseRegistry,
): Promise<{ readonly late: Run; readonly first: Promise<unknown> }> {
  const world = new World(SHARDS);
  const catalog = new EventCatalog(events);
  const prompt = executorOn(new ShardGateways(databases, NAMESPACE, catalog), world);
  const late = executorOn(lateGateways(databases, catalog, LATE_MS), world);
  await prompt({ kind: 'add', slot: SLOT, content: { value: 0, bucket: 0, label: null }, events: 1 });
  const first = late(UPDATE);
  await sleep(LATE_MS / 3);
  expect(versionRead(await prompt(UPDATE))).toBe(2);
  return { late, first };
}

describeOn('postgresql', 'a process that knows its commit only after another has gone on', (harness) => {
  test.each([undefined, 'k'])('reads what is committed, after what is staged (key: %s)', async (key) => {
    const { late, first } = await overtaken(await harness.makeShards({ shards: SHARDS, migrations }));
    const record = await late({ kind: 'get', slot: SLOT }, true, key);
    expect(record.answer).toBeUndefined();
    expect(record.traces.map(({ reads }) => reads.at(-1)?.found[0]?.state?.version)).toEqual([2, 3]);
    await first;
  });

  test('bases refusals on committed states', async () => {
    const { late, first } = await overtaken(await harness.makeShards({ shards: SHARDS, migrations }));
    const record = await late([{ kind: 'get', slot: SLOT }, { kind: 'throw' }]);
    expect(record.answer).toMatchObject({ kind: 'error' });
    expect(versionRead(record)).toBe(3);
    await first;
  });

  test('shows committed states to executions that do not chain', async () => {
    const { late, first } = await overtaken(await harness.makeShards({ shards: SHARDS, migrations }));
    expect(versionRead(await late({ kind: 'get', slot: SLOT }, false))).toBe(3);
    await first;
  });

  test.each(['expect', 'update'] as const)('lets no execution %s an outdated state', async (kind) => {
    const { late, first } = await overtaken(await harness.makeShards({ shards: SHARDS, migrations }));
    const record = await late(kind === 'update' ? UPDATE : { kind, slot: SLOT });
    expect(record.traces.map((trace) => trace.items[0]?.from)).toEqual([2, 3]);
    await first;
  });
});
