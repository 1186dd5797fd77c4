import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { ShardingTopology } from '../../runtime/config/types.js';
import { openDatabases } from '../../runtime/databases.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { type Ran, runCommand } from './run-command.js';
import { topologyYaml } from './topology-yaml.js';

/** (0, 0), (0, 1), (1, 0), (1, 1) and (1, 2). */
export const FIVE: readonly ShardIdentifier[] = [0, 1, 64, 65, 66].map((bits) =>
  ShardIdentifier.fromBits(bits),
);

/** A folder with a configuration, another one for each test. */
export interface CliProject {
  readonly folder: string;
  /** Path of the configuration. */
  readonly config: string;
  /** Writes a configuration with this topology. */
  configure(topology: ShardingTopology): void;
  /** Changes the text of the configuration. */
  edit(change: (text: string) => string): void;
  /** Writes a file below the folder. */
  write(path: string, text: string): void;
  /** Runs a command line with the configuration. */
  run(...argv: readonly string[]): Promise<Ran>;
  /** The databases of the configured topology, open until the end of the test. */
  databases(): DatabaseRegistry;
  /** Runs SQL on a shard. Default: the default shard. */
  rows(text: string, shard?: ShardIdentifier): Promise<readonly (readonly unknown[])[]>;
}

/** Gives each test of the calling file a project. */
export function cliProject(): CliProject {
  let folder = '';
  let topology: ShardingTopology | undefined;
  let databases: DatabaseRegistry | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fw-cli-'));
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true, force: true });
    await databases?.close(0);
    databases = undefined;
  });
  const project: CliProject = {
    get folder() {
      return folder;
    },
    get config() {
      return join(folder, 'fw.config.yaml');
    },
    configure: (configured) => {
      topology = configured;
      project.write('fw.config.yaml', topologyYaml(configured));
    },
    edit: (change) => project.write('fw.config.yaml', change(readFileSync(project.config, 'utf8'))),
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    run: (...argv) => runCommand([...argv, '--config', project.config]),
    databases: () => {
      if (topology === undefined) throw new Error('Call configure() first');
      databases ??= openDatabases(topology, { warn: () => {} });
      return databases;
    },
    rows: async (text, shard = topology?.defaultShard ?? ShardIdentifier.of(0, 0)) =>
      (await project.databases().database(shard).query({ text, values: [] })).rows,
  };
  return project;
}
