import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, Place } from '../../sharding/shard-database.js';
import type { FlushOutcome, FlushRequest, ShardStore } from '../shard-store.js';

/** One statement in flight. */
export interface SentFlush {
  readonly request: FlushRequest;
  /** Names of the plans, group by group: `a1>2 a2>3 | b1>2`. */
  readonly text: string;
  readonly timeoutMs: number | undefined;
  /** Answers the statement. Default: every group is applied. */
  answer(...outcomes: FlushOutcome[]): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A store whose answers the test controls. */
export class ManualStore implements Pick<ShardStore, 'flush'> {
  /** Every statement so far. */
  readonly sent: SentFlush[] = [];
  /** False: no connection is free, and statements wait for one. */
  hasConnection = true;
  readonly #waiting = new Set<() => void>();

  /** Implements only the methods that a writer calls. */
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

  /** Statements that wait for a connection. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Frees a connection and sends the waiting statement. */
  connect(): Promise<void> {
    this.hasConnection = true;
    for (const send of this.#waiting) send();
    return settled();
  }

  async flush(request: FlushRequest, options: CallOptions = {}): Promise<readonly FlushOutcome[]> {
    if (!this.hasConnection) await this.#connection(options.place ?? {});
    return this.#send(request, options.timeoutMs);
  }

  #connection(place: Place): Promise<void> {
    return new Promise((resolve, reject) => {
      const send = (): void => {
        end();
        resolve();
      };
      const end = (): void => {
        this.#waiting.delete(send);
        place.leave = undefined;
      };
      this.#waiting.add(send);
      place.leave = () => {
        end();
        reject(new DriverFailure('left', { phase: 'not-sent', reason: 'pool-exhausted' }));
      };
    });
  }

  #send(request: FlushRequest, timeoutMs: number | undefined): Promise<readonly FlushOutcome[]> {
    return new Promise((resolve, reject) => {
      this.sent.push({
        request,
        text: textOf(request),
        timeoutMs,
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
  return locked === 'skip' ? text : `${text} (${locked})`;
}

/** Waits until the effects of an answer have happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
