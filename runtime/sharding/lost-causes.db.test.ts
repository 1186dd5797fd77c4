import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { findLostCauses } from './lost-causes.js';
import { idOn, insertSaga, insertStep } from './test-support/failovers.js';

const HOME = ShardIdentifier.of(0, 0);
const OTHER = ShardIdentifier.of(1, 3);

describeOnEachAdapter('Steps of sagas on other shards', (harness) => {
  test('are reported only if the saga is gone', async () => {
    const databases = await harness.makeShards({ shards: [HOME, OTHER] });
    const [home, other] = [databases.database(HOME), databases.database(OTHER)];
    const [gone, earlier, kept, given, old, foreign] = [HOME, HOME, HOME, HOME, HOME, OTHER].map(idOn);
    if (!(gone && earlier && kept && given && old && foreign)) throw new Error('There are six');
    await insertSaga(home, kept);
    for (const saga of [gone, kept, foreign]) await insertStep(other, saga);
    await insertStep(other, earlier, { age: '50 minutes' });
    await insertStep(other, given, { state: 'VOID' });
    await insertStep(other, old, { age: '2 hours' });
    const now = Date.now();
    const failover = { noticedDate: new Date(now), lostSince: new Date(now - 3_600_000) };
    const found = await findLostCauses(databases, HOME, failover);
    expect(found.map(({ kind, shard, cause, effect }) => [kind, shard, cause, effect])).toEqual([
      ['step', OTHER, earlier, '1 PAYING'],
      ['step', OTHER, gone, '1 PAYING'],
    ]);
    expect(found[1]?.inWords).toMatch(
      new RegExp(`^\\(1, 3\\) has step 1 PAYING of saga ${gone} since \\S+Z; the saga is gone$`),
    );
    expect(await findLostCauses(databases, OTHER, failover)).toEqual([]);
  });
});
