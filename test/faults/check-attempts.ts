import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Call, type History, unknownOf } from './history.js';
import type { ShardRows } from './stored-rows.js';
import type { Report } from './violations.js';

/** Errors that a customer may get while connections break. Any other error is a fault of the runtime. */
const FORESEEN: ReadonlySet<string> = new Set([
  'FW_REFUSED',
  'FW_STALE_MODEL',
  'FW_ROW_BUSY',
  'FW_SHARD_UNAVAILABLE',
  'FW_SHARD_BUSY',
  'FW_DEADLINE_EXCEEDED',
  'FW_KEY_BUSY',
]);
/** Tolerated delay of an answer after its deadline, in milliseconds. */
const SLACK_MS = 1_500;
/** On a busy machine answers also wait for this process, at each of a few turns. */
const loopDelay = monitorEventLoopDelay();
loopDelay.enable();

/** Compares the attempts that each call reports with the action rows, and the results of `outcomeOf` with both. */
export function checkAttempts(
  history: History,
  shards: readonly ShardRows[],
  timeoutMs: number,
  report: Report,
): void {
  const rows = new Map(shards.flatMap(({ actions }) => actions.map(({ id, status }) => [id, status])));
  const due = new Set<string>();
  for (const call of history.calls) {
    checkAnswer(call, timeoutMs, report);
    for (const id of committedBy(call, history)) due.add(id);
  }
  for (const id of due) {
    if (rows.get(id) !== 'committed')
      report('wrong-action-row', `${id} was acknowledged and is ${rows.get(id) ?? 'absent'}`);
  }
  for (const [id, status] of rows) {
    if (status === 'committed' && !due.has(id))
      report('unknown-action-row', `${id} is committed, but no customer knows it`);
  }
  checkResolutions(history, rows, report);
}

function checkAnswer({ answer, request, durationMs }: Call, timeoutMs: number, report: Report): void {
  if (answer.kind === 'failed' && !FORESEEN.has(answer.code)) {
    report('unforeseen-error', `${request.kind} ${request.number}: ${answer.code} ${answer.message}`);
  }
  if (durationMs > timeoutMs + SLACK_MS + 3 * (loopDelay.max / 1e6)) {
    report(
      'too-late',
      `${request.kind} ${request.number} took ${Math.round(durationMs)} ms: ${JSON.stringify(answer)}`,
    );
  }
}

/** The action rows that must be committed according to this call. */
function committedBy({ answer, applied }: Call, history: History): readonly string[] {
  const resolved = unknownOf(answer).filter((id) => history.resolutionOf(id) === 'committed');
  return answer.kind === 'partial' ? [...answer.committed, ...resolved] : [...applied, ...resolved];
}

/** Once `outcomeOf` has returned an outcome, it must not change. */
function checkResolutions(history: History, rows: ReadonlyMap<string, string>, report: Report): void {
  for (const id of history.unresolved) report('outcome-unresolved', `${id} stayed unknown to the end`);
  for (const [id, said] of history.resolutions) {
    const known = new Set([...said.filter((outcome) => outcome !== 'unknown'), rows.get(id) ?? 'absent']);
    if (known.size > 1)
      report('outcome-changed', `${id}: ${said.join(', then ')}, and the row is ${rows.get(id) ?? 'absent'}`);
  }
}
