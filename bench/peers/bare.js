import { Decimal } from 'decimal.js';
import { v7 as uuid7 } from 'uuid';
import { Stale } from '../lib/load.js';
import { built } from '../lib/product.js';
import { Batcher, Connections } from './batcher.js';
import { instants, uuids } from './packed.js';

/** The framework's limits. */
const LIMITS = {
  reads: { maximumInFlight: 4, maximumBatch: 256 },
  writes: { maximumInFlight: 2, maximumBatch: 128, aheadFrom: 16, overlapFrom: 12 },
};

/**
 * The maximum speed of the merged statement: the framework's own text on its own schema, and nothing else. No models,
 * checks, deadlines, actions or failure handling; arrays are built by hand. Waiting deposits are sent together, and
 * deposits on one wallet start from the staged state and are folded, as in the framework.
 */
export async function open({ connection }) {
  const connections = await Connections.open(connection, LIMITS);
  const bare = new Bare(connections, await flushTexts());
  return { deposit: (id, amount) => bare.deposit(id, amount), close: () => connections.close() };
}

/**
 * The texts of a flush of deposits, with and without folding. They are made from samples, because a text does not
 * depend on the values.
 */
async function flushTexts() {
  /** @type {typeof import('../../dist/runtime/persistence/write/flush-statement.js')} */
  const { flushStatement } = await built('runtime/persistence/write/flush-statement.js');
  /** @type {typeof import('../../dist/runtime/persistence/codec/event-catalog.js')} */
  const { EventCatalog } = await built('runtime/persistence/codec/event-catalog.js');
  /** @type {typeof import('../../dist/runtime/domain/shard-identifier.js')} */
  const { ShardIdentifier } = await built('runtime/domain/shard-identifier.js');
  /** @type {any} */
  const events = [{ name: 'Sample', model: 'Wallet', eventClass: () => Sample, fields: [] }];
  const origin = { shard: ShardIdentifier.of(0, 0), namespace: 'bench', events: new EventCatalog(events) };
  const [deposit, other] = [await sampleDeposits(), await sampleDeposits()];
  /** @param {readonly (readonly any[])[]} groups */
  const text = (groups) => flushStatement({ groups, locked: 'skip' }, origin).text;
  return {
    single: text([[deposit(1)], [other(1)]]),
    folded: text([[deposit(1), deposit(2)], [other(1)]]),
  };
}

class Sample {
  getModelId() {
    return '';
  }

  getModelName() {
    return 'Wallet';
  }
}

/** Plans of deposits on one wallet, by the version that they start from. */
async function sampleDeposits() {
  /** @type {typeof import('../../dist/runtime/domain/entity.js')} */
  const { instantiate } = await built('runtime/domain/entity.js');
  /** @type {typeof import('../../dist/runtime/domain/column-set.js')} */
  const { columnsOfFields } = await built('runtime/domain/column-set.js');
  const { Id, ShardedId } = await built('runtime/index.js');
  const { walletModel: descriptor } = await built('examples/wallet/generated/wallet.js');
  const id = ShardedId.trusted('Wallet', ownId());
  const now = new Date();
  const changed = columnsOfFields(descriptor, ['balance', 'updatedDate']);
  const owner = { ownerId: Id.of(class User {}, ownId()), currency: 'EUR' };
  const values = {
    id,
    state: 'ACTIVE',
    balance: new Decimal(1),
    createdDate: now,
    updatedDate: now,
    ...owner,
  };
  const dates = { startedDate: now, completedDate: now };
  const action = { id: ownId(), name: 'Sample', principal: 'bench', ...dates, params: undefined };
  /** @param {number} version */
  return (version) => {
    const model = instantiate(descriptor, { ...values, version: version + 1 });
    const update = { kind: 'update', descriptor, model, expectedVersion: version, changed };
    return {
      action,
      items: [{ ...update, events: [new Sample()] }],
      traceContext: undefined,
      key: undefined,
    };
  };
}

const READ =
  'SELECT id, state, version, owner_id, currency, balance, created_date FROM wallets WHERE id = ANY ($1::uuid[])';

