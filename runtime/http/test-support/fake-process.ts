import type { ProcessPort } from '../process/process-port.js';

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
  #signal: ((signal: 'SIGTERM' | 'SIGINT') => void) | undefined;
  #hangup: (() => void) | undefined;
  #uncaught: ((error: unknown, fatal: boolean) => void) | undefined;

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

  onSignal(listener: (signal: 'SIGTERM' | 'SIGINT') => void): () => void {
    this.#signal = listener;
    return () => {
      this.#signal = undefined;
    };
  }

  onHangup(listener: () => void): () => void {
    this.#hangup = listener;
    return () => {
      this.#hangup = undefined;
    };
  }

  onUncaught(listener: (error: unknown, fatal: boolean) => void): () => void {
    this.#uncaught = listener;
    return () => {
      this.#uncaught = undefined;
    };
  }

  get listens(): boolean {
    return this.#signal !== undefined || this.#uncaught !== undefined || this.#hangup !== undefined;
  }

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.#signal?.(name);
  }

  hangup(): void {
    this.#hangup?.();
  }

  uncaught(error: unknown, fatal: boolean): void {
    this.#uncaught?.(error, fatal);
  }
}
