import { execFile } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import type { ServerAddress } from '../databases/server.js';
import { type NewProjectFolder, newProject, QUIETLY } from '../scaffold/new-project.js';

const RELEASES = fileURLToPath(new URL('./releases', import.meta.url));
/** Files that `fw-gen init` creates besides the main program. */
const EXAMPLE = ['actions', 'events', 'models', 'responses', 'rules.ts'];
const run = promisify(execFile);

/** The output and the exit code of a command. */
export interface Ran {
  readonly code: number;
  readonly text: string;
}

/** A service that `fw-gen init` has created from the packed package, with its releases next to each other. */
export class Project {
  /** Folder of the sources. */
  readonly folder: string;
  readonly remove: () => void;
  readonly #home: string;

  private constructor({ home, folder, remove }: NewProjectFolder) {
    this.#home = home;
    this.folder = folder;
    this.remove = remove;
  }

  /** Creates and installs a project, whose example the releases replace. */
  static async make(database: ServerAddress): Promise<Project> {
    const project = new Project(await newProject());
    for (const part of EXAMPLE) rmSync(join(project.folder, 'src', part), { recursive: true });
    await run('npm', ['install', ...QUIETLY], { cwd: project.folder });
    project.#useServer(database);
    return project;
  }

  /** Replaces the sources by those of a release. */
  write(release: number): void {
    cpSync(join(RELEASES, String(release), 'src'), join(this.folder, 'src'), { recursive: true });
  }

  /** Runs `fw-gen` in the project's folder. */
  fwGen(...args: readonly string[]): Promise<Ran> {
    return this.#run(join(this.folder, 'node_modules', '.bin', 'fw-gen'), args);
  }

  /** Runs a script of `package.json`. */
  script(name: string): Promise<Ran> {
    return this.#run('npm', ['run', '--silent', name]);
  }

  /**
   * Creates a folder with the content of an image: the build, the configuration, and an install without development
   * dependencies.
   * @returns the folder
   */
  async deploy(name: string): Promise<string> {
    const folder = join(this.#home, name);
    const parts = ['package.json', 'package-lock.json', 'fw.config.yaml', 'dist', 'src/migrations'];
    for (const part of parts) cpSync(join(this.folder, part), join(folder, part), { recursive: true });
    const first = this.#installed;
    // All releases have the same lock file, so they share the install.
    if (first === undefined) await run('npm', ['ci', '--omit=dev', ...QUIETLY], { cwd: folder });
    else symlinkSync(join(first, 'node_modules'), join(folder, 'node_modules'));
    this.#installed ??= folder;
    return folder;
  }

  #installed: string | undefined;

  async #run(command: string, args: readonly string[]): Promise<Ran> {
    try {
      const { stdout, stderr } = await run(command, args, { cwd: this.folder });
      return { code: 0, text: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, text: stdout + stderr };
    }
  }

  /** Configures one shard on a server instead of the embedded databases, with callers as in an image. */
  #useServer({ host, port, user, password, database }: ServerAddress): void {
    const file = join(this.folder, 'fw.config.yaml');
    const config = parse(readFileSync(file, 'utf8')) as {
      readonly fw: { readonly access: object; readonly sharding: object };
    };
    const primary = {
      'jdbc-url': `jdbc:postgresql://${host}:${port}/${database}`,
      username: user,
      password,
      'maximum-pool-size': 8,
    };
    const members = [{ member: 0, name: 'main-1', configs: { 'primary-config': primary } }];
    const access = { ...config.fw.access, 'api-keys': true };
    const sharding = { ...config.fw.sharding, groups: [{ group: 0, name: 'main', members }] };
    writeFileSync(file, stringify({ fw: { ...config.fw, access, sharding } }));
  }
}
