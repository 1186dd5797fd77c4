import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTotals } from './database.js';
import { cpuSeconds } from './proc.js';
import { ID_PREFIX, WALLETS } from './wallets.js';

const POLL_MS = 50;
/** pgbench has one connection per client; more clients only compete with each other. */
const MAXIMUM_CLIENTS = 32;

export function hasPgbench() {
  return spawnSync('pgbench', ['--version']).status === 0;
}

/**
 * pgbench with the peers' SQL, with the interface of a `Worker`. It starts again for each slice, including connections.
 */
export class Pgbench {
  #connection;
  #folder = mkdtempSync(join(tmpdir(), 'fw-bench-'));

  constructor(connection, { form, withAction, hasUuid7 }) {
    this.#connection = connection;
    writeFileSync(
      this.#script,
      scripts[form]({ withAction, uuid: hasUuid7 ? 'uuidv7()' : 'gen_random_uuid()' }),
    );
  }

  get #script() {
    return join(this.#folder, 'script.sql');
  }

  async run({ concurrency, measureMs }, server) {
    const before = await readTotals(this.#connection, 'peer');
    const begin = server.cpuSeconds();
    const { text, clientSeconds } = await this.#spawn(concurrency, measureMs);
    const end = server.cpuSeconds();
    const after = await readTotals(this.#connection, 'peer');
    const deposits = after.events - before.events;
    const transactions = Number(/actually processed: (\d+)/.exec(text)?.[1]);
    const perSecond = (Number(/tps = ([\d.]+)/.exec(text)?.[1]) * deposits) / transactions;
    return {
      deposits,
      perSecond,
      clientUs: (clientSeconds * 1e6) / deposits,
      cpu: { begin, end },
      stalePerDeposit: (transactions - deposits) / deposits,
      p50Ms: Number(/latency average = ([\d.]+)/.exec(text)?.[1]),
      p99Ms: undefined,
      total: { deposits, cents: after.cents - before.cents, stale: transactions - deposits, errors: {} },
    };
  }

  async close() {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(concurrency, measureMs) {
    const { host, port, user, password, database } = this.#connection;
    const clients = Math.min(MAXIMUM_CLIENTS, concurrency);
    const threads = Math.min(2, clients);
    const seconds = Math.max(1, Math.round(measureMs / 1000));
    const load = ['-n', '-M', 'prepared', '-c', clients, '-j', threads, '-T', seconds, '-f', this.#script];
    const child = spawn('pgbench', [...load, '-h', host, '-p', port, '-U', user, database].map(String), {
      env: { ...process.env, PGPASSWORD: password },
    });
    return finished(child);
  }
}

function finished(child) {
  let text = '';
  let clientSeconds = 0;
  // Its CPU time can be read only while it runs.
  const poll = setInterval(() => {
    clientSeconds = Math.max(clientSeconds, cpuSeconds(child.pid));
  }, POLL_MS);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(poll);
      if (code === 0) resolve({ text, clientSeconds });
      else reject(new Error(`pgbench: ${text}`));
    });
  });
}

const choose = `\\set n random(0, ${WALLETS - 1})\n\\set cents random(1, 9999)`;
const id = `('${ID_PREFIX}' || lpad(to_hex(:n::int), 12, '0'))::uuid`;
const select = `select version, balance + :cents::numeric / 100 as balance from wallets where id = ${id} \\gset`;

const eventColumns =
  '(id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)';
const event = (uuid) =>
  `${uuid}, ${uuid}, 'bench', ${id}::text, 'Wallet', 'WalletMoneyDepositedEvent', ` +
  `jsonb_build_object('amount', :cents::int, 'newBalance', :balance::numeric), now(), :version::bigint + 1`;

const actionColumns = '(id, status, namespace, name, principal, started_date, completed_date, params)';
const action = (uuid) =>
  `${uuid}, 'committed', 'bench', 'WalletDepositMoneyAction', 'bench', now(), now(), ` +
  `jsonb_build_object('walletId', ${id}::text, 'amount', :cents::int)`;

const update =
  `update wallets set balance = :balance::numeric, version = version + 1, updated_date = now() ` +
  `where id = ${id} and version = :version::bigint returning 1 as updated`;

/** Without a row `\\aset` sets no variables: the version was stale, and nothing is written. */
const scripts = {
  transaction: ({ withAction, uuid }) => `${choose}
${select}
\\set updated 0
begin;
${update} \\aset
\\if :updated
insert into events ${eventColumns} values (${event(uuid)});
${withAction ? `insert into actions ${actionColumns} values (${action(uuid)});` : ''}
\\endif
commit;
`,
  cte: ({ withAction, uuid }) => `${choose}
${select}
with u as (${update})${withAction ? `, a as (insert into actions ${actionColumns} select ${action(uuid)} from u)` : ''}
insert into events ${eventColumns} select ${event(uuid)} from u;
`,
};
