import { Decimal } from 'decimal.js';
import { v7 as uuid7 } from 'uuid';
import { Stale } from '../lib/load.js';
import { Batcher, Connections } from './batcher.js';
import { instants, uuids } from './packed.js';

const LIMITS = {
  reads: { maximumInFlight: 2, maximumBatch: 256 },
  writes: { maximumInFlight: 2, maximumBatch: 128, aheadFrom: 16, overlapFrom: 12 },
};

/**
 * The minimum of merged deposits: two rows each, only the changed columns of a wallet, on tables without partitions and
 * without a check of ids. No action row, no keys, no chains. The framework's statement pays for the parts that are left
 * out here.
 */
export async function open({ connection }) {
  const connections = await Connections.open(connection, LIMITS);
  const lean = new Lean(connections);
  return { deposit: (id, amount) => lean.deposit(id, amount), close: () => connections.close() };
}

const READ = 'SELECT id, version, balance FROM wallets WHERE id = ANY ($1::uuid[])';

const WRITE = `
WITH m AS MATERIALIZED (
  SELECT * FROM unnest($1::int[], $2::uuid[], $3::bigint[], $4::numeric[], $5::timestamptz[])
    AS m(nr, id, expected, balance, at)),
l AS MATERIALIZED (
  SELECT m.nr FROM m JOIN wallets AS w ON w.id = m.id WHERE w.version = m.expected
  ORDER BY w.id FOR NO KEY UPDATE OF w SKIP LOCKED),
u AS (
  UPDATE wallets AS w SET balance = m.balance, version = m.expected + 1, updated_date = m.at FROM m
  WHERE w.id = m.id AND w.version = m.expected AND (m.nr IN (SELECT nr FROM l)) = true),
e AS (
  INSERT INTO events (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
  SELECT e.id, e.id, 'bench', e.model, 'Wallet', 'WalletMoneyDepositedEvent', e.payload, e.at, e.version
  FROM ROWS FROM (unnest($1::int[], $6::uuid[], $7::text[], $5::timestamptz[], $8::bigint[]), jsonb_array_elements($9::jsonb))
    AS e(nr, id, model, at, version, payload)
  WHERE (e.nr IN (SELECT nr FROM l)) = true)
SELECT coalesce(string_agg(nr::text, ','), '') FROM l`;

class Lean {
  #connections;
  #reads = new Batcher(LIMITS.reads, (ids) => this.#read(ids));
  #writes = new Batcher(LIMITS.writes, (items) => this.#write(items));

  constructor(connections) {
    this.#connections = connections;
  }

  async deposit(id, amount) {
    const [, version, balance] = await this.#reads.add(id);
    const item = {
      id,
      amount,
      version: Number(version),
      balance: new Decimal(balance).plus(amount).toFixed(),
    };
    if (!(await this.#writes.add(item))) throw new Stale();
  }

  async #read(ids) {
    const values = [uuids([...new Set(ids)])];
    const rows = await this.#connections.read('reads', READ, values);
    const byId = new Map(rows.map((row) => [row[0], row]));
    return ids.map((id) => byId.get(id));
  }

  /** Of two deposits that start from one version of a wallet, the second is stale. */
  async #write(items) {
    const first = [...new Map(items.toReversed().map((item) => [item.id, item])).values()];
    const rows = await this.#connections.write('deposits', WRITE, columns(first));
    const numbers = rows[0][0] === '' ? [] : rows[0][0].split(',');
    const applied = new Set(numbers.map((number) => first[Number(number)]));
    return items.map((item) => applied.has(item));
  }
}

const array = (elements) => `{${elements.join(',')}}`;

/** Values in the order of the statement's parameters. */
function columns(items) {
  const now = new Date();
  const column = (element) => array(items.map(element));
  return [
    column((_, index) => index),
    uuids(items.map(({ id }) => id)),
    column(({ version }) => version),
    column(({ balance }) => balance),
    instants(items.map(() => now)),
    uuids(items.map(() => uuid7())),
    column(({ id }) => id),
    column(({ version }) => version + 1),
    `[${items.map(({ amount, balance }) => `{"amount":"${amount}","newBalance":"${balance}"}`).join(',')}]`,
  ];
}
