import { expectTypeOf } from 'vitest';
import { Decimal } from './decimal.js';
import { ShardedId } from './id.js';
import { ShardIdentifier } from './shard-identifier.js';
import {
  type Account,
  AccountBuilder,
  Account as AccountClass,
  AccountCredited,
} from './test-support/account.js';
import { Note } from './test-support/note.js';

const shard = ShardIdentifier.of(0, 0);
const id = ShardedId.generate(AccountClass, shard);
const complete = AccountBuilder.account()
  .id(id)
  .state('OPEN')
  .withInitialVersion()
  .createdDate(new Date())
  .balance(new Decimal(1))
  .closedBy(null);

// A builder with all required fields builds, in any order of setters; optional fields may be missing.
expectTypeOf(complete.build()).toEqualTypeOf<Account>();
expectTypeOf(complete.nickname('Ana').updatedDate(new Date()).build()).toEqualTypeOf<Account>();
expectTypeOf(complete.withEvent(new AccountCredited(id, new Decimal(1))).build()).toEqualTypeOf<Account>();
expectTypeOf(AccountBuilder.copyOf(complete.build()).build()).toEqualTypeOf<Account>();

// @ts-expect-error all required fields are missing
AccountBuilder.account().build();
// @ts-expect-error the balance is missing
AccountBuilder.account()
  .id(id)
  .state('OPEN')
  .withInitialVersion()
  .createdDate(new Date())
  .closedBy(null)
  .build();
// @ts-expect-error the version is missing
AccountBuilder.account()
  .id(id)
  .state('OPEN')
  .createdDate(new Date())
  .balance(new Decimal(1))
  .closedBy(null)
  .build();
// @ts-expect-error the account has no such state
complete.state('CLOSED');
// @ts-expect-error a number is not a decimal
complete.balance(1);
// @ts-expect-error an amount is not optional
complete.balance(undefined);
// @ts-expect-error the id of another model
complete.id(ShardedId.generate(Note, shard));
// @ts-expect-error an event is attached with withEvent, and must be an event of the model
complete.withEvent({ amount: new Decimal(1) });
