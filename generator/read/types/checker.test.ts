import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../runtime/config/test-support/temporary-folder.js';
import type { FieldSchema } from '../../schema/type-schema.js';
import { readProject } from '../read-project.js';

let folder = '';

beforeEach(() => {
  folder = realpathSync(temporaryFolder(onTestFinished));
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const PATHS = { source: 'app/src', output: 'app/src/generated', migrations: 'app/migrations' };

/** Reads the fields of the only model, each as one line. */
function fieldsOf(): { readonly fields: readonly string[]; readonly inputs: readonly string[] } {
  const { schema, diagnostics, inputs } = readProject(folder, PATHS);
  expect(diagnostics).toEqual([]);
  return { fields: (schema.models[0]?.fields ?? []).map(inWords), inputs };
}

function inWords({ name, type }: FieldSchema): string {
  return `${name}: ${JSON.stringify(type, (key, value) => (key === 'location' || key === 'tags' ? undefined : value))}`;
}

function model(imports: string, fields: string): Readonly<Record<string, string>> {
  return {
    'app/src/thing.ts': `import { AutoBuilder, type Id, Model } from 'fw-actions';
${imports}
@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  ${fields}
}
`,
  };
}

test('path aliases of the nearest tsconfig.json name classes, constants and types', () => {
  write({
    'tsconfig.base.json': '{ "compilerOptions": { "paths": { "@shared/*": ["./shared/*"] } } }',
    'app/tsconfig.json': '{ "extends": "../tsconfig.base.json" }',
    'shared/place.ts': `import { AutoBuilder, type Id, Model } from 'fw-actions';
export const COLOURS = ['red', 'blue'] as const;
@AutoBuilder
export class Place extends Model<Place, Id<Place>> {}
`,
    ...model(
      "import type { COLOURS, Place } from '@shared/place.js';",
      "readonly place!: Place['id'];\n  readonly other!: Id<Place>;\n  readonly colour!: (typeof COLOURS)[number];",
    ),
  });
  const { fields, inputs } = fieldsOf();
  const id = '{"kind":"id","model":{"name":"Place","file":"shared/place.ts","marked":true},"sharded":false}';
  expect(fields).toEqual([`place: ${id}`, `other: ${id}`, 'colour: {"kind":"enum","values":["red","blue"]}']);
  expect(inputs).toEqual(
    expect.arrayContaining(['app/tsconfig.json', 'tsconfig.base.json', 'shared/place.ts']),
  );
});

test('imports of a package that name compiled files are read from their sources', () => {
  write({
    'app/package.json': '{ "type": "module", "imports": { "#lib/*": "./dist/zones/*" } }',
    'app/tsconfig.json': '{ "compilerOptions": { "rootDir": "src", "outDir": "dist" } }',
    'app/src/zones/zone.ts': `import { AutoBuilder, type Id, Model } from 'fw-actions';
export interface Size { readonly width: number }
@AutoBuilder
export class Zone extends Model<Zone, Id<Zone>> {}
`,
    ...model(
      "import type { Zone, Size } from '#lib/zone.js';",
      'readonly place!: Id<Zone>;\n  readonly size!: Size;',
    ),
  });
  const { fields, inputs } = fieldsOf();
  expect(fields).toEqual([
    expect.stringContaining('"model":{"name":"Zone","file":"app/src/zones/zone.ts"'),
    expect.stringContaining('"name":"width"'),
  ]);
  expect(inputs).toContain('app/src/zones/zone.ts');
});

test('imports of a package that name compiled files lead to emitted files that do not exist yet', () => {
  write({
    'app/package.json': '{ "type": "module", "imports": { "#src/*": "./dist/*" } }',
    'app/tsconfig.json': '{ "compilerOptions": { "rootDir": "src", "outDir": "dist" } }',
    'app/src/actions.ts': `import { Action, type Clock, FwAction } from 'fw-actions';
import type { ThingRepository } from '#src/generated/thing.js';
@FwAction
export class FindAction extends Action<Record<string, never>, void> {
  constructor(clock: Clock, readonly things: ThingRepository) {
    super(clock);
  }
}
`,
    ...model('', 'readonly title!: string;'),
  });
  const { schema } = readProject(folder, PATHS);
  const file = 'app/src/generated/thing.ts';
  expect(schema.actions[0]?.collaborators.map(({ wiring }) => wiring)).toEqual([
    { kind: 'clock' },
    { kind: 'default-repository', name: 'ThingRepository', file },
  ]);
});

test('a computed interface is read where another file uses it', () => {
  write({
    'app/src/size.ts': `interface Wide { readonly width: number; readonly label: 'A' | 'B'; readonly depth: 'C' | 'D' }
export interface Size extends Omit<Wide, 'width'> { readonly unit: 'M' | 'FT' }
`,
    ...model("import type { Size } from './size.js';", 'readonly size!: Size;'),
  });
  const { fields } = fieldsOf();
  expect(fields).toEqual([expect.stringMatching(/"unit".*"M","FT"/)]);
  expect(fields[0]).toMatch(/"label".*"A","B".*"depth".*"C","D"/);
});

test('types of a workspace package are read from its sources, and imported by its name', () => {
  write({
    'app/package.json': '{ "type": "module" }',
    'packages/shared/package.json':
      '{ "name": "@acme/shared", "type": "module", "exports": "./src/index.ts" }',
    'packages/shared/src/index.ts': `export enum Level { Low = 'LOW', High = 'HIGH' }
export interface Page<T> { readonly items: readonly T[]; readonly next?: string }
`,
    ...model(
      "import type { Level, Page } from '@acme/shared';",
      'readonly level!: Level;\n  readonly page!: Page<bigint>;',
    ),
  });
  mkdirSync(join(folder, 'node_modules/@acme'), { recursive: true });
  symlinkSync(join(folder, 'packages/shared'), join(folder, 'node_modules/@acme/shared'));
  const { fields, inputs } = fieldsOf();
  expect(fields).toEqual([
    'level: {"kind":"enum","values":["LOW","HIGH"],"reference":{"kind":"package","module":"@acme/shared","name":"Level"}}',
    'page: {"kind":"object","fields":[{"name":"items","type":{"kind":"list","of":{"kind":"bigint"}},"optional":false,"nullable":false},{"name":"next","type":{"kind":"string"},"optional":true,"nullable":false}]}',
  ]);
  expect(inputs).toContain('packages/shared/src/index.ts');
});

test('the order of a union is that of its source, whatever was asked before', () => {
  const others = "readonly other!: Exclude<'amber' | 'red' | 'x', 'x'>;";
  write({
    ...model(
      "import type { Colours } from './colours.js';",
      `${others}\n  readonly colour!: keyof Colours;\n  readonly rest!: Exclude<keyof Colours, 'red'>;`,
    ),
    'app/src/colours.ts': 'export interface Colours { blue: 1; red: 2; amber: 3 }\n',
  });
  expect(fieldsOf().fields).toEqual([
    'other: {"kind":"enum","values":["amber","red"]}',
    'colour: {"kind":"enum","values":["blue","red","amber"]}',
    'rest: {"kind":"enum","values":["blue","amber"]}',
  ]);
});

test('a type that only the checker knows may contain itself', () => {
  write(
    model(
      `type Folder = { readonly [name: string]: Folder };
type Node = (Partial<{ next: Node | null; all: readonly Node[] }>);`,
      'readonly folder!: Folder;\n  readonly node!: Node;',
    ),
  );
  expect(fieldsOf().fields).toEqual([
    'folder: {"kind":"recursive","name":"Folder","of":{"kind":"record","of":{"kind":"again","name":"Folder"}}}',
    'node: {"kind":"recursive","name":"Node","of":{"kind":"object","fields":[{"name":"next","type":{"kind":"again","name":"Node"},"optional":true,"nullable":true},{"name":"all","type":{"kind":"list","of":{"kind":"again","name":"Node"}},"optional":true,"nullable":false}],"name":"Node"}}',
  ]);
});

test('an alias with null contains itself with null', () => {
  write(
    model(
      `type Json = string | null | readonly Json[] | { readonly [key: string]: Json };
type Stop = { readonly depot: string; readonly next: Stop; readonly last: Partial<Stop> } | null;
type Fork = { readonly left: Fork } | undefined;`,
      'readonly json!: Json;\n  readonly stop!: Stop;\n  readonly fork?: Fork;',
    ),
  );
  const [json, stop, fork] = fieldsOf().fields;
  expect(json).toContain('{"kind":"list","of":{"kind":"again","name":"Json"},"nullable":true}');
  expect(json).toContain('{"kind":"record","of":{"kind":"again","name":"Json"},"nullable":true}');
  expect(stop).toContain(
    '{"name":"next","type":{"kind":"again","name":"Stop"},"optional":false,"nullable":true}',
  );
  expect(stop).toMatch(/"name":"last","type":.*,"optional":false,"nullable":true\}/);
  expect(fork).toContain(
    '{"name":"left","type":{"kind":"again","name":"Fork"},"optional":true,"nullable":false}',
  );
});

test('types that a file declares for all others need no import', () => {
  write({
    'app/src/globals.d.ts': 'interface Point { readonly x: number }\n',
    'app/src/more.ts': 'export {};\ndeclare global {\n  type Colour = "red" | "blue";\n}\n',
    ...model('', 'readonly point!: Point;\n  readonly colour!: Colour;'),
  });
  expect(fieldsOf().fields).toEqual([
    'point: {"kind":"object","fields":[{"name":"x","type":{"kind":"number"},"optional":false,"nullable":false}],"name":"Point"}',
    'colour: {"kind":"enum","values":["red","blue"]}',
  ]);
});

test('the emitted code does not determine what is emitted', () => {
  write({
    ...model(
      "import type { ThingField } from './generated/thing.js';",
      'readonly first!: Exclude<ThingField, number>;',
    ),
    'app/src/generated/thing.ts': "export type ThingField = 'a' | 'b';\n",
  });
  const { schema } = readProject(folder, PATHS);
  expect(schema.models[0]?.fields[0]?.type.kind).toBe('unsupported');
});

test.each([
  ['Partial<Part>', 'PartialPart'],
  ['readonly Required<Part>[]', 'RequiredPart'],
  ["Pick<Part, 'part' | 'size'>", 'PickPart'],
  ["Omit<Part, 'size'>", 'OmitPart'],
  ['Readonly<Record<string, Partial<Part>>>', 'Record'],
  ['Partial<Part> | string | null', 'PartialPart'],
  ['Partial<Partial<Part>>', 'PartialPartial'],
  ['Readonly<Part>', 'Part'],
  ['NonNullable<Part>', 'Part'],
  ['Extract<Part | string, object>', 'Part'],
  ['Part & { readonly more?: string }', 'Nested'],
  ['{ readonly [K in keyof Part]-?: Part[K] }', 'Nested'],
  ['Own<Part>', 'Own'],
  ['Box<Partial<Part>>', 'Box'],
  ["Part['other']; readonly other?: Partial<Part>", 'PartialPart'],
  ['ReturnType<typeof partOf>', 'PartialPart'],
])('a field may have the type %s of the interface around it', (type, name) => {
  write(
    model(
      `interface Part { readonly size: number; readonly part?: ${type} }
type Own<T> = { readonly [K in keyof T]?: T[K] };
interface Box<T> { readonly value: T }
declare function partOf(): Partial<Part>;`,
      'readonly part!: Part;',
    ),
  );
  const [part = ''] = fieldsOf().fields;
  expect(part).toContain(`"kind":"recursive","name":"${name}"`);
  expect(part).toContain(`{"kind":"again","name":"${name}"`);
});

test('a type that contains a declared one refers to that one', () => {
  write(
    model(
      'interface Part { readonly parts: Record<string, Part> }',
      'readonly parts!: Record<string, Part>;',
    ),
  );
  const [parts = ''] = fieldsOf().fields;
  expect(parts).toMatch(/^parts: {"kind":"record","of":{"kind":"recursive","name":"Part"/);
  expect(parts).not.toContain('"name":"Record"');
});
