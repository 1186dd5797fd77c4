import type { LogReader, LogSelection } from '../log/log-reader.js';
import type { Attempts, RunContext } from './attempts.js';
import type { ConsumerStore, LeasedConsumer } from './consumer-store.js';
import type { ParkingStore } from './parking-store.js';

/** The dependencies of a consumer's run. */
export interface ConsumerRunOptions {
  readonly consumer: LeasedConsumer;
  readonly attempts: Attempts;
  readonly selection: LogSelection;
  readonly concurrency: number;
  readonly readAhead?: number | undefined;
  readonly context: Omit<RunContext, 'signal'>;
  readonly reader: LogReader;
  readonly consumers: ConsumerStore;
  readonly letters: ParkingStore;
  /** Milliseconds until the next read of the log if no notification arrives. */
  readonly pollMs: () => number;
  readonly warn: (message: string) => void;
}

/** Pause after an attempt that could not start, and before a stop, in milliseconds. */
export const FAILURE_PAUSE_MS = 250;
