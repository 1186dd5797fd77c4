import type { IncomingHttpHeaders } from 'node:http';
import { HttpProblem } from './problem.js';

/** @throws HttpProblem (415) unless a body with these headers is uncompressed JSON in UTF-8 */
export function requireJson(headers: IncomingHttpHeaders): void {
  if (isJsonContent(headers['content-type'], headers['content-encoding'])) return;
  const detail = 'The body must be application/json in UTF-8, uncompressed';
  throw new HttpProblem('HTTP_UNSUPPORTED_MEDIA_TYPE', detail);
}

/** Types that end in `+json` are other formats. */
function isJsonContent(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') return false;
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || ['utf-8', 'utf8'].includes(value.trim().replaceAll('"', ''));
  });
}

const JSON_RANGES = ['application/json', 'application/*', '*/*'];

/** True unless `Accept` excludes JSON. The most specific matching range decides; a weight of 0 refuses. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true;
  const weights = readWeights(accept);
  const decisive = JSON_RANGES.find((range) => weights.has(range));
  return decisive === undefined ? accept.trim() === '' : (weights.get(decisive) ?? 0) > 0;
}

/** True if `Accept` names the media type of server-sent events. */
export function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('event-stream')) return false;
  return (readWeights(accept).get('text/event-stream') ?? 0) > 0;
}

/** True if `Accept-Encoding` allows gzip. */
export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (typeof acceptEncoding !== 'string') return false;
  const weights = readWeights(acceptEncoding);
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

/** The members of a list such as `gzip, br;q=0.5` with their weights. */
function readWeights(list: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const member of list.toLowerCase().split(',')) {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight));
  }
  return weights;
}
