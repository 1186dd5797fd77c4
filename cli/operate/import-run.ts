import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonCall, JsonValue } from '../../runtime/operations.js';

/** A line that has no effect. */
export interface RejectedLine {
  /** From 1. */
  readonly line: number;
  /** Of the error; `JSON` if the line is no JSON, `KEY` if it has no key. */
  readonly code: string;
  readonly message: string;
  /** The line, as JSON if it is. */
  readonly params: JsonValue;
}

export interface ImportSettings {
  /** Reads the params of a line, which is JSON. @throws ValidationError */
  readonly read: (text: string) => JsonCall;
  /** The key of a line. */
  readonly keyOf: (params: JsonValue, line: number) => string;
  /** Maximum lines at once. */
  readonly concurrency: number;
  /** For how long a line is attempted while its shard is down or busy, in milliseconds. */
  readonly patienceMs: number;
  readonly mayPass: (error: unknown) => boolean;
  /** Receives lines without effect, in any order. */
  readonly reject: (line: RejectedLine) => void;
  /** Ends the import after the lines that are under way. */
  readonly signal: AbortSignal;
}

/** First pause before another attempt, in milliseconds; doubles up to the second. */
const PAUSES_MS: readonly [number, number] = [50, 2_000];

/**
 * Runs an action for each line of a file. Lines whose params begin with the id of the same model run one after the
 * other, in their order.
 */
export class ImportRun {
  readonly #settings: ImportSettings;
  /** The last line of each model that is under way. */
  readonly #models = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  /** The reader, if the maximum of lines is under way. */
  readonly #waiting: (() => void)[] = [];
  /** Lines that have been read. */
  read = 0;
  done = 0;
  rejected = 0;
  /** Lines that wait for another attempt. */
  retrying = 0;

  constructor(settings: ImportSettings) {
    this.#settings = settings;
  }

  /** @throws the reader's error, after the lines that are under way */
  async run(lines: AsyncIterable<string>): Promise<void> {
    const { concurrency, signal } = this.#settings;
    try {
      for await (const text of lines) {
        if (signal.aborted) break;
        this.read += 1;
        const line = this.read === 1 ? text.replace(/^\uFEFF/, '') : text;
        if (line.trim() === '') continue;
        this.#start(line, this.read);
        if (this.#running.size >= concurrency)
          await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      await Promise.all(this.#running);
    }
  }

  #start(text: string, line: number): void {
    const running = this.#handle(text, line).finally(() => {
      this.#running.delete(running);
      this.#waiting.pop()?.();
    });
    this.#running.add(running);
  }

  /** Never rejects. */
  async #handle(text: string, line: number): Promise<void> {
    const { read, keyOf, reject } = this.#settings;
    let params: JsonValue = text;
    try {
      params = JSON.parse(text) as JsonValue;
      const call = read(text);
      const key = keyOf(params, line);
      await this.#inOrder(call.model, () => this.#attempt(() => call.execute(key)));
      this.done += 1;
    } catch (error) {
      const { code = error instanceof SyntaxError ? 'JSON' : 'UNKNOWN', message = String(error) } = error as {
        readonly code?: string;
        readonly message?: string;
      };
      this.rejected += 1;
      reject({ line, code, message, params });
    }
  }

  async #inOrder(model: string | undefined, work: () => Promise<void>): Promise<void> {
    if (model === undefined) return work();
    const before = this.#models.get(model);
    const own = before === undefined ? work() : before.then(work, work);
    this.#models.set(model, own);
    try {
      await own;
    } finally {
      if (this.#models.get(model) === own) this.#models.delete(model);
    }
  }

  async #attempt(execute: () => Promise<void>): Promise<void> {
    const { patienceMs, mayPass } = this.#settings;
    const endMs = performance.now() + patienceMs;
    for (let [pauseMs, most] = PAUSES_MS; ; pauseMs = Math.min(most, pauseMs * 2)) {
      try {
        return await execute();
      } catch (error) {
        if (!mayPass(error) || performance.now() + pauseMs > endMs) throw error;
      }
      this.retrying += 1;
      await sleep(pauseMs * (0.5 + Math.random() / 2));
      this.retrying -= 1;
    }
  }
}
