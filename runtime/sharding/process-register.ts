import { createHash } from 'node:crypto';
import { atMost } from '../concurrency/at-most.js';
import { type Timer, time } from '../concurrency/time.js';
import type { ShardingTopology } from '../config/types.js';
import type { DatabaseRegistry } from './database-registry.js';
import type { ShardDatabase } from './shard-database.js';

/** A serving process, as it has registered itself. */
export interface RegisteredProcess {
  /** Host and process id. */
  readonly name: string;
  /** Fingerprint of the topology that it runs. */
  readonly topology: string;
  /** Time since when it runs that topology. */
  readonly since: Date;
  /** Time since its last heartbeat, in seconds, if longer than two heartbeats. */
  readonly silentForSeconds: number | undefined;
  /** Shards that it has not put into service, each with the reason. */
  readonly withheld: readonly string[];
}

const HEARTBEAT_MS = 10_000;
/** A process that has missed two heartbeats has been killed, or cannot reach the default shard. */
const SILENT_AFTER_SECONDS = 25;
/** Maximum time that an ending process waits for the deletion of its row, in milliseconds. */
const PATIENCE_MS = 1_000;
/** A process without a heartbeat for this time is not listed any more. */
const VANISHED_AFTER = "interval '4 minutes'";

type Registry = Pick<DatabaseRegistry, 'database' | 'defaultShard' | 'shards' | 'withheld'>;

/**
 * Publishes the topology of this process to operators: a row on the default shard, updated while the process lives. It
 * is only informative, so a failure does not stop the process from serving.
 */
export class ProcessRegister {
  readonly #databases: Registry;
  readonly #id: string;
  readonly #name: string;
  #topology = '';
  #timer: Timer | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param process `id` is unique, `name` is for display */
  constructor(databases: Registry, process: { readonly id: string; readonly name: string }) {
    this.#databases = databases;
    this.#id = process.id;
    this.#name = process.name;
  }

  /** Must be called when the process begins to serve, and when it has switched to another topology. */
  runs(topology: ShardingTopology): void {
    this.#topology = topologyFingerprint(topology);
    this.#publish();
    this.#timer ??= time.setInterval(() => this.#publish(), HEARTBEAT_MS).unref();
  }

  /** Must be called when a shard was put into service or withheld. */
  changed(): void {
    if (this.#timer !== undefined) this.#publish();
  }

  /** Deletes the row. If the default shard does not answer, the process ends anyway and the row expires. */
  async stop(): Promise<void> {
    time.clearInterval(this.#timer);
    this.#timer = undefined;
    const gone = this.#last.then(() => this.#send(FORGET, [this.#id]));
    await atMost(gone, PATIENCE_MS);
  }

  #publish(): void {
    this.#last = this.#last.then(() => {
      const withheld = JSON.stringify(this.#withheld());
      return this.#send(TELL, [this.#id, this.#name, this.#topology, withheld]);
    });
  }

  #withheld(): readonly string[] {
    return this.#databases.shards().flatMap((shard) => {
      const reason = this.#databases.withheld(shard);
      return reason === undefined ? [] : [`${shard.toString()}: ${reason}`];
    });
  }

  async #send(text: string, values: readonly unknown[]): Promise<void> {
    try {
      await this.#databases.database(this.#databases.defaultShard).query({ text, values });
    } catch {
      // The next heartbeat retries; until then doctor does not see this process.
    }
  }
}

const FORGET = 'delete from eventlog.processes where id = $1';

const TELL = `
with gone as (delete from eventlog.processes where seen_date < now() - interval '1 day' and id <> $1)
insert into eventlog.processes (id, name, topology, withheld) values ($1, $2, $3, $4::jsonb)
on conflict (id) do update set topology = excluded.topology, withheld = excluded.withheld, seen_date = now(),
  since_date = case when processes.topology = excluded.topology then processes.since_date else now() end`;

/** The live processes with this default shard, by name. Empty if none has registered. */
export async function registeredProcesses(
  database: Pick<ShardDatabase, 'query'>,
): Promise<readonly RegisteredProcess[]> {
  const known = await database.query({
    text: "select to_regclass('eventlog.processes') is not null",
    values: [],
  });
  if (known.rows[0]?.[0] !== true) return [];
  const { rows } = await database.query({
    text: `select name, topology, since_date, extract(epoch from now() - seen_date)::int, withheld
      from eventlog.processes where seen_date > now() - ${VANISHED_AFTER} order by name, id`,
    values: [],
  });
  return rows.map(([name, topology, since, silent, withheld]) => ({
    name: String(name),
    topology: String(topology),
    since: since instanceof Date ? since : new Date(String(since)),
    silentForSeconds: Number(silent) > SILENT_AFTER_SECONDS ? Number(silent) : undefined,
    withheld: Array.isArray(withheld) ? withheld.map(String) : [],
  }));
}

/** A fingerprint that is equal for topologies that differ only in passwords. Reveals nothing about its input. */
export function topologyFingerprint(topology: ShardingTopology): string {
  // The JSON of a secret does not contain it.
  return createHash('sha256').update(JSON.stringify(topology)).digest('hex').slice(0, 8);
}
