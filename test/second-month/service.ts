import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process of one release. */
export class Service {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Starts the release in a folder, and waits until it listens. */
  static async start(folder: string): Promise<Service> {
    const args = ['dist/main.js', '--port', '0'];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const url = await new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-100_000);
          const found = /^listening on (\S+)$/m.exec(output)?.[1];
          if (found !== undefined) resolve(found);
        });
      }
      child.once('exit', (code) => reject(new Error(`The service ended with ${code}:\n${output}`)));
    });
    return new Service(child, url);
  }

  /** Lets it finish its requests. @returns its exit code */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    return this.#child.exitCode;
  }
}
