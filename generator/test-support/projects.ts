import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const golden = fileURLToPath(new URL('../golden', import.meta.url));

/** A test project in its own folder. */
export interface TestProject {
  readonly folder: string;
  readonly config: string;
  read(path: string): string;
  write(path: string, text: string): void;
  remove(path: string): void;
  /** Texts by path of all files in the output folders. */
  emitted(): Readonly<Record<string, string>>;
  delete(): void;
}

/** A copy of a golden case's input with a configuration, sources in `src`. */
export function testProject(input = 'orders', generatorKeys = ''): TestProject {
  const folder = mkdtempSync(join(tmpdir(), 'fw-project-'));
  cpSync(join(golden, input, 'input'), join(folder, 'src'), { recursive: true });
  const config = join(folder, 'fw.config.yaml');
  writeFileSync(config, configuration(generatorKeys));
  return {
    folder,
    config,
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    remove: (path) => rmSync(join(folder, path), { recursive: true, force: true }),
    emitted: () => ({ ...textsBelow(folder, 'src/generated'), ...textsBelow(folder, 'src/migrations') }),
    delete: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A model class of one file. */
export function modelText(name: string, field = 'title'): string {
  return `import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class ${name} extends Model<${name}, Id<${name}>, 'NEW'> {
  readonly ${field}!: string;
}
`;
}

function configuration(generatorKeys: string): string {
  return `fw:
  namespace: test
  generator: { source: src, output: src/generated, migrations: src/migrations${generatorKeys} }
  sharding:
    default-shard: { group: 0, member: 0 }
    groups:
      - group: 0
        name: one
        members:
          - member: 0
            name: one-1
            configs: { primary-config: { jdbc-url: "jdbc:pglite:mem:one" } }
`;
}

function textsBelow(root: string, folder: string): Readonly<Record<string, string>> {
  let entries: readonly string[];
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort();
  } catch {
    return {};
  }
  // Another process may be writing there: unfinished files and just removed ones are ignored.
  const finished = entries.filter((name) => !name.endsWith('.fw-tmp'));
  return Object.fromEntries(
    finished.flatMap((name) => {
      const text = textOf(join(root, folder, name));
      return text === undefined ? [] : [[`${folder}/${name}`, text] as const];
    }),
  );
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
