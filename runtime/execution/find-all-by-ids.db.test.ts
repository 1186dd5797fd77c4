import { expect, it } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { uuid7 } from '../domain/id-source.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { UnknownShardError, ValidationError } from '../errors.js';
import { EventCatalog } from '../persistence/codec/event-catalog.js';
import { countingRegistry } from '../sharding/test-support/counting-registry.js';
import { ShardGateways } from './shard-gateways.js';
import { AccountRepository, HERE, makeAccounts, openBank, THERE } from './test-support/accounts.js';

describeOnEachAdapter('Many models by id', (harness) => {
  const open = async () => {
    const databases = await makeAccounts(harness);
    const { registry, counts } = countingRegistry(databases);
    const accounts = new AccountRepository(new ShardGateways(registry, 'test', new EventCatalog([])));
    return { bank: openBank(databases), accounts, counts };
  };

  it('are returned in the requested order, with the missing ids, with one statement per shard', async () => {
    const { bank, accounts, counts } = await open();
    const stored: string[] = [];
    for (const shard of [HERE, THERE, HERE, THERE]) stored.push(await bank.open(shard, stored.length));
    const [a = '', b = '', c = '', gone = ''] = stored;
    await bank.rows(THERE, `update accounts set state = 'GONE' where id = '${gone}'`);
    const absent = [HERE, THERE].map((shard) => uuid7.next(shard.bits));
    const asked = [c, absent[1] ?? '', b, a, gone, b, absent[0] ?? ''];
    counts.texts.length = 0;
    const found = await accounts.findAllByIds(asked);
    expect(found.models.map(({ id }) => id.getValue())).toEqual([c, b, a, b]);
    expect(found.missing).toEqual([absent[1], gone, absent[0]]);
    expect(counts.texts).toHaveLength(2);
    const all = await accounts.findAllByIds([gone], { includeDeleted: true });
    expect([all.models.length, all.missing]).toEqual([1, []]);
    expect(await accounts.findAllByIds([])).toEqual({ models: [], missing: [] });
  });

  it('may be more than can wait for one shard', async () => {
    const { accounts } = await open();
    const absent = Array.from({ length: 10_001 }, () => uuid7.next(HERE.bits));
    expect((await accounts.findAllByIds(absent)).missing).toEqual(absent);
  });

  it('with an undecodable value of other software fail alone', async () => {
    const { bank, accounts } = await open();
    const ids = [await bank.open(HERE, 1), await bank.open(HERE, 2), await bank.open(HERE, 3)];
    await bank.rows(HERE, `update accounts set created_date = 'infinity' where id = '${ids[1]}'`);
    const found = await Promise.allSettled(ids.map((id) => accounts.getById(id)));
    expect(found.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(found[1]).toMatchObject({ reason: { message: 'A timestamptz of infinity has no instant' } });
  });

  it('are refused as a whole if an id is invalid or names an unknown shard', async () => {
    const { bank, accounts } = await open();
    const known = await bank.open(HERE, 1);
    const elsewhere = uuid7.next(ShardIdentifier.of(9, 9).bits);
    await expect(accounts.findAllByIds([known, elsewhere])).rejects.toThrow(UnknownShardError);
    await expect(accounts.findAllByIds([known, 'x'])).rejects.toThrow(ValidationError);
  });
});
