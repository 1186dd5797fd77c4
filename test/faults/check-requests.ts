import { groupBy } from './check-rows.js';
import { type Effect, type EffectKind, effectsOf } from './effects.js';
import { type Call, type History, unknownOf, type WalletRequest } from './history.js';
import type { ShardRows } from './stored-rows.js';
import type { Report } from './violations.js';

/** The allowed effects of a request: the number of each kind. */
type Counts = Readonly<Partial<Record<EffectKind, number>>>;

/** Compares the answers to each request with the effects that carry its mark. */
export function checkRequests(history: History, shards: readonly ShardRows[], report: Report): void {
  const effects = groupBy(effectsOf(shards), ({ mark }) => mark);
  const requests = groupBy(history.calls, ({ request }) => String(request.number));
  for (const calls of requests.values()) {
    const [first] = calls;
    if (first === undefined) continue;
    const found = effects.get(markOf(first.request)) ?? [];
    effects.delete(markOf(first.request));
    checkCounts(calls, found, history, report);
    checkAnswers(calls, found, report);
  }
  for (const [mark, found] of effects) {
    report('refused-and-applied', `${found.length} effects of ${mark}, without a request`);
  }
}

function markOf(request: WalletRequest): string {
  return request.kind === 'create' ? request.ownerId : request.amount;
}

function checkCounts(
  calls: readonly Call[],
  found: readonly Effect[],
  history: History,
  report: Report,
): void {
  const [first] = calls;
  if (first === undefined) return;
  const counts = countOf(found);
  const due = calls.map((call) => dueTo(call, history)).reduce(mostOf, {});
  for (const kind of KINDS) {
    const [is, ought] = [counts[kind] ?? 0, due[kind] ?? 0];
    if (is > ought) {
      report(
        ought === 0 ? 'refused-and-applied' : 'applied-twice',
        describe(calls, `${is} ${kind}, not ${ought}`),
      );
    }
    if (is < ought) report('acknowledged-and-lost', describe(calls, `${is} ${kind}, not ${ought}`));
  }
}

const KINDS: readonly EffectKind[] = ['created', 'deposited', 'withdrawn'];

function countOf(effects: readonly Effect[]): Counts {
  const counts: Partial<Record<EffectKind, number>> = {};
  for (const { kind } of effects) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Several calls of one request have one effect together. */
function mostOf(a: Counts, b: Counts): Counts {
  return Object.fromEntries(KINDS.map((kind) => [kind, Math.max(a[kind] ?? 0, b[kind] ?? 0)]));
}

/** The effects that a call must have, given its answer and the later result of `outcomeOf`. */
function dueTo({ request, answer }: Call, history: History): Counts {
  const [lost] = unknownOf(answer);
  const resolved = lost !== undefined && history.resolutionOf(lost) === 'committed';
  switch (answer.kind) {
    case 'acknowledged':
      return whole(request);
    case 'failed':
      return {};
    case 'unknown':
      // The second shard transaction of a transfer over two shards was never sent.
      return resolved ? (isSplit(request) ? { withdrawn: 1 } : whole(request)) : {};
    case 'partial':
      return { withdrawn: 1, deposited: resolved ? 1 : 0 };
  }
}

function whole({ kind }: WalletRequest): Counts {
  switch (kind) {
    case 'create':
      return { created: 1 };
    case 'deposit':
      return { deposited: 1 };
    case 'withdraw':
      return { withdrawn: 1 };
    case 'transfer':
      return { deposited: 1, withdrawn: 1 };
  }
}

/** Whether it uses two shards: then each shard transaction is atomic by itself. */
export function isSplit(request: WalletRequest): boolean {
  return request.kind === 'transfer' && shardBits(request.sourceId) !== shardBits(request.destId);
}

/** The part of an id that names its shard. */
function shardBits(id: string): string {
  return id.slice(19, 22);
}

/** An answer contains the state that its own effect produced, and all answers to one request are equal. */
function checkAnswers(calls: readonly Call[], found: readonly Effect[], report: Report): void {
  const answers = calls.flatMap(({ answer }) =>
    answer.kind === 'acknowledged' && answer.result !== undefined ? [answer.result] : [],
  );
  if (new Set(answers.map((answer) => JSON.stringify(answer))).size > 1) {
    report('different-answers', describe(calls, JSON.stringify(answers)));
  }
  for (const { id, version, balance } of answers) {
    const effect = found.find(({ event }) => event.model_id === id && event.model_version === version);
    if (effect === undefined)
      report('wrong-answer', describe(calls, `no effect at version ${version} of ${id}`));
    else if (effect.balance !== balance) {
      report('wrong-answer', describe(calls, `balance ${balance}, stored is ${effect.balance}`));
    }
  }
}

function describe(calls: readonly Call[], detail: string): string {
  const answer = calls.map((call) => `${JSON.stringify(call.answer)} tried ${call.tried.join(' ')}`);
  return `${detail}: ${JSON.stringify(calls[0]?.request)}, answered ${answer.join('; ')}`;
}
