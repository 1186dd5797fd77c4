import { type OutgoingHttpHeaders, STATUS_CODES } from 'node:http';
import { time } from '../../concurrency/time.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { PROBLEM_KINDS, type ProblemCode, problemType } from '../problem-kinds.js';
import type { SecurityHeaders } from '../security-headers.js';
import { NO_SHARD } from './admission.js';

/** A refusal without its `instance`. Thousands are sent per second. */
interface Template {
  readonly before: string;
  readonly after: string;
}

const templates = new Map<number, Template>();

/**
 * A 503 that costs as little as possible: only the path is added to a prepared body.
 *
 * @param url the request target
 * @param shard bits of the busy shard, or `NO_SHARD`
 * @param returnMs milliseconds after which the client may retry
 */
export function refusalOf(
  url = '/',
  shard: number,
  returnMs: number,
): { readonly headers: OutgoingHttpHeaders; readonly body: string } {
  const headers = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'retry-after': retryAfter(returnMs),
  };
  return { headers, body: bodyOf(url, shard) };
}

/** The same as the bytes of a response, all ASCII, for requests that were not parsed. */
export function rawRefusal(
  target: string,
  shard: number,
  { returnMs, headers }: { readonly returnMs: number; readonly headers: SecurityHeaders },
): string {
  const body = bodyOf(target, shard);
  return `${RAW_HEAD}${headers.lines}retry-after: ${retryAfter(returnMs)}\r\ncontent-length: ${body.length}\r\ndate: ${httpDate()}\r\n\r\n${body}`;
}

const RAW_HEAD = [
  `HTTP/1.1 503 ${STATUS_CODES[503]}`,
  'content-type: application/problem+json',
  'cache-control: no-store',
  'connection: keep-alive',
  '',
].join('\r\n');

let dated = { second: 0, text: '' };

/** Formatted once per second. */
function httpDate(): string {
  const nowMs = time.dateMs();
  const second = Math.floor(nowMs / 1_000);
  if (second !== dated.second) dated = { second, text: new Date(nowMs).toUTCString() };
  return dated.text;
}

function retryAfter(returnMs: number): string {
  return String(Math.ceil(returnMs / 1_000));
}

function bodyOf(url: string, shard: number): string {
  const { before, after } = templateOf(shard);
  const end = url.search(/[?#]/);
  return before + JSON.stringify(end < 0 ? url : url.slice(0, end)) + after;
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
