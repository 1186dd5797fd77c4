import { expect, test } from 'vitest';
import type { AccessConfig } from '../config/types.js';
import { namedFields, objectType, t } from '../domain/field-types.js';
import { openApiDocument } from './document.js';
import { documentedAccess, OPEN_ACCESS } from './documented-access.js';
import type { DocumentedRoute } from './documented-route.js';

const OPEN: AccessConfig = {
  default: 'allow',
  jwt: undefined,
  apiKeys: false,
  clientCertificates: 'off',
  tenancy: undefined,
  operators: undefined,
  requestsPerSecond: undefined,
  sharedLimits: false,
  concurrentRequests: undefined,
  hosts: [],
};
const TOKENS: AccessConfig['jwt'] = {
  ...{ issuer: 'https://login.example/', audience: 'notes', jwksUrl: undefined },
  claims: [],
};
const RULED = { method: 'GET', path: '/a', operation: 'A', status: 204, params: [], rule: 'some' } as const;
const FOR_ALL = { ...RULED, path: '/b', operation: 'B', rule: 'everyone' } as const;
const { rule: _, ...UNRULED } = { ...RULED, path: '/c', operation: 'C' };
const ROUTES: readonly DocumentedRoute[] = [RULED, FOR_ALL, UNRULED];

interface Shown {
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, { readonly get: { readonly responses: object } }>>;
  readonly components: {
    readonly securitySchemes?: object;
    readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
  };
}

test('a currency has its default beside the reference to the codes', () => {
  const params = namedFields({ currency: t.currency({ default: 'EUR', doc: 'Of the price.' }) });
  const route: DocumentedRoute = { ...RULED, method: 'POST', operation: 'SellAction', params };
  expect(openApiDocument([route], { title: 'T', version: '1' })).toMatchObject({
    components: {
      schemas: {
        SellRequest: {
          properties: {
            currency: {
              description: 'Of the price.',
              $ref: '#/components/schemas/Currency',
              default: 'EUR',
            },
          },
        },
      },
    },
  });
});

test('the operations of classes with one name have different ids', () => {
  const routes = ['/b', '/a', '/c'].map((path) => ({ ...RULED, path }));
  const { paths } = openApiDocument(routes, { title: 'T', version: '1' });
  const ids = Object.entries(paths as object).map(([path, { get }]) => [path, get.operationId]);
  expect(ids).toEqual([
    ['/a', 'A'],
    ['/b', 'A2'],
    ['/c', 'A3'],
  ]);
});

test('the document names contact and license, and streams of events with their position', () => {
  const feed = {
    ...ROUTES[0],
    method: 'GET',
    feed: 'id',
    response: { type: { kind: 'object', fields: [] } },
  };
  const document = openApiDocument([feed as unknown as DocumentedRoute], {
    ...{ title: 'T', version: '1', contact: 'api@example.com', license: 'Apache-2.0' },
  });
  const text = JSON.stringify(document);
  expect(text).toContain('"contact":{"email":"api@example.com"}');
  expect(text).toContain('"license":{"name":"Apache-2.0","identifier":"Apache-2.0"}');
  expect(text).toContain('"text/event-stream"');
  expect(text).toContain('#/components/parameters/LastEventID');
  expect(JSON.stringify(openApiDocument(ROUTES, { title: 'T', version: '1' }))).not.toMatch(
    /contact|license|event-stream/,
  );
});

test('a response that contains itself has one schema', () => {
  const inner = t.object({ name: t.string(), children: t.list(t.again('Tree')) });
  const type = objectType({
    ...{ name: 'Tree', doc: 'A tree.' },
    fields: { name: t.string(), children: t.list(t.recursive('Tree', inner)) },
  });
  // A type of the same name with other fields.
  const other = objectType({ name: 'Tree', fields: { tree: t.recursive('Tree', inner) } });
  const routes = [type, other].map((each, index) => ({
    ...{ ...RULED, path: `/${index}`, operation: `A${index}` },
    response: { type: each, map: (value: unknown) => value },
  }));
  const document = openApiDocument(routes as unknown as readonly DocumentedRoute[], {
    title: 'T',
    version: '1',
  });
  const schemas = Object.entries(document['components'] as object).find(([name]) => name === 'schemas')?.[1];
  const at = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
  const treeOf = (name: string): object =>
    expect.objectContaining({
      properties: { name: { type: 'string' }, children: { type: 'array', items: at(name) } },
    });
  expect(schemas).toEqual({
    Problem: expect.anything(),
    Tree: treeOf('Tree'),
    Tree2: expect.objectContaining({ properties: { tree: at('Tree') } }),
  });
});

function shown(config: AccessConfig, inCode = OPEN_ACCESS): Shown {
  const access = documentedAccess(config, inCode);
  // The document is plain JSON of a known structure.
  return openApiDocument(ROUTES, { title: 'T', version: '1' }, access) as unknown as Shown;
}

function statuses({ paths }: Shown): readonly (readonly string[])[] {
  return Object.values(paths).map(({ get }) => Object.keys(get.responses));
}

test('without requirements for callers, only routes with rules list refusals', () => {
  const document = shown(OPEN);
  expect(document.security).toEqual([]);
  expect(document.components).not.toHaveProperty('securitySchemes');
  expect(statuses(document)).toEqual([
    ['204', '403', '503', 'default'],
    ['204', '503', 'default'],
    ['204', '503', 'default'],
  ]);
});

test('a document lists every way to authenticate, and each refusal that the configuration causes', () => {
  const document = shown({
    ...OPEN,
    ...{ default: 'deny', jwt: TOKENS, apiKeys: true, concurrentRequests: 3, hosts: ['a.example'] },
  });
  expect(document.security).toEqual([{ apiKey: [] }, { token: [] }]);
  expect(document.components.securitySchemes).toMatchObject({
    apiKey: { type: 'apiKey', name: 'X-Api-Key' },
    token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  });
  expect(statuses(document)).toEqual([
    ['204', '401', '403', '421', '429', '503', 'default'],
    ['204', '401', '421', '429', '503', 'default'],
    ['204', '401', '403', '421', '429', '503', 'default'],
  ]);
  const { TooManyRequests, Unauthorized } = document.components.responses;
  expect(TooManyRequests?.headers).toHaveProperty('Retry-After');
  expect(Unauthorized?.headers).toHaveProperty('WWW-Authenticate');
});

test('the code’s authenticator is documented unless the configuration has one', () => {
  const inCode = { ...OPEN_ACCESS, schemes: { caller: { type: 'http', scheme: 'basic' } } };
  expect(shown(OPEN, inCode).security).toEqual([{ caller: [] }]);
  expect(shown({ ...OPEN, apiKeys: true }, inCode).security).toEqual([{ apiKey: [] }]);
});
