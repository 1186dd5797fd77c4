import { compareText } from '../../diagnostics.js';
import type { Emission } from '../emission.js';
import type { ShardedModels } from '../field-type.js';
import { type Code, Members } from '../print/code.js';
import type { RoutedAction } from '../routes.js';
import { Components } from './components.js';
import { operation } from './operation.js';

/** What an API document says of itself. */
export interface ApiInfo {
  readonly title: string;
  readonly version: string;
}

/** The OpenAPI 3.1 document of all routes, as data. */
export function openApiDocument(
  routes: readonly RoutedAction[],
  info: ApiInfo,
  isSharded: ShardedModels,
  part: Emission['part'] = (code) => code,
): Code {
  const components = new Components(isSharded, part);
  const paths = pathItems(routes, components, part);
  const tags = [...new Set(routes.flatMap(({ route }) => (route.tag === undefined ? [] : [route.tag])))];
  return {
    openapi: '3.1.0',
    info: {
      title: info.title,
      version: info.version,
      description: 'Actions over HTTP. Errors are problem details (RFC 9457); branch on their `code`.',
    },
    servers: [{ url: '/' }],
    security: [],
    tags:
      tags.length === 0
        ? undefined
        : tags.sort(compareText).map((name) => ({ name, description: `Operations of ${name}.` })),
    paths,
    components: components.toCode(),
  };
}

const METHOD_ORDER: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The member of one operation in that of its path. */
export function operationPart(routed: RoutedAction, components: Components, part: Emission['part']): Code {
  return part(operation(routed, components), 6, `${routed.route.method}: ,`.length);
}

function pathItems(routes: readonly RoutedAction[], components: Components, part: Emission['part']): Code {
  const items = new Map<string, Record<string, Code>>();
  const ordered = [...routes].sort(
    (a, b) =>
      compareText(a.route.path, b.route.path) ||
      METHOD_ORDER.indexOf(a.route.method) - METHOD_ORDER.indexOf(b.route.method),
  );
  for (const routed of ordered) {
    const item = items.get(routed.route.path) ?? {};
    const method = routed.route.method.toLowerCase();
    item[method] = operationPart(routed, components, part);
    items.set(routed.route.path, item);
  }
  return new Members([...items]);
}
