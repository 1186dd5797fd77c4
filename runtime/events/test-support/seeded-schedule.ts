import { setImmediate as turn } from 'node:timers/promises';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';
import type { ShardingTopology } from '../../config/types.js';
import { postgresAdapter } from '../../databases.js';
import type { DatabaseAdapter } from '../../sharding/database-adapter.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { ShardDatabase, ShardSession } from '../../sharding/shard-database.js';
import { VirtualClock } from '../../testing/virtual-clock.js';

/** A process of a schedule, while it lives. */
interface Process {
  /** Gates that it has reached. */
  gates: number;
  dead: boolean;
  finished: boolean;
}

interface Waiting {
  readonly process: Process;
  readonly go: () => void;
}

/** Turns of the event loop after which every process that can continue has continued. */
const QUIET_TURNS = 4;
const STUCK_MS = 60_000;
/**
 * A call that waits for a lock of a process at a gate is treated as blocked after this time: another process must run.
 */
const BLOCKED_MS = 200;

/**
 * Interleaves processes by a seed, one running at a time: each stops before each of its calls, after each answer and in
 * each pause. Pauses take time only on a virtual clock.
 */
export class SeededSchedule {
  readonly #random: () => number;
  readonly #clock = new VirtualClock();
  readonly #processes: Process[] = [];
  #waiting: Waiting[] = [];
  #underWay = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * Adds a process with its databases and its clock.
   *
   * @param diesAt number of the gate, from 1, at which it dies; undefined: it lives
   */
  process(
    topology: ShardingTopology,
    diesAt: number | undefined,
  ): {
    readonly databases: DatabaseRegistry;
    readonly environment: ExecutionEnvironment;
    readonly run: (work: () => Promise<void>) => void;
    readonly gates: () => number;
  } {
    const process: Process = { gates: 0, dead: false, finished: false };
    this.#processes.push(process);
    const gate = (): Promise<void> => this.#gate(process, diesAt);
    const adapter: DatabaseAdapter = {
      kind: 'postgresql',
      open: (shard, source, options) => this.#gated(postgresAdapter.open(shard, source, options), gate),
    };
    return {
      databases: new DatabaseRegistry(topology, { adapters: [adapter], warn: () => {} }),
      environment: {
        clock: this.#clock,
        nowMs: () => performance.now(),
        random: this.#random,
        sleep: async (milliseconds) => {
          this.#clock.advance(milliseconds);
          await gate();
        },
      },
      run: (work) => void work().finally(() => (process.finished = true)),
      gates: () => process.gates,
    };
  }

  /** Runs until every process has finished or died. @throws Error if no process can continue */
  async toTheEnd(): Promise<void> {
    const giveUpAt = performance.now() + STUCK_MS;
    for (;;) {
      await this.#quiet();
      if (this.#processes.every(({ dead, finished }) => dead || finished)) return;
      const [chosen] = this.#waiting.splice(Math.floor(this.#random() * this.#waiting.length), 1);
      if (chosen !== undefined) chosen.go();
      else if (performance.now() > giveUpAt) throw new Error('The processes stand still');
    }
  }

  #gate(process: Process, diesAt: number | undefined): Promise<void> {
    process.gates += 1;
    if (process.gates === diesAt) {
      process.dead = true;
      this.#waiting = this.#waiting.filter((each) => each.process !== process);
    }
    return new Promise((go) => {
      if (!process.dead) this.#waiting.push({ process, go });
    });
  }

  async #call<T>(gate: () => Promise<void>, call: () => Promise<T>): Promise<T> {
    await gate();
    this.#underWay += 1;
    const ended = await call().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    this.#underWay -= 1;
    await gate();
    return ended();
  }

  async #quiet(): Promise<void> {
    const blockedAt = performance.now() + BLOCKED_MS;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await turn();
      if (this.#underWay > 0 && performance.now() < blockedAt) quiet = 0;
    }
  }

  #gated(database: ShardDatabase, gate: () => Promise<void>): ShardDatabase {
    return {
      shard: database.shard,
      kind: database.kind,
      description: database.description,
      sessionState: database.sessionState,
      query: (statement, options) => this.#call(gate, () => database.query(statement, options)),
      acquire: async (options) => this.#gatedSession(await database.acquire(options), gate),
      stats: () => database.stats(),
      close: (graceMs) => database.close(graceMs),
    };
  }

  #gatedSession(session: ShardSession, gate: () => Promise<void>): ShardSession {
    return {
      query: (statement, options) => this.#call(gate, () => session.query(statement, options)),
      script: (sql, options) => session.script(sql, options),
      release: () => session.release(),
      destroy: () => session.destroy(),
    };
  }
}
