import { addAbortSignal, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Backoff,
  backoffMs,
  type JsonCall,
  type JsonValue,
  KeyedMutex,
  mayPass,
  Semaphore,
} from '../../runtime/operations.js';

/** A line that has no effect, and would have none in another run. */
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
  /** Receives lines without effect, in any order. Lines that are left open are not among them. */
  readonly reject: (line: RejectedLine) => void;
  /** Ends the import after the lines that are under way, which are not attempted again. */
  readonly signal: AbortSignal;
}

/**
 * The lines of a file. They end with a line feed only: texts in JSON may contain other line separators. Ends when the
 * signal is aborted, although more input may follow.
 *
 * @throws the system's error if the file cannot be read
 */
export async function* linesOf(input: Readable, signal: AbortSignal): AsyncIterable<string> {
  let line = '';
  try {
    for await (const chunk of addAbortSignal(signal, input.setEncoding('utf8'))) {
      const [first = '', ...others] = String(chunk).split('\n');
      line += first;
      for (const next of others) {
        yield line;
        line = next;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return;
  }
  if (line !== '') yield line;
}

/** Pauses between the attempts of a line. */
const PAUSES: Backoff = { firstMs: 50, longestMs: 2_000, least: 'half' };

/**
 * Runs an action for each line of a file. Lines whose params begin with the id of the same model run one after the
 * other, in their order.
 */
export class ImportRun {
  readonly #settings: ImportSettings;
  readonly #slots: Semaphore;
  readonly #models = new KeyedMutex();
  /** Lines that have been read. */
  read = 0;
  done = 0;
  rejected = 0;
  /** Lines whose shard was down or busy to the end. They may have taken effect: the same import settles them. */
  open = 0;
  /** Lines that wait for another attempt. */
  retrying = 0;

  constructor(settings: ImportSettings) {
    this.#settings = settings;
    this.#slots = new Semaphore(settings.concurrency);
  }

  /** @throws the reader's error, after the lines that are under way */
  async run(lines: AsyncIterable<string>): Promise<void> {
    const { concurrency, signal } = this.#settings;
    try {
      for await (const text of lines) {
        if (signal.aborted) break;
        this.read += 1;
        // Without a byte order mark and the CR of a line end.
        const line = text.trim();
        if (line === '') continue;
        await this.#slots.enter();
        void this.#handle(line, this.read).finally(() => this.#slots.leave());
      }
    } finally {
      // All slots are free when no line is under way.
      for (let slot = 0; slot < concurrency; slot += 1) await this.#slots.enter();
    }
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
      if (mayPass(error)) {
        this.open += 1;
        return;
      }
      const { code = error instanceof SyntaxError ? 'JSON' : 'UNKNOWN', message = String(error) } = error as {
        readonly code?: string;
        readonly message?: string;
      };
      this.rejected += 1;
      reject({ line, code, message, params });
    }
  }

  async #inOrder(model: string | undefined, work: () => Promise<void>): Promise<void> {
    const turn = model === undefined ? undefined : this.#models.queue(model);
    await turn?.reached;
    await work().finally(turn?.leave);
  }

  async #attempt(execute: () => Promise<void>): Promise<void> {
    const { patienceMs, signal } = this.#settings;
    const endMs = performance.now() + patienceMs;
    for (let failures = 1; ; failures += 1) {
      const pauseMs = backoffMs(failures, PAUSES, Math.random());
      try {
        return await execute();
      } catch (error) {
        if (signal.aborted || !mayPass(error) || performance.now() + pauseMs > endMs) throw error;
      }
      this.retrying += 1;
      await sleep(pauseMs);
      this.retrying -= 1;
    }
  }
}
