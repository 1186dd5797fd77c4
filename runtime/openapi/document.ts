import { byName, type JsonPart, membersOf } from '../domain/kinds/json-schema.js';
import { Components } from './components.js';
import { type DocumentedAccess, OPEN_ACCESS } from './documented-access.js';
import type { DocumentedRoute } from './documented-route.js';
import { operation } from './operation.js';

export type { JsonPart } from '../domain/kinds/json-schema.js';

/** Title and version of an API document. */
export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  /** Contact of the API: a name, an e-mail address or a URL. Default: the document has no contact. */
  readonly contact?: string | undefined;
  /** Terms of use: an SPDX identifier or another name. Default: the document names none. */
  readonly license?: string | undefined;
}

/**
 * The OpenAPI 3.1 document of all routes.
 *
 * @param access requirements for callers. Default: none
 */
export function openApiDocument(
  routes: readonly DocumentedRoute[],
  { title, version, contact, license }: ApiInfo,
  access: DocumentedAccess = OPEN_ACCESS,
): JsonPart {
  const components = new Components(access.schemes);
  const paths = pathItems(routes, components, access);
  const tags = [...new Set(routes.flatMap(({ tag }) => (tag === undefined ? [] : [tag])))].sort(byName);
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description: 'Actions over HTTP. Errors are problem details (RFC 9457); branch on their `code`.',
      ...(contact === undefined ? {} : { contact: contactOf(contact) }),
      ...(license === undefined ? {} : { license: licenseOf(license) }),
    },
    servers: [{ url: '/' }],
    // A caller needs one of the schemes.
    security: Object.keys(access.schemes).map((name) => ({ [name]: [] })),
    ...(tags.length === 0
      ? {}
      : { tags: tags.map((name) => ({ name, description: `Operations of ${name}.` })) }),
    paths,
    components: components.toJson(),
  };
}

function contactOf(text: string): JsonPart {
  if (URL.canParse(text)) return { url: text };
  return /^[^\s@]+@[^\s@]+$/.test(text) ? { email: text } : { name: text };
}

function licenseOf(name: string): JsonPart {
  return /^[A-Za-z0-9.+-]+$/.test(name) ? { name, identifier: name } : { name };
}

const METHOD_ORDER: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function pathItems(
  routes: readonly DocumentedRoute[],
  components: Components,
  access: DocumentedAccess,
): JsonPart {
  const items = new Map<string, Record<string, JsonPart>>();
  const ids = new Set<string>();
  const ordered = [...routes].sort(
    (a, b) => byName(a.path, b.path) || METHOD_ORDER.indexOf(a.method) - METHOD_ORDER.indexOf(b.method),
  );
  for (const route of ordered) {
    const item = items.get(route.path) ?? {};
    item[route.method.toLowerCase()] = operation(
      { ...route, operation: reserve(route.operation, ids) },
      components,
      access,
    );
    items.set(route.path, item);
  }
  return membersOf(items);
}

/** The id of an operation: numbered if classes of several folders have one name, because ids are unique. */
function reserve(preferred: string, ids: Set<string>): string {
  let id = preferred;
  for (let count = 2; ids.has(id); count += 1) id = `${preferred}${count}`;
  ids.add(id);
  return id;
}
