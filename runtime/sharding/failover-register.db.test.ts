import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { FailoverRegister } from './failover-register.js';

const SHARD = ShardIdentifier.of(0, 0);

describeOnEachAdapter('The register of failovers', (harness) => {
  test('records the first timeline silently, and each later one once, until it is acknowledged', async () => {
    const databases = await harness.makeShards({ shards: [SHARD] });
    const database = databases.database(SHARD);
    const register = new FailoverRegister(database);
    expect(await register.notice()).toBeUndefined();
    expect(await register.unacknowledged()).toEqual([]);
    // Makes the server's current timeline look new.
    await database.query({ text: "UPDATE eventlog.timelines SET timeline = '00000000'", values: [] });
    expect(await register.notice()).toContain('from timeline 00000000 to 00000001');
    expect(await register.notice()).toBeUndefined();
    await register.report('Mailer', ['a', 'b']);
    expect(await register.unacknowledged()).toMatchObject([
      {
        previous: '00000000',
        timeline: '00000001',
        ahead: [{ handler: 'Mailer', events: 2, eventIds: ['a', 'b'] }],
      },
    ]);
    // A loss that is reported while an operator reads the failover is not acknowledged with it.
    const read = await register.unacknowledged();
    await register.report('Other', ['z']);
    expect(await register.acknowledge(read)).toBe(0);
    const changed = await register.unacknowledged();
    expect(changed[0]?.ahead.map(({ handler }) => handler).sort()).toEqual(['Mailer', 'Other']);
    expect(await register.acknowledge(changed)).toBe(1);
    expect(await register.acknowledge(changed)).toBe(0);
    expect(await register.unacknowledged()).toEqual([]);
    // Later findings are shown again, and were noticed later.
    const long = "UPDATE eventlog.timelines SET noticed_date = noticed_date - interval '1 day'";
    await database.query({ text: long, values: [] });
    await register.report('Other', ['c']);
    const [found] = await register.unacknowledged();
    await register.report('Mailer', ['d']);
    const [now] = (await database.query({ text: 'SELECT now()', values: [] })).rows[0] ?? [];
    expect((now as Date).getTime() - Number(found?.noticedDate)).toBeLessThan(3_600_000);
    expect(await register.unacknowledged()).toMatchObject([{ noticedDate: found?.noticedDate }]);
  });
});
