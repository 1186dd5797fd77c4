import { expect, it, onTestFinished } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { useTime } from '../concurrency/time.js';
import type { MemberConfig } from '../config/types.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardUnavailableError, UnknownShardError } from '../errors.js';
import type { DatabaseRegistry } from './database-registry.js';
import { Placement } from './placement.js';
import { changedMembers } from './test-support/changed-topology.js';

const [a, b, c] = [ShardIdentifier.of(1, 0), ShardIdentifier.of(1, 1), ShardIdentifier.of(1, 2)] as const;
const SHARDS = [a, b, c, ShardIdentifier.of(0, 0)];
const KEYS = Array.from({ length: 3_000 }, (_, index) => `key-${index}`);

describeOn('postgresql', 'The placement of new ids', (harness) => {
  const using = async (
    changes: ReadonlyMap<unknown, Partial<MemberConfig>>,
    work: (placement: Placement, databases: DatabaseRegistry) => Promise<void>,
  ): Promise<void> => {
    const topology = await harness.makeTopology({ shards: SHARDS, migrated: false });
    const databases = openDatabases(
      changedMembers(topology, (member) => ({ ...member, ...changes.get(member.shard) })),
    );
    await work(new Placement(databases, { sizesForMs: 0 }), databases).finally(() => databases.close(0));
  };
  const counts = async (placement: Placement, withKey: boolean): Promise<readonly number[]> => {
    const chosen = await Promise.all(
      KEYS.map((key) => placement.choose(1, { kind: 'weighted' }, withKey ? { key } : {})),
    );
    return [a, b, c].map((shard) => chosen.filter((each) => each === shard).length);
  };

  it('is fixed under the policy `fixed`', () =>
    using(new Map([[b, { draining: true }]]), async (placement) => {
      expect(await placement.choose(1, { kind: 'fixed', member: 2 })).toBe(c);
      await expect(placement.choose(1, { kind: 'fixed', member: 1 })).rejects.toThrow(ShardUnavailableError);
      await expect(placement.choose(1, { kind: 'fixed', member: 9 })).rejects.toThrow(UnknownShardError);
      await expect(placement.choose(7, { kind: 'weighted' })).rejects.toThrow(UnknownShardError);
    }));

  it('follows the weights, and skips draining members', () =>
    using(
      new Map([
        [b, { weight: 2 }],
        [c, { draining: true }],
      ]),
      async (placement) => {
        for (const withKey of [true, false]) {
          const [first = 0, second = 0, third = 0] = await counts(placement, withKey);
          expect(third).toBe(0);
          expect(first + second).toBe(KEYS.length);
          expect(second / first).toBeGreaterThan(1.7);
          expect(second / first).toBeLessThan(2.3);
        }
      },
    ));

  it('is the same for the same key, even when another member begins to drain', async () => {
    const choices = async (changes: ReadonlyMap<unknown, Partial<MemberConfig>>) => {
      let result: readonly ShardIdentifier[] = [];
      await using(changes, async (placement) => {
        result = await Promise.all(KEYS.map((key) => placement.choose(1, { kind: 'weighted' }, { key })));
      });
      return result;
    };
    const before = await choices(new Map());
    const after = await choices(new Map([[c, { draining: true }]]));
    expect(await choices(new Map())).toEqual(before);
    expect(after.filter((shard, index) => before[index] !== c && before[index] !== shard)).toEqual([]);
  });

  it('chooses the member with the smallest database, and skips an unreachable member', () =>
    using(new Map(), async (placement, databases) => {
      const fill = (shard: ShardIdentifier, rows: number) =>
        databases
          .database(shard)
          .query({ text: `create table f as select generate_series(1, ${rows})`, values: [] });
      await fill(a, 50_000);
      await fill(c, 100_000);
      expect(await placement.choose(1, { kind: 'least-filled' })).toBe(b);
      await databases.database(b).close(0);
      expect(await placement.choose(1, { kind: 'least-filled' })).toBe(a);
    }));

  it('is refused when all members drain', () =>
    using(new Map([a, b, c].map((shard) => [shard, { draining: true }])), async (placement) => {
      await expect(placement.choose(1, { kind: 'weighted' })).rejects.toThrow('all members are draining');
      await expect(placement.choose(1, { kind: 'least-filled' })).rejects.toThrow('all members are draining');
    }));
});

it('does not leave a member out for longer than it is out of reach', async () => {
  let nowMs = 0;
  let isReachable = false;
  const restore = useTime({ nowMs: () => nowMs });
  const rows = { columns: [], rows: [[1]], command: 'SELECT', rowCount: 1 };
  const query = () => (isReachable ? Promise.resolve(rows) : Promise.reject(new Error('out of reach')));
  const member = ShardIdentifier.of(1, 0);
  const source: ConstructorParameters<typeof Placement>[0] = {
    shards: () => [member],
    groupNumbers: () => new Set([1]),
    memberConfig: (shard) => ({ shard }),
    database: () => ({ query }),
  };
  const placement = new Placement(source);
  const choose = (): Promise<ShardIdentifier> => placement.choose(1, { kind: 'least-filled' });
  onTestFinished(() => void restore());
  await expect(choose()).rejects.toThrow('no member reports its size');
  isReachable = true;
  nowMs += 1_000;
  expect(await choose()).toBe(member);
});
