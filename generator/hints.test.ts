import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
    { field: 'protected readonly note?: string;', code: 'readonly note?: string;' },
    { field: 'private note!: string | null;', code: 'readonly note!: string | null;' },
  ].map(({ field, code }) => ({ name: `the model field ${field}`, source: model(field), line: field, code })),
  { name: 'an empty name', source: model("readonly ''!: string;"), line: "''", code: 'value' },
  ...[
    { field: 'private readonly note?: string;', code: 'readonly note?: string;' },
    { field: 'accessor note!: string;', code: 'readonly note!: string;' },
  ].map(({ field, code }) => ({ name: `the event field ${field}`, source: event(field), line: field, code })),
  {
    name: 'an optional parameter property',
    source: event('constructor(readonly note?: string) { super("", Thing); }'),
    line: 'constructor(readonly note?: string) { super("", Thing); }',
    code: 'readonly note?: string;',
    also: (text) =>
      text.replace(
        'readonly note?: string;',
        'readonly note?: string;\n  constructor(note?: string) { super("", Thing); if (note !== undefined) this.note = note; }',
      ),
  },
];

let workshop = '';
let declarations = '';

beforeAll(() => {
  workshop = mkdtempSync(join(tmpdir(), 'fw-hints-'));
  declarations = emitDeclarations(join(workshop, 'declarations'));
});

afterAll(() => rmSync(workshop, { recursive: true, force: true }));

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

test.each(MISTAKES)(
  'the code in the hint on $name removes the mistake',
  async ({ name, source, line, code, also }) => {
    const folder = join(workshop, name.replaceAll(/\W+/g, '-'));
    const isModel = source.includes('@AutoBuilder');
    const others = isModel ? {} : { 'src/thing.ts': model('') };
    const file = isModel ? 'src/thing.ts' : 'src/thing-made.ts';
    const [found, ...further] = await diagnosticsOf(folder, { ...others, [file]: source });
    expect(further).toEqual([]);
    expect(found && codeIn(found)).toBe(code);
    const mended = source.replace(line, code);
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
