import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import type { Diagnostic } from './diagnostics.js';
import { generate } from './generate.js';
import { compilerComplaints, emitDeclarations } from './test-support/compiler.js';

/** A source with one mistake on the line that `paste` replaces by the code of the hint. */
interface Mistake {
  readonly name: string;
  readonly source: string;
  /** The line to replace. */
  readonly line: string;
  /** The code that the hint must show. */
  readonly code: string;
  /** Adds other lines that the hint asks for in words. */
  readonly also?: (text: string) => string;
  /** Other sources by name. */
  readonly others?: Readonly<Record<string, string>>;
}

const model = (field: string): string => `import { AutoBuilder, Model, type ShardedId } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, ShardedId<Thing>, 'OPEN'> {
  readonly title!: string;
  ${field}
}
`;

const event = (members: string): string => `import { ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

export class ThingMade extends ModelEvent<Thing> {
  ${members}
}
`;

const MISTAKES: readonly Mistake[] = [
  ...[
    { field: 'note?: string;', code: 'readonly note?: string;' },
    { field: 'note: string;', code: 'readonly note!: string;' },
    { field: 'readonly note: string = "x";', code: 'readonly note!: string;' },
    { field: 'readonly count = 1;', code: 'readonly count!: number;' },
    { field: 'readonly isOpen? = true;', code: 'readonly isOpen?: boolean;' },
    { field: 'readonly untyped;', code: 'readonly untyped!: string;' },
    { field: 'readonly [Symbol.iterator]?: string;', code: 'readonly field?: string;' },
    { field: 'protected readonly note?: string;', code: 'readonly note?: string;' },
    { field: 'private note!: string | null;', code: 'readonly note!: string | null;' },
  ].map(({ field, code }) => ({ name: `the model field ${field}`, source: model(field), line: field, code })),
  ...[
    { type: 'Float64Array', code: 'readonly number[]' },
    { type: 'ArrayBuffer', code: 'string' },
  ].map(({ type, code }) => ({
    name: `the type ${type}`,
    source: model(`readonly data!: ${type};`),
    line: type,
    code,
  })),
  { name: 'an empty name', source: model("readonly ''!: string;"), line: "''", code: 'value' },
  ...[
    { field: 'private readonly note?: string;', code: 'readonly note?: string;' },
    { field: 'accessor note!: string;', code: 'readonly note!: string;' },
    { field: '[key: string]: string | null;', code: 'readonly entries!: Record<string, string | null>;' },
  ].map(({ field, code }) => ({ name: `the event field ${field}`, source: event(field), line: field, code })),
  {
    name: 'a private parameter property',
    source: event('constructor(private readonly note?: string) { super("", Thing); }'),
    line: 'private readonly note?: string',
    code: 'readonly note?: string',
  },
  {
    name: 'a parameter property without a type',
    source: event('constructor(readonly count = 1) { super("", Thing); }'),
    line: 'readonly count = 1',
    code: 'readonly count: number',
  },
];

/** A model with a field of a type whose import is missing or wrong. */
const importOf = (what: string, { type, code, line = '', others = {} }: Import): Mistake => {
  const source = `${line}${model(`readonly field!: ${type};`)}`;
  return { name: `a type ${what}`, source, line, code: `${code}`, others };
};

interface Import {
  readonly type: string;
  readonly code: string;
  readonly line?: string;
  readonly others?: Readonly<Record<string, string>>;
}

const ADDRESS = 'interface Address { readonly street: string }';
const IMPORTS: readonly Mistake[] = [
  importOf('that is a default export', {
    type: 'Address',
    code: "import type Address from './address.js';",
    others: { 'src/address.ts': `export default ${ADDRESS}` },
  }),
  importOf('that another file exports', {
    type: 'readonly Address[]',
    code: "import type { Address } from './deep/address.js';",
    others: { 'src/deep/address.ts': `export ${ADDRESS}` },
  }),
  importOf('of a file that was moved', {
    type: 'Address',
    line: "import type { Address } from './addresses/address.js';\n",
    code: "import type { Address } from './address.js';",
    others: { 'src/address.ts': `export ${ADDRESS}` },
  }),
  importOf('behind an alias', {
    type: 'Address | null',
    line: "import type { Address } from '#models/address.js';\n",
    code: "import type { Address } from './address.js';",
    others: { 'src/address.ts': `export ${ADDRESS}` },
  }),
  importOf('of this package', { type: 'Uuid', code: "import type { Uuid } from 'fw-actions';" }),
  importOf('that does not exist', {
    type: 'Adress',
    code: 'export interface Adress { readonly field: string }',
  }),
];

