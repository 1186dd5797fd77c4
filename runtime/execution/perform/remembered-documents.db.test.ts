import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { Entity, type ModelDescriptor } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import type { JsonValue } from '../../domain/json.js';
import { INITIAL_VERSION, ModelBuilder } from '../../domain/model-builder.js';
import type { Migration } from '../../migration/migration.js';
import { Repository } from '../../persistence/read/repository.js';
import { HERE, openBank } from '../test-support/accounts.js';

/** An entity with a document. */
class Basket extends Entity<Basket, ShardedId<Basket>, 'OPEN'> {
  readonly owner!: string;
  readonly content!: JsonValue;
  readonly due!: Date;
}

const basketModel: ModelDescriptor<Basket> = {
  name: 'Basket',
  kind: 'entity',
  modelClass: () => Basket,
  table: 'baskets',
  sharded: true,
  columns: [
    { field: 'id', column: 'id', type: { kind: 'id', model: 'Basket', sharded: true }, sqlType: 'uuid' },
    { field: 'state', column: 'state', type: { kind: 'enum', values: ['OPEN'] }, sqlType: 'text' },
    { field: 'version', column: 'version', type: { kind: 'number' }, sqlType: 'bigint' },
    { field: 'owner', column: 'owner', type: { kind: 'string' }, sqlType: 'text' },
    { field: 'content', column: 'content', type: { kind: 'json' }, sqlType: 'jsonb' },
    { field: 'due', column: 'due', type: { kind: 'instant' }, sqlType: 'timestamptz' },
  ],
};

const baskets: Migration = {
  name: '0001_baskets',
  up: `create table baskets (id uuid primary key check (eventlog.is_own_id(id)), state text not null, version bigint not null,
    owner text not null, content jsonb not null, due timestamptz not null)`,
};

class BasketBuilder extends ModelBuilder<Basket> {
  constructor() {
    super(basketModel);
  }

  static copyOf(basket: Basket): BasketBuilder {
    return new BasketBuilder().copyAll(basket);
  }

  static new(): BasketBuilder {
    const values = {
      id: ShardedId.generate(Basket, HERE),
      state: 'OPEN',
      version: INITIAL_VERSION,
      due: new Date(0),
    };
    const builder = new BasketBuilder();
    for (const [field, value] of Object.entries(values)) builder.put(field, value);
    return builder;
  }

  owner(owner: string): this {
    return this.put('owner', owner);
  }

  content(content: JsonValue): this {
    return this.put('content', content);
  }

  due(due: Date): this {
    return this.put('due', due);
  }

  build(): Basket {
    return this.instantiate();
  }
}

describeOn('postgresql', 'A remembered model with a document', (harness) => {
  test('has the stored document, although its input has changed since', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [baskets] });
    const bank = openBank(databases);
    const repository = new Repository<Basket>(bank.gateways, basketModel);
    const content = ['apple'];
    const { id } = await bank.run((plan) => plan.add(BasketBuilder.new().owner('a').content([]).build()));
    const change = (by: (builder: BasketBuilder) => BasketBuilder): Promise<Basket> =>
      bank.run(async (plan) => plan.update(by(BasketBuilder.copyOf(await repository.getById(id))).build()));
    await change((builder) => builder.owner('b'));
    await change((builder) => builder.content(content));
    content.push('bomb');
    await change((builder) => builder.owner('c'));
    expect(bank.executor.remembered.hit).toBe(2);
    expect((await repository.getById(id)).content).toEqual(['apple']);
    const hits = bank.executor.remembered.hit;
    const added = ['pear'];
    const other = await bank.run((plan) => plan.add(BasketBuilder.new().owner('e').content(added).build()));
    added.push('bomb');
    expect(other.content).toEqual(['pear']);
    await change((builder) => builder.content(['x'.repeat(20_000)]));
    await change((builder) => builder.owner('d'));
    expect(bank.executor.remembered.hit, 'a large document is not remembered').toBe(hits + 1);
  });

  test('has the document that its row has, and not the objects from which that was written', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [baskets] });
    const bank = openBank(databases);
    const repository = new Repository<Basket>(bank.gateways, basketModel);
    class Content {
      readonly at = new Date(0);
      readonly note = undefined;
      fruit = 'apple';
    }
    const { id } = await bank.run((plan) => plan.add(BasketBuilder.new().owner('a').content([]).build()));
    const change = (by: (builder: BasketBuilder) => BasketBuilder): Promise<Basket> =>
      bank.run(async (plan) => plan.update(by(BasketBuilder.copyOf(await repository.getById(id))).build()));
    await change((builder) => builder.owner('b'));
    const content = new Content();
    // A field of the type `unknown` takes any object.
    await change((builder) => builder.content(content as unknown as JsonValue));
    content.fruit = 'bomb';
    const { content: remembered } = await change((builder) => builder.owner('c'));
    expect(bank.executor.remembered.hit).toBeGreaterThan(0);
    const { content: stored } = await repository.getById(id);
    expect(stored).toEqual({ at: '1970-01-01T00:00:00.000Z', fruit: 'apple' });
    expect(remembered).toStrictEqual(stored);
  });

  test('has the stored date, although its owner has changed it since', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [baskets] });
    const bank = openBank(databases);
    const repository = new Repository<Basket>(bank.gateways, basketModel);
    const due = new Date(1_000);
    const seen: Date[] = [];
    const change = (by: (builder: BasketBuilder) => BasketBuilder): Promise<Basket> =>
      bank.run(async (plan) => {
        const basket = await repository.getById(id);
        seen.push(new Date(basket.due));
        return plan.update(by(BasketBuilder.copyOf(basket)).build());
      });
    const { id } = await bank.run((plan) =>
      plan.add(BasketBuilder.new().owner('a').content([]).due(due).build()),
    );
    due.setTime(2_000);
    await change((builder) => builder.owner('b').due(due));
    due.setTime(3_000);
    await change((builder) => builder.owner('c'));
    expect(bank.executor.remembered.hit).toBeGreaterThan(0);
    expect(seen).toEqual([new Date(1_000), new Date(2_000)]);
    expect((await repository.getById(id)).due).toEqual(new Date(2_000));
  });
});
