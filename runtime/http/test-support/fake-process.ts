import type { ProcessEvent, ProcessPort } from '../process/process-port.js';

/** Thrown instead of ending the process. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** A process whose output, signals and end the test controls. */
export class FakeProcess implements ProcessPort {
  out = '';
  err = '';
  readonly exits: number[] = [];
  readonly #listeners = new Map<ProcessEvent, Set<(error: unknown) => void>>();

  stdout(text: string): void {
    this.out += text;
  }

  stderr(text: string): void {
    this.err += text;
  }

  exit(code: number): never {
    this.exits.push(code);
    throw new Exit(code);
  }

  on(event: ProcessEvent, listener: (error: unknown) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  get listens(): boolean {
    return [...this.#listeners.values()].some(({ size }) => size > 0);
  }

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.#emit(name);
  }

  hangup(): void {
    this.#emit('SIGHUP');
  }

  uncaught(error: unknown, fatal: boolean): void {
    this.#emit(fatal ? 'uncaughtException' : 'unhandledRejection', error);
  }

  #emit(event: ProcessEvent, error?: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(error);
  }
}
