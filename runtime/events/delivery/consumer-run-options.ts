import type { Durations } from '../../concurrency/durations.js';
import { time } from '../../concurrency/time.js';
import type { RunContext } from '../log/event-envelope.js';
import type { LoggedEvent } from '../log/event-record.js';
import type { LogReader, LogSelection } from '../log/log-reader.js';
import type { Attempts } from './attempts.js';
import type { ConsumerStore, LeasedConsumer } from './consumer-store.js';
import type { ParkingStore } from './parking-store.js';
import type { Rebuild } from './rebuild.js';

export interface ConsumerRunOptions {
  readonly consumer: LeasedConsumer;
  readonly attempts: Attempts;
  readonly selection: LogSelection;
  readonly concurrency: number;
  readonly readAhead?: number | undefined;
  /** Receives the age of each event once it is handled. Undefined for a replay. */
  readonly ages: Durations | undefined;
  /** The tables that a transactional run rebuilds. Undefined: it writes those that are read. */
  readonly rebuild?: Rebuild | undefined;
  readonly context: Omit<RunContext, 'signal'>;
  readonly reader: LogReader;
  readonly consumers: ConsumerStore;
  readonly letters: ParkingStore;
  /** Milliseconds until the next read of the log if no notification arrives. */
  readonly pollMs: () => number;
  readonly warn: (message: string) => void;
}

/** Must be called for events that have just been handled. */
export function countAge({ ages }: ConsumerRunOptions, { createdDate }: LoggedEvent): void {
  ages?.add(Math.max(0, time.dateMs() - Date.parse(createdDate)));
}