class Bare {
  #connections;
  #texts;
  #reads = new Batcher(LIMITS.reads, (batch) => this.#read(batch));
  #writes = new Batcher(LIMITS.writes, (batch) => this.#write(batch), {
    ready: (item) => !this.#busy.has(item.wallet.id),
  });
  #staged = new Map();
  #busy = new Set();

  constructor(connections, texts) {
    this.#connections = connections;
    this.#texts = texts;
  }

  async deposit(id, amount) {
    const wallet = this.#staged.get(id) ?? this.#stage(await this.#reads.add(id));
    wallet.pending += 1;
    wallet.version += 1;
    wallet.balance = wallet.balance.plus(amount);
    const item = { wallet, amount, version: wallet.version, balance: wallet.balance.toFixed() };
    const applied = await this.#writes.add(item);
    wallet.pending -= 1;
    if ((wallet.pending === 0 || !applied) && this.#staged.get(id) === wallet) this.#staged.delete(id);
    if (!applied) throw new Stale();
  }

  /** Another deposit may have staged the wallet during the read; that state is newer. */
  #stage(row) {
    const known = this.#staged.get(row.id);
    if (known !== undefined) return known;
    const wallet = { ...row, pending: 0 };
    this.#staged.set(row.id, wallet);
    return wallet;
  }

  async #read(ids) {
    const distinct = [...new Set(ids)];
    const rows = await this.#connections.read('reads', READ, [uuids(distinct)]);
    const byId = new Map();
    for (const [id, state, version, owner, currency, balance, created] of rows) {
      const values = { version: Number(version), balance: new Decimal(balance), created: new Date(created) };
      byId.set(id, { id, state, owner, currency, ...values });
    }
    return ids.map((id) => byId.get(id));
  }

  async #write(items) {
    const groups = groupByWallet(items);
    for (const [wallet] of groups) this.#busy.add(wallet.id);
    try {
      const rows = await this.#run(items.length, [...groups]);
      const applied = new Set(rows[0][0].split(','));
      const numbers = new Map([...groups.keys()].map((wallet, index) => [wallet, String(index + 1)]));
      return items.map(({ wallet }) => applied.has(numbers.get(wallet)));
    } finally {
      for (const [wallet] of groups) this.#busy.delete(wallet.id);
    }
  }

  #run(count, groups) {
    const folded = count > groups.length;
    const { single, folded: foldedText } = this.#texts;
    const values = flushValues(groups, folded);
    return folded
      ? this.#connections.write('folded', foldedText, values)
      : this.#connections.write('single', single, values);
  }
}

function groupByWallet(items) {
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(item.wallet);
    if (group === undefined) groups.set(item.wallet, [item]);
    else group.push(item);
  }
  return groups;
}

/** A version 7 UUID with the shard bits of (0, 0). */
function ownId() {
  const id = uuid7();
  return `${id.slice(0, 19)}8000${id.slice(23)}`;
}

const array = (elements) => `{${elements.join(',')}}`;
const json = (elements) => `[${elements.join(',')}]`;

/**
 * Values in the order of the statement's parameters: see `flushStatement`.
 *
 * @param folded whether the statement folds
 */
function flushValues(groups, folded) {
  const now = new Date();
  const items = groups.flatMap(([, group]) => group);
  const actionIds = items.map(() => ownId());
  const same = (text) => array(items.map(() => text));
  const values = [
    'bench',
    array(items.map((_, index) => index + 1)),
    uuids(actionIds),
    same('"WalletDepositMoneyAction"'),
    same('"bench"'),
    instants(items.map(() => now)),
    instants(items.map(() => now)),
    json(items.map(({ wallet, amount }) => `{"walletId":"${wallet.id}","amount":"${amount}"}`)),
  ];
  if (folded) values.push(array(groups.flatMap(([, group], index) => group.map(() => index + 1))));
  values.push(...updates(groups, now), ...events(items));
  return values;
}

/** Group, version, balance, updated_date, id, expected version, and the revision, which a row that was read lacks. */
function updates(groups, now) {
  const last = groups.map(([, group]) => group.at(-1));
  const column = (element) => array(last.map(element));
  return [
    array(groups.map((_, index) => index + 1)),
    column(({ version }) => version),
    column(({ balance }) => balance),
    instants(last.map(() => now)),
    uuids(last.map(({ wallet }) => wallet.id)),
    array(groups.map(([, group]) => group[0].version - 1)),
    array(groups.map(() => 'NULL')),
  ];
}

/** Number of the action, id, model id, model name, type, version, format version, payload. */
function events(items) {
  const column = (element) => array(items.map(element));
  return [
    array(items.map((_, index) => index + 1)),
    uuids(items.map(() => ownId())),
    column(({ wallet }) => wallet.id),
    column(() => 'Wallet'),
    column(() => 'WalletMoneyDepositedEvent'),
    column(({ version }) => version),
    column(() => 1),
    json(items.map(({ amount, balance }) => `{"amount":"${amount}","newBalance":"${balance}"}`)),
  ];
}
