import { EventEpochError } from '../../errors.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';

/** A range of positions whose transaction ids belong to one server. */
export interface EpochBounds {
  /** Positions above this one belong to it. */
  readonly lower: number;
  /** Positions up to this one belong to it; undefined: no end yet. */
  readonly upper: number | undefined;
  /** A later epoch has begun: all events are committed, and their transaction ids mean nothing on this server. */
  readonly past: boolean;
}

interface Epoch {
  readonly number: number;
  readonly systemIdentifier: string;
  readonly afterPosition: number;
}

/**
 * The epochs of one shard's log. Transaction ids order the log, and they belong to one server: after a dump is restored
 * on another server they are meaningless. The table therefore stores the server's identifier. On another server
 * delivery stops until `rebase` opens a new epoch.
 */
export class Epochs {
  readonly #database: ShardDatabase;
  #epochs: readonly Epoch[] = [];

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** Number of the current epoch. @throws EventEpochError on a server other than the epoch's */
  async current(): Promise<number> {
    await this.load();
    return this.#epochs.at(-1)?.number ?? 1;
  }

  async boundsOf(epoch: number): Promise<EpochBounds> {
    if (!this.#epochs.some(({ number }) => number === epoch)) await this.load();
    const index = this.#epochs.findIndex(({ number }) => number === epoch);
    const next = this.#epochs[index + 1];
    return {
      lower: this.#epochs[index]?.afterPosition ?? 0,
      upper: next?.afterPosition,
      past: next !== undefined,
    };
  }

  /** @throws EventEpochError if the transaction ids belong to a server with another identifier */
  check(systemIdentifier: string): void {
    const known = this.#epochs.at(-1)?.systemIdentifier;
    if (known === undefined || known === systemIdentifier) return;
    // A rebase may have happened since; the next attempt reads the epochs again.
    this.#epochs = [];
    throw new EventEpochError(this.#database.shard.toString(), known, systemIdentifier);
  }

  /** Reads the epochs, and opens the first one on a new shard. @throws EventEpochError */
  async load(): Promise<void> {
    const { rows } = await this.#database.query({ text: LOAD, values: [] });
    this.#epochs = rows.map(([number, system, after]) => ({
      number: Number(number),
      systemIdentifier: String(system),
      afterPosition: Number(after),
    }));
    if (this.#epochs.length > 0) {
      this.check(String(rows[0]?.[3]));
      return;
    }
    await this.#database.query({ text: OPEN_FIRST, values: [] });
    await this.load();
  }
}

const LOAD =
  'SELECT epoch, system_identifier, after_position, (SELECT system_identifier::text FROM pg_control_system()) ' +
  'FROM eventlog.delivery_epochs ORDER BY epoch';

const OPEN_FIRST =
  'INSERT INTO eventlog.delivery_epochs (epoch, system_identifier, after_position) ' +
  'SELECT 1, system_identifier::text, 0 FROM pg_control_system() ON CONFLICT DO NOTHING';
