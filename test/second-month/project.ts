import { execFile } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import type { ServerAddress } from '../databases/server.js';
import { type NewProjectFolder, newProject, QUIETLY } from '../scaffold/new-project.js';

const RELEASES = fileURLToPath(new URL('./releases', import.meta.url));
/** What `fw-gen init` gives beside the main program. */
const EXAMPLE = ['actions', 'events', 'models', 'responses', 'rules.ts'];
const run = promisify(execFile);

/** What a command printed and how it ended. */
export interface Ran {
  readonly code: number;
  readonly text: string;
}

/** A service that `fw-gen init` has made from the packed package, with its releases side by side. */
export class Project {
  /** Of the sources. */
  readonly folder: string;
  readonly remove: () => void;
  readonly #home: string;

  private constructor({ home, folder, remove }: NewProjectFolder) {
    this.#home = home;
    this.folder = folder;
    this.remove = remove;
  }

  /** Makes and installs a project. Its example gives way to the releases. */
  static async make(database: ServerAddress): Promise<Project> {
    const project = new Project(await newProject());
    for (const part of EXAMPLE) rmSync(join(project.folder, 'src', part), { recursive: true });
    await run('npm', ['install', ...QUIETLY], { cwd: project.folder });
    project.#useServer(database);
    return project;
  }

  /** Puts the sources of a release over those that are there. */
  write(release: number): void {
    cpSync(join(RELEASES, String(release), 'src'), join(this.folder, 'src'), { recursive: true });
  }

  /** Runs `fw-gen` as one does in the project's folder. */
  fwGen(...args: readonly string[]): Promise<Ran> {
    return this.#run(join(this.folder, 'node_modules', '.bin', 'fw-gen'), args);
  }

  /** Runs a script of `package.json`. */
  script(name: string): Promise<Ran> {
    return this.#run('npm', ['run', '--silent', name]);
  }

  /**
   * Makes a folder as an image has it: what the build left, the configuration, and an install without what only
   * development needs. @returns the folder
   */
  async deploy(name: string): Promise<string> {
    const folder = join(this.#home, name);
    const parts = ['package.json', 'package-lock.json', 'fw.config.yaml', 'dist', 'src/migrations'];
    for (const part of parts) cpSync(join(this.folder, part), join(folder, part), { recursive: true });
    const first = this.#installed;
    // The lock file is the same for all releases, and so is the install.
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

  /** Writes one shard on a server in place of the embedded databases, with callers as in an image. */
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
