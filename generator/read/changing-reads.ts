import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { abbreviate } from './read-literal.js';
import type { Perform } from './shards/perform.js';
import { locationOf } from './source-files.js';

/** Methods of a plan that change what is stored. */
const CHANGES: ReadonlySet<string> = new Set(['add', 'update', 'getOrAdd', 'schedule', 'cancelSchedule']);

/** Warns of a `GET` route whose action changes what is stored, although its requests may be repeated by anyone. */
export function changingReads({ action, uses }: Perform): readonly Diagnostic[] {
  const { className, route } = action;
  if (route?.method !== 'GET') return [];
  const change = uses.find(({ of, method = '' }) => of === 'plan' && CHANGES.has(method));
  if (change === undefined) return [];
  const { path } = route;
  const message = `GET ${path} changes what is stored: ${className} calls \`${abbreviate(change.node.getText())}\``;
  const hint = `Use a method with an idempotency key, because clients and proxies repeat a GET: \`@HttpRoute('POST', '${path}')\`.`;
  return [diagnostic('FWGEN073', locationOf(change.node), message, hint)];
}
