import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Output } from './exit.js';

/** Time after SIGTERM until a server is killed, in milliseconds. A server closes its databases within 10 seconds. */
const STOP_WITHIN_MS = 12_000;

/** The program that is restarted after changes. */
export interface DevServerOptions {
  /** The program and its arguments. */
  readonly args: readonly string[];
  readonly directory: string;
  readonly output: Pick<Output, 'error'>;
}

/** The server under development: at most one process at a time. */
export class DevServer {
  readonly #options: DevServerOptions;
  #child: ChildProcess | undefined;

  constructor(options: DevServerOptions) {
    this.#options = options;
  }

  /** Ends the running process, if any, and starts the next one. */
  async restart(): Promise<void> {
    await this.stop();
    const { args, directory, output } = this.#options;
    const child = spawn(process.execPath, [...args], {
      cwd: directory,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    this.#child = child;
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      output.error(`The server exited with ${signal ?? code}. It restarts after the next change.`);
    });
    child.once('error', (error) => output.error(`The server cannot be started: ${error.message}`));
  }

  /**
   * Ends the process gracefully, or kills it if that takes too long.
   *
   * @param isSignalled whether the terminal has already sent the signal. A second one would end the process at once
   */
  async stop(isSignalled = false): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    if (!isSignalled) child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(timer);
  }
}
