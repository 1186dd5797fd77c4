import {
  type Application,
  currency,
  Decimal,
  ExecutionConfiguration,
  openApplication,
  type Principal,
  ShardIdentifier,
  type Uuid,
} from 'fw-actions';
import type { ShardingInput } from 'fw-actions/config';
import { ShardingConfig } from 'fw-actions/config';
import { BookingHoldAction } from '../../examples/booking/actions/booking-hold-action.js';
import { BookingPayAction } from '../../examples/booking/actions/booking-pay-action.js';
import { HotelOpenAction } from '../../examples/booking/actions/hotel-open-action.js';
import { MemberGetAction, MemberJoinAction } from '../../examples/booking/actions/member-actions.js';
import { application as booking } from '../../examples/booking/generated/application.js';
import { TransferGetAction } from '../../examples/wallet/actions/transfer-get-action.js';
import { TransferInitiateAction } from '../../examples/wallet/actions/transfer-initiate-action.js';
import { WalletCreateAction } from '../../examples/wallet/actions/wallet-create-action.js';
import { WalletGetAction } from '../../examples/wallet/actions/wallet-get-action.js';
import { application as wallet } from '../../examples/wallet/generated/application.js';

/** Runs both examples on the databases of `FW_BUNDLE_SHARDS`, and prints every name that they have stored. */

const NAMES = `select 'event ' || model_name || ' ' || event_type from eventlog.events
  union select 'action ' || name from eventlog.actions
  union select 'saga ' || saga from eventlog.sagas
  union select 'step ' || step from eventlog.saga_steps
  union select 'handler ' || handler from eventlog.consumers
  union select 'schedule ' || action_name from eventlog.schedules
  union select 'key of ' || operation from eventlog.idempotency_keys`;

const ownerId: Uuid = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
/** Sees only the wallets that the rule of their class lets an owner see. */
const owner: Principal = { name: 'ada', claims: { owner: ownerId } };

/** A new key for each call. */
let calls = 0;
const keyed = () => {
  calls += 1;
  return ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey(`call-${calls}`).build();
};

// A busy machine may take seconds for a statement.
const options = { collaborators: {}, execution: { timeoutMs: 60_000 }, warn: () => undefined };
const [walletShards, bookingShards] = JSON.parse(process.env['FW_BUNDLE_SHARDS'] ?? '[]') as ShardingInput[];
if (walletShards === undefined || bookingShards === undefined) throw new Error('FW_BUNDLE_SHARDS is not set');
const wallets = await openApplication(wallet, {
  ...options,
  namespace: 'example.wallet',
  sharding: ShardingConfig.of(walletShards),
});
const bookings = await openApplication(booking, {
  ...options,
  namespace: 'example.booking',
  sharding: ShardingConfig.of(bookingShards),
});
await transfer(wallets);
await book(bookings);
const names = [...(await namesOf(wallets)), ...(await namesOf(bookings))];
await Promise.all([wallets.close(), bookings.close()]);
console.log(JSON.stringify([...new Set(names)].sort()));

/** Moves money between two shards by a saga, as a caller of whom the rules of the wallet ask who it is. */
async function transfer({ executor }: Application): Promise<void> {
  const open = (country: string) =>
    executor.execute(
      owner,
      WalletCreateAction,
      { country, ownerId, currency: currency('MXN'), initialBalance: new Decimal(100) },
      keyed(),
    );
  const [source, destination] = [await open('FR'), await open('MX')];
  await executor.execute(owner, WalletGetAction, { walletId: source.id });
  const { id: transferId } = await executor.execute(owner, TransferInitiateAction, {
    sourceId: source.id,
    destinationId: destination.id,
    amount: new Decimal(30),
  });
  await until(async () => {
    const { state } = await executor.execute(owner, TransferGetAction, { transferId });
    return state === 'COMPLETED';
  });
}

/** Holds a room, which schedules its release, and pays it: a handler counts the points. */
async function book({ executor }: Application): Promise<void> {
  const hotel = await executor.execute(
    owner,
    HotelOpenAction,
    { region: 'europe', name: 'Inn', from: '2026-05-01', nights: 2, rooms: 1, price: new Decimal(120) },
    keyed(),
  );
  const member = await executor.execute(
    owner,
    MemberJoinAction,
    { name: 'Ada', credit: new Decimal(500) },
    keyed(),
  );
  const stay = { hotelId: hotel.id, memberId: member.id, from: '2026-05-01', nights: 2 };
  const { id: bookingId } = await executor.execute(owner, BookingHoldAction, stay, keyed());
  await executor.execute(owner, BookingPayAction, { bookingId }, keyed());
  await until(async () => {
    const { points } = await executor.execute(owner, MemberGetAction, { memberId: member.id });
    return points > 0;
  });
}

async function namesOf({ databases }: Application): Promise<readonly unknown[]> {
  const found = await Promise.all(
    [0, 1].map(async (group) => {
      const shard = databases.transactionManager(ShardIdentifier.of(group, 0));
      const { rows } = await shard.transaction((transaction) =>
        transaction.query({ text: NAMES, values: [] }),
      );
      return rows.flat();
    }),
  );
  return found.flat();
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}
