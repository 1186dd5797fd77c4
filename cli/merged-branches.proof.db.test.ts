import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { type MigrationFile, readMigrations } from '../generator/migrations.js';
import { modelText, projectPerTest } from '../generator/test-support/projects.js';
import { ShardIdentifier } from '../runtime/domain/shard-identifier.js';
import { migrate } from '../runtime/migration/migrate.js';
import type { DatabaseRegistry } from '../runtime/sharding/database-registry.js';
import { describeOnEachAdapter } from '../test/databases/vitest.js';
import { git as gitIn } from './test-support/git.js';

vi.setConfig({ testTimeout: 120_000 });

const HERE = ShardIdentifier.of(0, 0);
const project = projectPerTest();

beforeEach(async () => {
  await succeed('generate');
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'core.autocrlf', 'false');
  commit('Base');
});

const git = (...args: readonly string[]): string => gitIn(project.folder, ...args);

function commit(message: string): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

async function succeed(...argv: readonly string[]): Promise<void> {
  const { code, error } = await project.run(...argv);
  expect([code, error]).toEqual([0, '']);
}

/** Does the work of a branch that starts at `main`, and returns its migrations. */
async function onBranch(name: string, work: () => Promise<void>): Promise<readonly MigrationFile[]> {
  git('checkout', '--quiet', '-b', name, 'main');
  await work();
  commit(name);
  return migrationsHere();
}

/** Merges a branch into the current one. Files that fw-gen writes may conflict, and are written again. */
function merge(name: string): void {
  try {
    git('merge', '--quiet', '--no-edit', name);
  } catch {
    const conflicts = git('diff', '--name-only', '--diff-filter=U').trim().split('\n');
    expect(conflicts.filter((path) => !/^src\/generated\/|\.lock$/.test(path))).toEqual([]);
  }
}

function migrationsHere(): readonly MigrationFile[] {
  const { migrations, diagnostics } = readMigrations({
    projectDirectory: project.folder,
    migrationsDirectory: join(project.folder, 'src/migrations'),
  });
  expect(diagnostics).toEqual([]);
  return migrations;
}

/** Adds a field below another one. */
function addColumn(field: string, above: string): void {
  const path = 'src/models/order.ts';
  const order = project.read(path);
  const line = new RegExp(`  readonly ${above}\\b.*\\n`).exec(order)?.[0] ?? '';
  expect(line).not.toBe('');
  project.write(path, order.replace(line, `${line}  readonly ${field}?: string;\n`));
}

async function applied(registry: DatabaseRegistry, migrations: readonly MigrationFile[]): Promise<unknown> {
  return (await migrate(registry, { migrations })).shards[0]?.applied;
}

describeOnEachAdapter('Two merged branches', (harness) => {
  test('that each add a model need only a new run of generate, and databases of either get the rest', async () => {
    const withModel = (name: string) => async (): Promise<void> => {
      project.write(`src/models/${name.toLowerCase()}.ts`, modelText(name));
      await succeed('generate');
    };
    const ofAlpha = await onBranch('alpha', withModel('Alpha'));
    const ofBeta = await onBranch('beta', withModel('Beta'));
    merge('alpha');
    await succeed('generate');
    await succeed('generate', '--check');
    await succeed('migrate', 'diff', '--check');
    const merged = migrationsHere();
    expect(merged.slice(2).map(({ name }) => name.replace(/^\d{14}/, ''))).toEqual([
      '_create_alphas',
      '_create_betas',
    ]);
    for (const [before, late] of [
      [ofAlpha, '_create_betas'],
      [ofBeta, '_create_alphas'],
    ] as const) {
      const registry = await harness.makeShards({ shards: [HERE], migrations: before });
      expect(await applied(registry, merged)).toEqual([expect.stringContaining(late)]);
    }
  });

  test('that each add a column to a table are refused in the pipeline, until one writes its migration again', async () => {
    const withColumn = (field: string, above: string) => async (): Promise<void> => {
      addColumn(field, above);
      await succeed('migrate', 'diff', '--name', field);
      await succeed('generate');
    };
    const ofColor = await onBranch('color', withColumn('color', 'customerId'));
    await onBranch('rating', withColumn('rating', 'weight'));
    merge('color');
    const clash = [expect.stringMatching(/FWGEN064 .* both touch orders/), 2];
    for (const argv of [
      ['generate'],
      ['generate', '--check'],
      ['migrate', 'diff', '--check'],
      ['migrate', 'status'],
      ['migrate', 'verify'],
      ['migrate', 'up'],
    ]) {
      const { code, error } = await project.run(...argv);
      expect([error, code], argv.join(' ')).toEqual(clash);
    }
    const own = readdirSync(join(project.folder, 'src/migrations')).find((name) =>
      name.endsWith('_rating.sql'),
    );
    project.remove(`src/migrations/${own}`);
    await succeed('migrate', 'diff', '--name', 'rating');
    await succeed('generate');
    await succeed('generate', '--check');
    const registry = await harness.makeShards({ shards: [HERE], migrations: ofColor });
    expect(await applied(registry, migrationsHere())).toEqual([expect.stringMatching(/^\d{14}_rating$/)]);
  });
});
