import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { ShardingTopology } from '../../runtime/config/types.js';
import { type Ran, runCommand } from './run-command.js';
import { topologyYaml } from './topology-yaml.js';

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
}

/** Gives each test of the calling file a project. */
export function cliProject(): CliProject {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fw-cli-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const project: CliProject = {
    get folder() {
      return folder;
    },
    get config() {
      return join(folder, 'fw.config.yaml');
    },
    configure: (topology) => project.write('fw.config.yaml', topologyYaml(topology)),
    edit: (change) => project.write('fw.config.yaml', change(readFileSync(project.config, 'utf8'))),
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    run: (...argv) => runCommand([...argv, '--config', project.config]),
  };
  return project;
}
