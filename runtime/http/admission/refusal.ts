import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { PROBLEM_KINDS, type ProblemCode, problemType } from '../problem-kinds.js';
import { NO_SHARD } from './admission.js';

/** A refusal but for its `instance`, of which there are thousands per second. */
interface Template {
  readonly before: string;
  readonly after: string;
}

const templates = new Map<number, Template>();

/**
 * A 503 that costs as little as possible: its body is made but for the path.
 *
 * @param shard bits of the shard that is busy, or `NO_SHARD`
 * @param returnMs after how many milliseconds the client should come back
 */
export function refusalOf(
  { url = '/' }: IncomingMessage,
  shard: number,
  returnMs: number,
): { readonly headers: OutgoingHttpHeaders; readonly body: string } {
  const { before, after } = templateOf(shard);
  const end = url.search(/[?#]/);
  const headers = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'retry-after': String(Math.ceil(returnMs / 1_000)),
  };
  return { headers, body: before + JSON.stringify(end < 0 ? url : url.slice(0, end)) + after };
}

function templateOf(shard: number): Template {
  let template = templates.get(shard);
  if (template === undefined) {
    template = makeTemplate(shard);
    templates.set(shard, template);
  }
  return template;
}

function makeTemplate(shard: number): Template {
  const code: ProblemCode = shard === NO_SHARD ? 'HTTP_BUSY' : 'FW_SHARD_BUSY';
  const { status, title, detail } = PROBLEM_KINDS[code];
  const members = shard === NO_SHARD ? {} : { shard: ShardIdentifier.fromBits(shard).toString() };
  const before = JSON.stringify({ type: problemType(code), title, status, detail }).slice(0, -1);
  const after = JSON.stringify({ code, ...members }).slice(1);
  return { before: `${before},"instance":`, after: `,${after}` };
}
