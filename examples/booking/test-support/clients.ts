import { randomUUID } from 'node:crypto';

/** An answer with its body as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Temporary failures: the process has died, has lost too many races, or waits for a shard. */
const PASSING: ReadonlySet<unknown> = new Set(['FW_STALE_MODEL', 'FW_IDEMPOTENCY_KEY_BUSY', 'FW_ROW_BUSY']);
const PATIENCE_MS = 120_000;

/**
 * Calls several processes of one service. After a lost answer, repeats the call at another process under the
 * same key.
 */
export class Clients {
  readonly #urls: () => readonly string[];
  #next = 0;

  /** @param urls of the running processes */
  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
  }

  async post(path: string, body: object = {}): Promise<Answer> {
    const key = randomUUID();
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    return this.#call(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async #call(path: string, request: RequestInit): Promise<Answer> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.#once(path, request);
      if (answer !== undefined) return answer;
      if (performance.now() > giveUpAt) throw new Error(`${path} had no answer`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Returns undefined if the call must be repeated. */
  async #once(path: string, request: RequestInit): Promise<Answer | undefined> {
    const urls = this.#urls();
    this.#next += 1;
    const url = urls[this.#next % urls.length];
    if (url === undefined) return undefined;
    try {
      const response = await fetch(url + path, request);
      const body = (await response.json()) as Answer['body'];
      if (response.status >= 500 || PASSING.has(body['code'])) return undefined;
      return { status: response.status, body };
    } catch {
      return undefined;
    }
  }
}
