import { createDatabase, dropDatabase, withClient } from './database.js';
import { built, topology } from './product.js';
import { progress } from './report.js';
import { rotate } from './rotation.js';
import { ID_PREFIX, WALLETS, walletIds } from './wallets.js';

const DATABASE = 'b_events';
const EVENT = 'WalletCreatedEvent';
/** Events in the log, each of its own action. */
const STORED = 200_000;
/** Events of one transaction: what a merged statement of the executor commits. */
const PER_TRANSACTION = 100;
const POLL_MS = 1;

/** The handlers, and the number of events per slice of each. */
export const handlers = [
  { name: 'empty', label: 'nothing', events: STORED, concurrency: 32 },
  {
    name: 'action',
    label: 'starts a deposit, 10,000 wallets, 256 models at once',
    events: 20_000,
    concurrency: 256,
  },
];

/** Events per second that one process delivers from one shard, to a handler that begins at the start of the log. */
export async function measureEvents(server, options) {
  const connection = await createDatabase(server, DATABASE, 'framework');
  try {
    await withClient(connection, (client) => fillEvents(client, STORED));
    const rounds = [];
    await rotate(handlers, options.rounds, async (handler, round) => {
      const slice = await deliver(connection, handler, round);
      rounds.push({ round, name: handler.name, ...slice });
      progress(`events ${handler.name} round ${round + 1}: ${Math.round(slice.perSecond)}/s`);
    });
    return { rounds };
  } finally {
    await dropDatabase(server, DATABASE);
  }
}

/** A fresh handler for each slice: its checkpoint is at the start of the log. */
async function deliver(connection, { name, events, concurrency }, round) {
  const { openApplication } = await built('runtime/index.js');
  const { application } = await built('examples/wallet/generated/application.js');
  const state = { handled: 0 };
  const descriptor = {
    name: `Bench-${name}-${round}`,
    events: [application.events.find((event) => event.name === EVENT)],
    concurrency,
    create: await workOf(name, state),
  };
  const opened = await openApplication(
    { ...application, wireHandlers: () => [descriptor], sagas: [] },
    {
      namespace: 'bench',
      sharding: await topology(connection, { poolSize: 40 }),
      collaborators: {},
      deliver: true,
      ...{ migrateAtStart: false, migrate: false },
    },
  );
  try {
    await until(() => state.handled > 0);
    const [before, cpu, startedMs] = [state.handled, process.cpuUsage(), performance.now()];
    await until(() => state.handled >= events);
    const [count, elapsedMs, { user, system }] = [
      state.handled - before,
      performance.now() - startedMs,
      process.cpuUsage(cpu),
    ];
    return { perSecond: (count / elapsedMs) * 1000, clientUs: (user + system) / count };
  } finally {
    await opened.close();
  }
}

async function workOf(name, state) {
  const count = () => {
    state.handled += 1;
  };
  if (name === 'empty') return () => ({ handle: count });
  const { Decimal, ShardedId } = await built('runtime/index.js');
  const { WalletDepositMoneyAction } = await built('examples/wallet/actions/wallet-deposit-money-action.js');
  const { Wallet } = await built('examples/wallet/models/wallet.js');
  let next = 0;
  const one = new Decimal(1);
  return () => ({
    handle: async (envelope) => {
      next += 1;
      const walletId = ShardedId.of(Wallet, walletIds[next % WALLETS]);
      await envelope.execute(WalletDepositMoneyAction, { walletId, amount: one });
      count();
    },
  });
}

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** Writes events of wallets into the log, each with the row of its action. */
export async function fillEvents(client, stored) {
  for (let first = 0; first < stored; first += PER_TRANSACTION) {
    await client.query(FILL, [first, first + PER_TRANSACTION - 1]);
  }
  await client.query('vacuum (analyze) eventlog.events, eventlog.actions');
}

const FILL = `
with n as (
  select n, ('${ID_PREFIX}e' || lpad(to_hex(n), 11, '0'))::uuid as event_id,
    ('${ID_PREFIX}a' || lpad(to_hex(n), 11, '0'))::uuid as action_id
  from generate_series($1::int, $2::int) as n),
a as (
  insert into eventlog.actions (id, status, namespace, name, principal, started_date, completed_date, params)
  select action_id, 'committed', 'bench', 'WalletCreateAction', 'bench', now(), now(), '{"country": "MX"}' from n)
insert into eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
select event_id, action_id, 'bench', '${ID_PREFIX}' || lpad(to_hex(n % ${WALLETS}), 12, '0'), 'Wallet', '${EVENT}',
  '{"ownerId": "01900000-0000-7000-8000-000000000000", "currency": "EUR", "initialBalance": "0"}', now(), 1 + n / ${WALLETS}
from n`;
