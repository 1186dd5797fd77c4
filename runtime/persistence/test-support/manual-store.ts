import type { FlushOutcome, FlushRequest, ShardStore } from '../shard-store.js';

/** One statement under way. */
export interface SentFlush {
  readonly request: FlushRequest;
  /** Names of the plans, group by group: `a1>2 a2>3 | b1>2`. */
  readonly text: string;
  readonly timeoutMs: number | undefined;
  /** Answers. Default: every group is applied. */
  answer(...outcomes: FlushOutcome[]): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A store whose answers the test gives. */
export class ManualStore implements Pick<ShardStore, 'flush'> {
  /** Every statement so far. */
  readonly sent: SentFlush[] = [];

  /** Only what a writer asks for is there. */
  get store(): ShardStore {
    return this as unknown as ShardStore;
  }

  /** The texts of all statements so far; those that wait for locks end with `(wait)`. */
  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text);
  }

  /** The statement that was sent last. */
  get last(): SentFlush {
    const last = this.sent.at(-1);
    if (last === undefined) throw new Error('Nothing has been sent');
    return last;
  }

  flush(request: FlushRequest, options?: { readonly timeoutMs?: number }): Promise<readonly FlushOutcome[]> {
    return new Promise((resolve, reject) => {
      this.sent.push({
        request,
        text: textOf(request),
        timeoutMs: options?.timeoutMs,
        answer: (...outcomes) => {
          resolve(outcomes.length > 0 ? outcomes : request.groups.map(() => 'applied'));
          return settled();
        },
        fail: (error) => {
          reject(error);
          return settled();
        },
      });
    });
  }
}

function textOf({ groups, locked }: FlushRequest): string {
  const text = groups.map((group) => group.map(({ action }) => action.name).join(', ')).join(' | ');
  return locked === 'wait' ? `${text} (wait)` : text;
}

/** Everything that follows from an answer has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
