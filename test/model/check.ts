import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { checkAnswers } from './check-answers.js';
import { dumpShard, type ShardDump } from './database-dump.js';
import { type AppliedPart, History } from './history.js';
import { type ModelRun, SHARDS } from './run-model.js';
import { slotKey } from './script.js';
import { findDisorder } from './serial-order.js';

export interface Verdict {
  /** Violations; empty if the run is correct. */
  readonly problems: readonly string[];
  /** Number of answers of each kind. */
  readonly answers: Readonly<Record<string, number>>;
  /** Committed plans. */
  readonly applied: number;
}

/** Compares a run with the sequential reference and with everything that the databases hold. */
export async function checkRun(run: ModelRun, databases: DatabaseRegistry): Promise<Verdict> {
  const dumps = await Promise.all(SHARDS.map((shard) => dumpShard(databases, shard)));
  const history = new History(run, dumps);
  const { problems, answers } = checkAnswers(run, history);
  problems.push(...history.problems, ...checkRows(run, history, dumps));
  dumps.forEach((dump, shard) => {
    const parts = history.parts.filter((part) => part.shard === shard);
    problems.push(...checkEvents(run, parts, dump), ...checkActions(parts, dump));
  });
  problems.push(...checkKeys(history, dumps));
  const disorder = findDisorder(history);
  if (disorder.length > 0) {
    const writers = disorder.slice(0, 5).map(({ trace }) => trace.writer);
    problems.push(`no serial order: ${disorder.length} plans, ${writers.join(', ')}...`);
  }
  return { problems, answers, applied: history.parts.length };
}

/** Final rows are the last versions, and no version is missing. */
function checkRows(run: ModelRun, history: History, dumps: readonly ShardDump[]): readonly string[] {
  const problems: string[] = [];
  const rows = new Map(
    dumps.flatMap((dump) => dump.rows).map(({ kind, id, state }) => [run.world.slotOf(kind, id), state]),
  );
  for (const slot of history.slots) {
    const last = history.lastVersion(slot);
    for (let version = 1; version <= last; version += 1) {
      if (history.state(slot, version) === undefined)
        problems.push(`${slot} has no version ${version} of ${last}`);
    }
    const expected = stateText(history.state(slot, last));
    const found = stateText(rows.get(slot));
    if (expected !== found) problems.push(`${slot} is ${found}, not ${expected}`);
    rows.delete(slot);
  }
  for (const slot of rows.keys()) problems.push(`${slot} is stored but was never added`);
  return problems;
}

function stateText(state: ReturnType<History['state']>): string {
  if (state === undefined) return 'absent';
  const { version, value, writer, bucket, label } = state;
  return JSON.stringify([version, value, writer, bucket, label]);
}

/**
 * Each version of a model has exactly the events that its action attached, in order, and versions follow each other.
 */
function checkEvents(run: ModelRun, parts: readonly AppliedPart[], dump: ShardDump): readonly string[] {
  const problems: string[] = [];
  const expected = new Map<string, string[]>();
  const versions = parts
    .flatMap((part) => part.items.map((item) => ({ part, item })))
    .filter(({ item }) => item.kind !== 'expect' && item.slot.kind !== 'Badge')
    .sort((a, b) => a.item.state.version - b.item.state.version);
  for (const { part, item } of versions) {
    const key = slotKey(item.slot);
    const texts = expected.get(key) ?? [];
    expected.set(key, texts);
    const { version, writer, value } = item.state;
    for (let index = 0; index < item.events; index += 1) {
      texts.push(eventText(part.actionId, version, { writer, index, value }));
    }
  }
  const found = new Map<string, string[]>();
  for (const { actionId, modelId, modelName, modelVersion, payload } of dump.events) {
    const key = run.world.slotOf(modelName === 'Tally' ? 'Tally' : 'Purse', modelId);
    const texts = found.get(key) ?? [];
    found.set(key, texts);
    texts.push(eventText(actionId, modelVersion, payload));
  }
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    const [wanted = [], got = []] = [expected.get(key), found.get(key)];
    const index = Array.from({ length: Math.max(wanted.length, got.length) }).findIndex(
      (_, at) => wanted[at] !== got[at],
    );
    if (index !== -1) problems.push(`${key}: event ${index} is ${got[index]}, not ${wanted[index]}`);
  }
  return problems;
}

function eventText(actionId: string, version: number, payload: unknown): string {
  const { writer, index, value } = payload as { writer: unknown; index: unknown; value: unknown };
  return JSON.stringify([actionId, version, writer, index, value]);
}

/** Exactly the applied plans have an action row with the state committed. */
function checkActions(parts: readonly AppliedPart[], dump: ShardDump): readonly string[] {
  const rows = new Map(dump.actions.map((row) => [row.id, row]));
  return parts.flatMap(({ actionId, execution }) => {
    const row = rows.get(actionId);
    if (row?.status !== 'committed')
      return [`execution ${execution.number} has no committed action row ${actionId}`];
    const wrong = row.name !== 'script' || row.principal !== execution.terms.principal;
    return wrong ? [`action row ${actionId} says ${row.name} by ${row.principal}`] : [];
  });
}

/**
 * Each key is stored exactly once, by the only plan that was applied under it. A key belongs to the shard that its
 * request names, so requests that name models on different shards are independent.
 */
function checkKeys(history: History, dumps: readonly ShardDump[]): readonly string[] {
  const problems: string[] = [];
  const owners = new Map<string, AppliedPart>();
  for (const part of history.parts) {
    const { key, principal } = part.execution.terms;
    if (key === undefined) continue;
    const name = `${principal}/${key}/${part.shard}`;
    const other = owners.get(name);
    if (other?.execution.script === part.execution.script) problems.push(`key ${name} had two effects`);
    if (owners.has(name)) problems.push(`key ${name} was used by two plans`);
    owners.set(name, part);
  }
  const kept = new Set<string>();
  for (const [shard, dump] of dumps.entries()) {
    for (const { principal, key, actionId, hasResult } of dump.keys) {
      if (!hasResult) continue;
      const name = `${principal}/${key}/${shard}`;
      const owner = owners.get(name);
      if (owner?.actionId !== actionId || owner.shard !== shard)
        problems.push(`key ${name} belongs to no applied plan`);
      kept.add(name);
    }
  }
  for (const name of owners.keys()) if (!kept.has(name)) problems.push(`key ${name} is not kept`);
  return problems;
}
