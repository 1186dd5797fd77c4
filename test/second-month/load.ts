import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** A note as its writer expects it. */
export interface Remembered {
  readonly id: string;
  readonly text: string;
  readonly author: string;
  readonly language: string | undefined;
  likes: number;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Errors that a client retries in every release: conflicts, and an overloaded machine. */
const PASSING: ReadonlySet<unknown> = new Set([
  ...['FW_STALE_MODEL', 'FW_IDEMPOTENCY_KEY_BUSY', 'FW_ROW_BUSY', 'FW_LOCK_TIMEOUT'],
  ...['FW_CLOSED', 'FW_SHARD_BUSY', 'FW_DEADLINE_EXCEEDED', 'FW_COMMIT_OUTCOME_UNKNOWN'],
]);
const AUTHORS = ['Ada', 'Grace', 'Edsger'];
const WORDS = ['buy', 'milk', 'and', 'bread', 'tomorrow'];
const PATIENCE_MS = 120_000;
/** Long enough that a note expires after the release that wrote it is gone. */
const FAR_SECONDS = 3_600;

/** Clients that write, like and read notes continuously, and record the answers. */
export class Load {
  readonly notes: Remembered[] = [];
  /** Answers that no client should receive. */
  readonly failures: string[] = [];
  /** Number of expected answers. */
  answered = 0;
  /** Whether new notes have a language: clients of the second month set it. */
  namesLanguage = false;
  /** The clients' API key. */
  key = '';
  readonly #urls: () => readonly string[];
  #running: readonly Promise<void>[] = [];
  #isEnding = false;
  #turn = 0;

  /** @param urls the addresses of the running processes */
  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
  }

  start(clients: number): void {
    this.#running = Array.from({ length: clients }, () => this.#client());
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#running);
  }

  /** Waits until `requests` more requests have been answered. */
  async goesOn(requests: number): Promise<void> {
    const goal = this.answered + requests;
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (this.answered < goal && this.failures.length === 0) {
      if (performance.now() > giveUpAt) throw new Error(`No more than ${this.answered} of ${goal} requests`);
      await sleep(20);
    }
  }

  async #client(): Promise<void> {
    while (!this.#isEnding && this.failures.length < 10) {
      this.#turn += 1;
      const note = this.notes[this.#turn % Math.max(1, this.notes.length)];
      if (note === undefined || this.#turn % 4 === 0) await this.#write(this.#turn);
      else if (this.#turn % 4 === 1) await this.#read(note);
      else await this.#like(note);
    }
  }

  async #write(turn: number): Promise<void> {
    const text = WORDS.slice(0, 1 + (turn % WORDS.length)).join(' ');
    const author = AUTHORS[turn % AUTHORS.length] ?? '';
    const language = this.namesLanguage && turn % 8 === 0 ? 'de' : undefined;
    const seconds = turn % 3 === 0 ? 0 : FAR_SECONDS;
    const content = { text, author, seconds, ...(language === undefined ? {} : { language }) };
    const { body } = await this.#call('POST', '/notes', content, 201);
    this.notes.push({ id: String(body['id']), text, author, language, likes: 0 });
  }

  async #like(note: Remembered): Promise<void> {
    await this.#call('POST', `/notes/${note.id}/likes`, {}, 200);
    note.likes += 1;
  }

  async #read({ id, text, author }: Remembered): Promise<void> {
    const { body } = await this.#call('GET', `/notes/${id}`, undefined, 200);
    if (body['text'] !== text || body['author'] !== author)
      this.failures.push(`GET /notes/${id} answered ${JSON.stringify(body)}`);
  }

  /** Uses another process if one is gone, under the same key. */
  async #call(method: string, path: string, content: object | undefined, expected: number): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.key}`,
      ...(content && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
    };
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (let attempt = this.#turn; ; attempt += 1) {
      const answer = await this.#ask(attempt, path, {
        method,
        headers,
        ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      });
      if (answer?.status === expected) {
        this.answered += 1;
        return answer;
      }
      if (answer !== undefined && !PASSING.has(answer.body['code'])) {
        this.failures.push(`${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
        return answer;
      }
      if (performance.now() > giveUpAt) throw new Error(`${method} ${path} had no answer`);
      await sleep(10);
    }
  }

  /** Undefined if the process is ending or has ended. */
  async #ask(turn: number, path: string, request: RequestInit): Promise<Answer | undefined> {
    const urls = this.#urls();
    const url = urls[turn % urls.length];
    if (url === undefined) return undefined;
    try {
      const response = await fetch(url + path, request);
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    } catch {
      return undefined;
    }
  }
}
