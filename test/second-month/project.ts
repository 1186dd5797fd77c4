import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ServerAddress } from '../databases/server.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RELEASES = fileURLToPath(new URL('./releases', import.meta.url));
const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
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
  readonly #home: string;

  private constructor(home: string) {
    this.#home = home;
    this.folder = join(home, 'notes');
  }

  /** Packs the package, and makes and installs a project as its README says. */
  static async make(database: ServerAddress): Promise<Project> {
    const project = new Project(mkdtempSync(join(tmpdir(), 'fw-second-month-')));
    const home = project.#home;
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', home];
    const { stdout } = await run('npm', pack, { cwd: ROOT });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    const packed = join(home, filename);
    const init = ['exec', '--yes', `--package=${packed}`, '--', 'fw-gen', 'init', 'notes', '--yes'];
    await run('npm', init, { cwd: home });
    const manifest = join(project.folder, 'package.json');
    const content = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies: Record<string, string> };
    // The version that init asks for is not published yet.
    content.dependencies['fw-actions'] = `file:${packed}`;
    writeFileSync(manifest, JSON.stringify(content, undefined, 2));
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

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #run(command: string, args: readonly string[]): Promise<Ran> {
    try {
      const { stdout, stderr } = await run(command, args, { cwd: this.folder });
      return { code: 0, text: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, text: stdout + stderr };
    }
  }

  /** Writes the address of a server in place of the embedded database. */
  #useServer({ host, port, user, password, database }: ServerAddress): void {
    const file = join(this.folder, 'fw.config.yaml');
    const source = [
      `jdbc-url: jdbc:postgresql://${host}:${port}/${database}`,
      `username: ${JSON.stringify(user)}`,
      `password: ${JSON.stringify(password)}`,
      'maximum-pool-size: 8',
    ].join('\n                ');
    const text = readFileSync(file, 'utf8').replace('jdbc-url: jdbc:pglite:file:./data/main', source);
    writeFileSync(file, text);
  }
}
