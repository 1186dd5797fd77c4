import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WALLET = join(ROOT, 'examples/wallet/generated/client/client.ts');
const CLIENTS = [
  WALLET,
  ...['client/expected/web', 'types/expected/web/api', 'odd-names/expected/generated/client'].map((folder) =>
    join(ROOT, 'generator/golden', folder, 'client.ts'),
  ),
];
const STRICTEST = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noUnusedLocals: true,
  declaration: true,
  verbatimModuleSyntax: true,
  isolatedDeclarations: true,
  erasableSyntaxOnly: true,
  types: [],
  module: 'ESNext',
  moduleResolution: 'bundler',
};
const folder = temporaryFolder();

/** A bundled program that exports these names of a client, as a page would load it. */
async function bundle(client: string, names: string): Promise<string> {
  const entry = join(folder, 'entry.ts');
  writeFileSync(entry, `export ${names} from ${JSON.stringify(client)};\n`);
  const build = await rolldown({ input: entry, platform: 'browser' });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  return output[0].code;
}

describe('The emitted client', () => {
  test('is under 4 kB and 100 bytes per route, compressed', async () => {
    for (const client of CLIENTS) {
      const routes = readFileSync(client, 'utf8').match(/ call\(client/g)?.length ?? 0;
      const bytes = gzipSync(await bundle(client, '*')).length;
      expect([client, bytes]).toEqual([client, expect.any(Number)]);
      expect(bytes).toBeLessThan(4_000 + 100 * routes);
    }
  });

  test('leaves unused parts out of a bundle', async () => {
    const code = await bundle(WALLET, '{ walletGet }');
    expect(code).toContain('/wallets/{walletId}');
    for (const unused of ['/transfers', 'event-stream', 'BigInt', 'fromEntries'])
      expect(code).not.toContain(unused);
  });

  test('imports nothing but the client entrance, which imports nothing', () => {
    for (const client of CLIENTS) {
      const specifiers = readFileSync(client, 'utf8').matchAll(/ from '([^']+)'/g);
      expect(new Set([...specifiers].map(([, from]) => from))).toEqual(new Set(['fw-actions/client']));
    }
  });

  test('is at most half as long as with its runtime', () => {
    const lines = readFileSync(WALLET, 'utf8').split('\n').length;
    expect(lines).toBeLessThanOrEqual(444);
  });

  const matrix = ['typescript', 'typescript-5.9', 'typescript-6'].flatMap((compiler) =>
    [['ES2022', 'DOM'], ['ES2022']].map((lib) => [compiler, lib] as const),
  );
  /** Without `npm run proof:types` the newest and the oldest compiler, each with one library. */
  const chosen = process.env['FW_PROOF_TYPES'] === undefined ? [0, 3] : [...matrix.keys()];

  test.each(matrix.filter((_, row) => chosen.includes(row)))(
    'compiles under the strictest flags of %s with lib %s',
    (compiler, lib) => {
      const isPage = lib.includes('DOM');
      writeFileSync(join(folder, 'program.ts'), `${PROGRAM}${isPage ? ON_A_PAGE : ''}`);
      const compilerOptions = { ...STRICTEST, target: 'ES2022', lib };
      const config = { compilerOptions, files: ['program.ts', ...CLIENTS] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
      const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
      expect(stdout).toBe('');
    },
  );
});

/** Calls of a user, and mistakes that the compiler must refuse. */
const PROGRAM = `
import { type Client, type Id, failedWith, walletDepositMoney, walletGet, walletHistoryStream } from ${JSON.stringify(WALLET.replace(/\.ts$/, '.js'))};

export async function deposit(client: Client, walletId: string, transferId: Id<'Transfer'>): Promise<Date> {
  // @ts-expect-error an id of another model
  await walletGet(client, { walletId: transferId });
  // @ts-expect-error a float may have lost digits
  await walletDepositMoney(client, { walletId, amount: 1.5 });
  // @ts-expect-error a read has no idempotency key
  await walletGet(client, { walletId }, { idempotencyKey: 'a' });
  const known = await walletGet(client, { walletId });
  const { createdDate, id } = await walletGet(client, { walletId: known.id }, { known });
  try {
    await walletDepositMoney(client, { walletId: id, amount: '1.5' }, { ifMatch: known.version });
  } catch (error) {
    if (failedWith(error, 'FW_SHARD_BUSY')) throw new Error(error.problem?.shard);
    if (failedWith(error, 'QUOTA_EXCEEDED')) throw new Error(error.problem?.detail);
  }
  for await (const event of walletHistoryStream(client, { walletId })) {
    if (event.eventType === 'WalletMoneyDepositedEvent') throw new Error(event.payload.newBalance);
  }
  return createdDate;
}
`;

const ON_A_PAGE = `
export const page: Client = { baseUrl: '', fetch };
export const ended: Promise<Date> = walletGet(page, { walletId: 'a' }, { signal: AbortSignal.timeout(1) }).then(({ createdDate }) => createdDate);
`;