/** A class whose former name is in a lock file. */
const renamed = (kind: string, { code, source, line, key = `${kind} Former` }: Renamed): Mistake => {
  const [file, group, text] = {
    event: ['events', 'events', '{"type":"object","properties":{},"model":"Thing"}'] as const,
    action: ['params', 'params', '{"type":"object","properties":{}}'] as const,
  }[kind] ?? ['names', 'names', '{}'];
  const lock = `{\n  "about": "",\n  "format": 1,\n  "${group}": {\n    "${key}@1": ${text}\n  }\n}\n`;
  const others = { [`src/migrations/${file}.lock`]: lock };
  return { name: `a renamed ${kind}`, source, line, code, others };
};

interface Renamed {
  readonly source: string;
  readonly line: string;
  readonly code: string;
  readonly key?: string;
}

const RENAMED: readonly Mistake[] = [
  renamed('model', { source: model(''), line: '@AutoBuilder', code: "@AutoBuilder({ name: 'Former' })" }),
  renamed('event', {
    source: event('').replace('ModelEvent', 'FwEvent, ModelEvent').replace('export', '@FwEvent({})\nexport'),
    line: '@FwEvent({})',
    code: "@FwEvent({ name: 'Former' })",
    key: 'Former',
  }),
  renamed('action', {
    source: `import { Action, FwAction } from 'fw-actions';

/** @version 1 */
@FwAction
export class ThingMakeAction extends Action<{}, void> {
  protected perform(): void {}
}
`,
    line: '@FwAction',
    code: "@FwAction({ name: 'Former' })",
    key: 'Former',
  }),
  renamed('handler', {
    source: `import { type EventEnvelope, type EventHandler, FwEventHandler, ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

export class ThingLost extends ModelEvent<Thing> {}

@FwEventHandler
export class ThingMail implements EventHandler<ThingLost> {
  handle(_envelope: EventEnvelope<ThingLost>): void {}
}
`,
    line: '@FwEventHandler',
    code: "@FwEventHandler({ name: 'Former' })",
  }),
  renamed('saga', {
    source: `import { FwSaga, ModelEvent, Saga, type SagaSteps } from 'fw-actions';
import type { Thing } from './thing.js';

export class ThingFound extends ModelEvent<Thing> {}

@FwSaga
export class ThingSaga extends Saga<Thing> {
  // the name
  override readonly steps: SagaSteps<Thing> = {};
}
`,
    line: '// the name',
    code: "override readonly name = 'Former';",
  }),
];

const workshop = temporaryFolder();
let declarations = '';

beforeAll(() => {
  declarations = emitDeclarations(join(workshop, 'declarations'));
});

async function diagnosticsOf(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<readonly Diagnostic[]> {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const result = await generate({
    projectDirectory: folder,
    sourceDirectory: join(folder, 'src'),
    outputDirectory: join(folder, 'src/generated'),
    migrationsDirectory: join(folder, 'src/migrations'),
  });
  return result.diagnostics;
}

/** The first piece of code in a hint. */
function codeIn({ hint }: Diagnostic): string | undefined {
  return /`([^`]+)`/.exec(hint)?.[1];
}

test.each([...MISTAKES, ...IMPORTS, ...RENAMED])(
  'the code in the hint on $name removes the mistake',
  async ({ name, source, line, code, also, others = {} }) => {
    const folder = join(workshop, name.replaceAll(/\W+/g, '-'));
    const isModel = source.includes('@AutoBuilder');
    const all = { ...(isModel ? {} : { 'src/thing.ts': model('') }), ...others };
    const file = isModel ? 'src/thing.ts' : 'src/thing-made.ts';
    const [found, ...further] = await diagnosticsOf(folder, { ...all, [file]: source });
    expect(further).toEqual([]);
    expect(found && codeIn(found)).toBe(code);
    const mended = line === '' ? `${code}\n${source}` : source.replace(line.trim(), code);
    expect(await diagnosticsOf(folder, { [file]: also?.(mended) ?? mended })).toEqual([]);
  },
);

test('all of the pasted code compiles under the strictest flags', () => {
  const complaints = compilerComplaints({
    folder: workshop,
    declarations,
    compiler: 'typescript',
    module: 'NodeNext',
    experimentalDecorators: true,
    isolatedDeclarations: false,
  });
  expect(complaints.filter((line) => !line.startsWith('declarations/'))).toEqual([]);
});
