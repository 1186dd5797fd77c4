import { expectTypeOf } from 'vitest';
import type { modelType } from '../codegen/version.js';
import type { Currency } from './currency.js';
import { Id, ShardedId } from './id.js';
import { Model } from './model.js';
import type { ModelEvent } from './model-event.js';
import { ShardIdentifier } from './shard-identifier.js';
import type { Cat, Dog } from './test-support/twins.js';

class Invoice extends Model<Invoice, ShardedId<Invoice>, 'DRAFT' | 'SENT'> {
  readonly amount!: number;
}

class Customer extends Model<Customer, Id<Customer>, 'ACTIVE'> {
  readonly name!: string;
}

// Two models with the same fields: the tag that emitted code adds in this way distinguishes them.
declare module './test-support/twins.js' {
  interface Cat {
    readonly [modelType]?: 'Cat';
  }
  interface Dog {
    readonly [modelType]?: 'Dog';
  }
}

const shard = ShardIdentifier.of(0, 0);
const UUID = '0194e4a1-7c00-7000-8040-000000000001';

// Ids carry their model's type.
expectTypeOf(Id.of(Customer, UUID)).toEqualTypeOf<Id<Customer>>();
expectTypeOf(ShardedId.of(Invoice, UUID)).toEqualTypeOf<ShardedId<Invoice>>();
expectTypeOf(ShardedId.generate(Invoice, shard)).toEqualTypeOf<ShardedId<Invoice>>();
expectTypeOf<Id<Invoice>>().not.toExtend<Id<Customer>>();
expectTypeOf<Id<Customer>>().not.toExtend<Id<Invoice>>();
expectTypeOf<Id<Cat>>().not.toExtend<Id<Dog>>();
expectTypeOf<ShardedId<Cat>>().not.toExtend<ShardedId<Dog>>();
expectTypeOf<ShardedId<Cat>>().not.toExtend<Id<Dog>>();

// A sharded id is accepted for a plain one, but not the reverse.
expectTypeOf<ShardedId<Invoice>>().toExtend<Id<Invoice>>();
expectTypeOf<Id<Invoice>>().not.toExtend<ShardedId<Invoice>>();
expectTypeOf<Id<Invoice>>().toExtend<Id<unknown>>();

// A text is not an id.
expectTypeOf<string>().not.toExtend<Id<Invoice>>();
// Nor is it a currency until `currency` has checked it.
expectTypeOf<string>().not.toExtend<Currency>();

// A model has the id type and the states that it was declared with.
expectTypeOf<Invoice['id']>().toEqualTypeOf<ShardedId<Invoice>>();
expectTypeOf<Invoice['state']>().toEqualTypeOf<'DRAFT' | 'SENT'>();
expectTypeOf<Customer['id']>().toEqualTypeOf<Id<Customer>>();
expectTypeOf<Invoice>().not.toExtend<Customer>();

// Events belong to one model.
expectTypeOf<ModelEvent<Cat>>().not.toExtend<ModelEvent<Dog>>();

// @ts-expect-error models come from builders and repositories, never from `new`
new Invoice();
// @ts-expect-error shards come from `ShardIdentifier.of`
new ShardIdentifier(0, 0);
// @ts-expect-error ids come from `Id.of`
new Id('Customer', UUID);

declare const invoice: Invoice;
// @ts-expect-error a model is immutable
invoice.amount = 1;
// @ts-expect-error a model is immutable, including its base fields
invoice.version = 2;
