import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { type Ran, runCommand } from '../../cli/test-support/run-command.js';

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

/** The project of the running test. */
export interface ProjectPerTest extends Omit<TestProject, 'delete'> {
  /** Starts again with another golden case. */
  use(input: string, generatorKeys?: string): void;
  /** Runs a command line with its configuration. */
  run(...argv: readonly string[]): Promise<Ran>;
  /** Runs `fw-gen generate`. */
  generate(...flags: readonly string[]): Promise<Ran>;
}

/** Gives each test of the calling file a copy of a golden case. */
export function projectPerTest(input?: string, generatorKeys?: string): ProjectPerTest {
  let current: TestProject;
  beforeEach(() => {
    current = testProject(input, generatorKeys);
  });
  afterEach(() => current.delete());
  const run = (...argv: readonly string[]): Promise<Ran> => runCommand([...argv, '--config', current.config]);
  return {
    get folder() {
      return current.folder;
    },
    get config() {
      return current.config;
    },
    read: (path) => current.read(path),
    write: (path, text) => current.write(path, text),
    remove: (path) => current.remove(path),
    emitted: () => current.emitted(),
    use: (other, keys) => {
      current.delete();
      current = testProject(other, keys);
    },
    run,
    generate: (...flags) => run('generate', ...flags),
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
