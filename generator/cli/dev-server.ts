import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Output } from './exit.js';

/** A server closes its databases within 10 seconds of SIGTERM; then it is killed, in milliseconds. */
const STOP_WITHIN_MS = 12_000;

/** What is run again and again. */
export interface DevServerOptions {
  /** The program and its arguments. */
  readonly args: readonly string[];
  readonly directory: string;
  readonly output: Pick<Output, 'error'>;
}

/** The server under development: one process at a time. */
export class DevServer {
  readonly #options: DevServerOptions;
  #child: ChildProcess | undefined;

  constructor(options: DevServerOptions) {
    this.#options = options;
  }

  /** Ends the process that runs, if any, and starts the next one. */
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
   * Ends the process in good order, or kills it if that takes too long.
   *
   * @param isTold the terminal has sent it the signal already: a second one would end it at once
   */
  async stop(isTold = false): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    if (!isTold) child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(timer);
  }
}
