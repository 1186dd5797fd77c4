import type { ShardDatabase, Statement } from './shard-database.js';

/** Events with external effects that a handler has handled and that the log no longer contains. */
interface HandlerAhead {
  readonly handler: string;
  /** Number of known events; a process remembers its last thousand. */
  readonly events: number;
  /** Ids of the first events, a hundred at most. */
  readonly eventIds: readonly string[];
  /** A sentence that describes it. */
  readonly inWords: string;
}

/**
 * A change of the server: another server has taken over, or a backup was restored. Commits that it had not received are
 * lost.
 */
export interface Failover {
  /** The new timeline, eight hexadecimal digits. */
  readonly timeline: string;
  /**
   * The previous timeline, or the system identifier of the previous server if the log was rebased. Undefined: it is the
   * same timeline, and the server has lost commits in a crash.
   */
  readonly previous: string | undefined;
  /** When a process detected it. */
  readonly noticedDate: Date;
  /** Commits from here on may be lost: an hour before `noticedDate`, or before the last event of a rebased log. */
  readonly lostSince: Date;
  readonly ahead: readonly HandlerAhead[];
  /** A sentence that describes it. */
  readonly inWords: string;
}

const MOST_IDS = 100;
/** A system identifier is longer. */
const TIMELINE_LENGTH = 8;

/** The failovers of one shard, stored in its database. */
export class FailoverRegister {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** Records the server's timeline. @returns a description of a failover that no process has recorded before */
  async notice(): Promise<string | undefined> {
    const { rows } = await this.#database.query({ text: NOTICE, values: [] });
    const [timeline, previous] = rows[0] ?? [];
    return previous === null || previous === undefined
      ? undefined
      : describeFailover(String(timeline), String(previous));
  }

  /** Records handled events that the log lacks, under the server's timeline, which was recorded before. */
  async report(handler: string, eventIds: readonly string[]): Promise<void> {
    const ahead = { [handler]: { events: eventIds.length, eventIds: eventIds.slice(0, MOST_IDS) } };
    await this.#database.query({ text: REPORT, values: [JSON.stringify(ahead)] });
  }

  /** Unacknowledged failovers, oldest first. */
  async unacknowledged(): Promise<readonly Failover[]> {
    const { rows } = await this.#database.query({ text: LIST, values: [] });
    return rows.map(toFailover);
  }

  /** Marks failovers as handled, unless they have changed since they were read. @returns how many it has marked */
  async acknowledge(seen: readonly Failover[]): Promise<number> {
    const facts = seen.map(({ timeline, previous, ahead }) => ({
      ...{ timeline, previous },
      ahead: Object.fromEntries(
        ahead.map(({ handler, events, eventIds }) => [handler, { events, eventIds }]),
      ),
    }));
    const { rowCount } = await this.#database.query({ text: ACKNOWLEDGE, values: [JSON.stringify(facts)] });
    return rowCount;
  }
}

/** Records that the log was rebased, in the transaction of the rebase. @param last when its last event was written */
export function rebasedFrom(system = 'unrecorded', last: unknown = null): Statement {
  return { text: REBASED, values: [system, last] };
}

/** The timeline of `eventlog.server_run()`; '' if the server does not report it. */
export function timelineOf(serverRun: string): string {
  return serverRun.split('/', 1)[0] ?? '';
}

/** The report on a handler that is ahead of the log. */
export function handlerAhead(handler: string, events: number, eventIds: readonly string[]): HandlerAhead {
  const [first = ''] = eventIds;
  const inWords = `${handler} has handled at least ${events} events that are lost, the first one ${first}`;
  return { handler, events, eventIds, inWords };
}

function describeFailover(timeline: string, previous: string | undefined): string {
  if (previous === undefined) return `the server has lost commits in a crash (timeline ${timeline})`;
  return previous.length > TIMELINE_LENGTH
    ? `was rebased from the server with system identifier ${previous}: it was moved, or restored from a dump`
    : `moved from timeline ${previous} to ${timeline}: a standby was promoted or a backup restored`;
}

function toFailover(row: readonly unknown[]): Failover {
  const [timeline, before, noticed, lostSince, ahead] = row;
  const previous = before === null ? undefined : String(before);
  const handlers = ahead as Readonly<Record<string, Pick<HandlerAhead, 'events' | 'eventIds'>>>;
  return {
    timeline: String(timeline),
    previous,
    noticedDate: noticed as Date,
    lostSince: lostSince as Date,
    ahead: Object.entries(handlers).map(([name, { events, eventIds }]) =>
      handlerAhead(name, events, eventIds),
    ),
    inWords: describeFailover(String(timeline), previous),
  };
}

const HERE = `(SELECT system_identifier::text AS system, split_part(eventlog.server_run(), '/', 1) AS timeline
  FROM pg_control_system()) AS s`;

const NOTICE = `INSERT INTO eventlog.timelines (system_identifier, timeline, previous)
SELECT s.system, s.timeline, (SELECT t.timeline FROM eventlog.timelines AS t WHERE t.system_identifier = s.system
  ORDER BY t.noticed_date DESC LIMIT 1)
FROM ${HERE} WHERE s.timeline <> '' ON CONFLICT DO NOTHING RETURNING timeline, previous`;

/** An effect on this shard may be up to an hour younger than the event of another shard that has caused it. */
const REBASED = `INSERT INTO eventlog.timelines (system_identifier, timeline, previous, lost_since)
SELECT s.system, s.timeline, $1, $2::timestamptz - interval '1 hour' FROM ${HERE}
ON CONFLICT (system_identifier, timeline) DO UPDATE SET previous = excluded.previous, noticed_date = now(),
  lost_since = excluded.lost_since, acknowledged_date = NULL`;

/** A loss on a timeline that is known, as after a restore, is noticed with its first report. */
const REPORT = `UPDATE eventlog.timelines AS t SET ahead = t.ahead || $1::jsonb, acknowledged_date = NULL,
  noticed_date = CASE WHEN t.acknowledged_date IS NULL AND (t.previous IS NOT NULL OR t.ahead <> '{}')
    THEN t.noticed_date ELSE now() END
FROM ${HERE} WHERE t.system_identifier = s.system AND t.timeline = s.timeline`;

const LIST = `SELECT timeline, previous, noticed_date, coalesce(lost_since, noticed_date - interval '1 hour'), ahead
FROM eventlog.timelines
WHERE acknowledged_date IS NULL AND (previous IS NOT NULL OR ahead <> '{}') ORDER BY noticed_date`;

/** A process may report further losses of a failover while an operator reads it. */
const ACKNOWLEDGE = `UPDATE eventlog.timelines AS t SET acknowledged_date = now(), lost_since = NULL
FROM jsonb_to_recordset($1::jsonb) AS s(timeline text, previous text, ahead jsonb)
WHERE t.acknowledged_date IS NULL AND t.timeline = s.timeline AND t.previous IS NOT DISTINCT FROM s.previous
  AND t.ahead = s.ahead`;
