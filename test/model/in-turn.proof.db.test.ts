import { expect, test } from 'vitest';
import type { ActionPlan } from '../../runtime/action/action-plan.js';
import type { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { RefusedError } from '../../runtime/errors.js';
import { configure, HERE, THERE } from '../../runtime/execution/test-support/accounts.js';
import {
  type Guest,
  type GuestRepository,
  guestMigrations,
  newGuest,
  openHotel,
} from '../../runtime/execution/test-support/guests.js';
import { describeOn } from '../databases/vitest.js';
import { Random } from './random.js';

const ROUNDS = 400;
const STEPS = ['get', 'reread', 'query', 'key', 'all', 'update', 'expect', 'add', 'refuse', 'unfit'] as const;

interface Step {
  readonly kind: (typeof STEPS)[number];
  readonly id: string;
  readonly email: string;
}

/** A row as the test knows it. */
interface Known {
  readonly version: number;
  readonly stays: number;
}

/** One run of `perform`: what it has read of rows that it had not staged before, and what it has staged. */
class Run {
  readonly reads: Guest[] = [];
  readonly staged: Guest[] = [];
  readonly #done = new Set<string>();
  readonly #plan: ActionPlan;
  readonly #guests: GuestRepository;

  constructor(plan: ActionPlan, guests: GuestRepository) {
    this.#plan = plan;
    this.#guests = guests;
  }

  async take({ kind, id, email }: Step, ids: readonly string[]): Promise<void> {
    if (kind === 'query') await this.#guests.count(shardOf(id));
    else if (kind === 'add') this.#stage(this.#plan.add(newGuest(email, {}, shardOf(id))));
    else if (kind === 'all')
      for (const each of (await this.#guests.findAllByIds(ids)).models) this.#read(each);
    else if (kind === 'key') {
      const found = await this.#guests.findByKey({ email }, HERE);
      if (found !== undefined) this.#read(found);
    } else await this.#change(kind, id);
  }

  async #change(kind: Step['kind'], id: string): Promise<void> {
    let guest = this.#read(await this.#guests.getById(id));
    if (kind === 'reread') {
      await this.#guests.count(shardOf(id));
      guest = this.#read(await this.#guests.getById(id));
    }
    if (kind === 'refuse' && guest.stays % 2 === 1) throw new RefusedError('odd');
    if (kind === 'get' || kind === 'refuse' || this.#done.has(id)) return;
    if (kind === 'expect') {
      this.#done.add(id);
      this.#plan.expect(guest);
    } else if (kind === 'unfit' && guest.stays % 3 === 0) this.#stage(this.#plan.update(guest.renamed('\0')));
    else this.#stage(this.#plan.update(guest.stayed()));
  }

  #read(guest: Guest): Guest {
    if (!this.#done.has(guest.id.getValue())) this.reads.push(guest);
    return guest;
  }

  #stage(guest: Guest): void {
    this.#done.add(guest.id.getValue());
    this.staged.push(guest);
  }
}

function shardOf(id: string): ShardIdentifier {
  return ShardIdentifier.fromBits(Number.parseInt(id.slice(19, 23), 16) & 0x3fff);
}

/** Refusals that the steps cause. */
const REFUSALS = /^(FW_REFUSED|FW_VALIDATION|FW_CROSS_SHARD|FW_UNIQUE_VIOLATION|FW_DUPLICATE_KEY)$/;

const firstSeed = Number(process.env['FW_SEED'] ?? Date.now() % 1_000_000);

/**
 * Two processes, one execution after the other: whatever a process remembers, each outcome follows from the present rows,
 * also after changes by hand. `FW_SEED` repeats a run.
 */
describeOn('postgresql', 'Two processes that act in turn', (harness) => {
  test.each([0, 1, 2])('decide on the present rows alone (seed %i after the first)', async (offset) => {
    const random = new Random(firstSeed + offset);
    const databases = await harness.makeShards({ shards: [HERE, THERE], migrations: guestMigrations });
    const hotels = [openHotel(databases), openHotel(databases)] as const;
    const known = new Map<string, Known>();
    const learn = ({ id, version, stays }: Guest): void => void known.set(id.getValue(), { version, stays });
    for (const shard of [HERE, HERE, HERE, THERE])
      learn(await hotels[0].run((plan) => plan.add(newGuest(`${known.size}`, {}, shard))));
    const ids = [...known.keys()] as [string, ...string[]];

    const configuration = (round: number): ExecutionConfiguration => {
      const builder = configure().timeoutMs(60_000);
      if (random.chance(0.2)) builder.idempotencyKey(`${round}`);
      return builder.chaining(!random.chance(0.1)).build();
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const steps = Array.from({ length: 1 + random.below(4) }, (_, index): Step => {
        const email = random.chance(0.5) ? `${random.below(4)}` : `${round} ${index}`;
        return { kind: random.pick(STEPS), id: random.pick(ids), email };
      });
      if (random.chance(0.05)) {
        const [id, sum] = [random.pick(ids), 'update guests set stays = stays + 100 where id = $1'];
        await databases.database(shardOf(id)).query({ text: sum, values: [id] });
        const { version = 0, stays = 0 } = known.get(id) ?? {};
        known.set(id, { version, stays: stays + 100 });
      }
      let last: Run | undefined;
      // A process whose guesses fail often makes none.
      const hotel = hotels[random.chance(0.1) ? 1 : 0];
      const error: unknown = await hotel
        .run(async (plan, guests) => {
          last = new Run(plan, guests);
          for (const step of steps) await last.take(step, ids);
        }, configuration(round))
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      const { reads = [], staged = [] } = (last as Run | undefined) ?? {};
      const where = `FW_SEED=${firstSeed + offset}, round ${round}: ${JSON.stringify(steps)}, ${String(error)}`;
      if (error !== undefined) expect(error, where).toHaveProperty('code', expect.stringMatching(REFUSALS));
      for (const { id, version, stays } of reads)
        expect({ version, stays }, where).toEqual(known.get(id.getValue()));
      if (error === undefined) for (const guest of staged) learn(guest);
    }
  });
});
