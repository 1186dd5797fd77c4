import { ShardedId } from 'fw-actions';
import { exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { Wallet } from '../models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../shards.js';
import { ANAS, type Answer, BOBS, type SecuredWallet } from './secured-wallet.js';

/** A request of a hostile caller. */
export interface Attempt {
  /** Its name in the table of docs/access.md. */
  readonly name: string;
  /** Expected detail of the answer. */
  readonly detail?: RegExp;
  readonly make: (wallet: SecuredWallet) => Promise<Answer>;
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const OPERATOR = { role: 'operator' };
/** Claims of any valid token. */
const VALID = { iss: 'https://issuer.test/', aud: 'wallet', exp: 4_000_000_000 };

/** Reads Ana's wallet with a token that is not valid for it. */
const reading = (
  name: string,
  detail: RegExp,
  token: (wallet: SecuredWallet) => Promise<string | undefined>,
): Attempt => ({ name, detail, make: async (wallet) => wallet.get(await token(wallet)) });

/** Bob's request for a resource of Ana. */
const bobs = (name: string, make: (wallet: SecuredWallet, bob: string) => Promise<Answer>): Attempt => ({
  name,
  make: async (wallet) => make(wallet, await wallet.bob()),
});

/** Bob's reading of a path. */
const bobReads = (name: string, path: (wallet: SecuredWallet) => string, method = 'GET'): Attempt =>
  bobs(name, (wallet, token) => wallet.call(method, path(wallet), { token }));

/** Ana's request for a wallet in a group that she may not reach. */
const abroad = (
  name: string,
  make: (wallet: SecuredWallet, token: string, id: string) => Promise<Answer>,
): Attempt => {
  const id = ShardedId.generate(Wallet, GLOBAL_SHARD).getValue();
  return { name, make: async (wallet) => make(wallet, await wallet.ana(), id) };
};

const FORGED_TOKENS: readonly Attempt[] = [
  reading('no credentials', /API key is required|token is required/, async () => undefined),
  reading('an expired token', /"exp"/, (wallet) => wallet.ana({ expires: -60 })),
  reading('a token that is not valid yet', /"nbf"/, (wallet) =>
    wallet.ana({ claims: { nbf: Math.floor(Date.now() / 1_000) + 60 } }),
  ),
  reading('a token without expiry', /"exp"/, (wallet) => wallet.ana({ claims: { exp: undefined } })),
  reading('a token for another audience', /"aud"/, (wallet) => wallet.ana({ claims: { aud: 'bank' } })),
  reading('the audience in a nested list', /"aud"/, (wallet) =>
    wallet.ana({ claims: { aud: [['wallet']] } }),
  ),
  reading('a token of another issuer', /"iss"/, (wallet) =>
    wallet.ana({ claims: { iss: 'https://evil.test/' } }),
  ),
  reading('`alg: none`', /"alg"/, async () => {
    return `${base64({ alg: 'none', kid: 'one' })}.${base64({ ...VALID, sub: 'ana', owner: ANAS })}.`;
  }),
  reading('the public key as the secret of `HS256`', /"alg"/, async (wallet) =>
    wallet.ana({
      key: new TextEncoder().encode(await exportSPKI(wallet.publicKey)),
      header: { alg: 'HS256' },
    }),
  ),
  reading('a key of the attacker under the name of a known one', /signature/, async (wallet) =>
    wallet.ana({ key: (await generateKeyPair('RS256')).privateKey }),
  ),
  reading('a key of the attacker in the header of the token', /signature/, async (wallet) => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    return wallet.ana({ key: privateKey, header: { jwk: await exportJWK(publicKey) } });
  }),
  reading('a `crit` header that the server does not know', /not recognized/, (wallet) =>
    wallet.ana({ header: { crit: ['shop'], shop: 'x' } }),
  ),
  reading('claims that were changed after the signature', /signature/, async (wallet) => {
    const [head, , signature] = (await wallet.bob()).split('.');
    return `${head}.${base64({ ...VALID, ...OPERATOR, sub: 'bob' })}.${signature}`;
  }),
  reading('a subject that is not a string', /"sub"/, (wallet) => wallet.ana({ claims: { sub: ['ana'] } })),
  reading('a subject with the prefix of the runtime', /fw:/, (wallet) =>
    wallet.token('fw:handler:Mailer', OPERATOR),
  ),
  reading('a subject with NUL or half of a surrogate pair', /surrogate/, (wallet) => wallet.token('ana\0')),
  reading('claims of more than 4,096 bytes', /4096/, (wallet) =>
    wallet.token('ana', { owner: 'x'.repeat(5_000) }),
  ),
  {
    name: 'a token of 20 kB',
    make: async (wallet) => wallet.get(await wallet.token('ana', { pad: 'x'.repeat(20_000) })),
  },
  {
    name: 'a token in the URL',
    make: async (wallet) =>
      wallet.call('GET', `/wallets/${wallet.anasWallet}?access_token=${await wallet.ana()}`),
  },
];

const FORGED_KEYS: readonly Attempt[] = [
  reading(
    'an API key that was never created',
    /not known/,
    async () => `fwk_0123456789abcdef_${'A'.repeat(43)}`,
  ),
  reading('half of an API key', /malformed/, async () => 'fwk_0123456789abcdef'),
  reading('the prefix of an API key with another secret', /not known/, async (wallet) => {
    const key = await wallet.anasKey();
    return `${key.slice(0, 30)}${key[30] === 'A' ? 'B' : 'A'}${key.slice(31)}`;
  }),
  reading('an expired API key', /expired/, (wallet) => wallet.anasKey(new Date(Date.now() - 1))),
  reading('a revoked API key', /revoked/, async (wallet) => {
    const key = await wallet.anasKey();
    await wallet.keys.revoke(key.slice(4, 20));
    return key;
  }),
  {
    name: 'two `Authorization` headers',
    make: async (wallet) => {
      const authorization = [`Bearer ${await wallet.ana()}`, 'Bearer x'];
      return wallet.get(undefined, { authorization });
    },
  },
  {
    name: 'headers that claim an identity (`X-Forwarded-User`)',
    make: (wallet) =>
      wallet.get(undefined, {
        'x-forwarded-user': 'olivia',
        'x-role': 'operator',
        'x-original-url': '/health/live',
      }),
  },
];

const OTHER_OWNERS: readonly Attempt[] = [
  bobs("another owner's model", (wallet, bob) => wallet.get(bob)),
  bobReads(
    'a model that does not exist',
    () => `/wallets/${ShardedId.generate(Wallet, MEXICO_SHARD).getValue()}`,
  ),
  bobReads("`HEAD` on another owner's model", ({ anasWallet }) => `/wallets/${anasWallet}`, 'HEAD'),
  bobs("versions of another owner's model in `If-None-Match`", (wallet, bob) =>
    wallet.get(bob, { 'if-none-match': '"1", "2", "3"' }),
  ),
  bobs("versions of another owner's model in `If-Match`", (wallet, token) =>
    wallet.call('POST', `/wallets/${wallet.anasWallet}/withdraw`, {
      ...{ token, body: { amount: '1' } },
      headers: { 'if-match': '"99"' },
    }),
  ),
  bobs("what another owner's model would refuse", (wallet, token) =>
    wallet.call('POST', `/wallets/${wallet.anasWallet}/withdraw`, { token, body: { amount: '1000000' } }),
  ),
  bobReads("events of another owner's model", ({ anasWallet }) => `/wallets/${anasWallet}/events`),
  bobs('the same as a stream, from any position', (wallet, token) =>
    wallet.call('GET', `/wallets/${wallet.anasWallet}/events`, {
      token,
      headers: { accept: 'text/event-stream', 'last-event-id': '0' },
    }),
  ),
  bobs("another owner's money, by a transfer", (wallet, token) =>
    wallet.call('POST', '/transfers', {
      token,
      body: { sourceId: wallet.anasWallet, destinationId: wallet.bobsWallet, amount: '1' },
    }),
  ),
  bobReads("another owner's transfer", ({ anasTransfer }) => `/transfers/${anasTransfer}`),
  bobs('a model in the name of another owner', (wallet, token) =>
    wallet.call('POST', '/wallets', { token, body: { country: 'MX', ownerId: ANAS, currency: 'MXN' } }),
  ),
  bobs("another caller's idempotency key", async (wallet, bob) => {
    await wallet.withdraw(await wallet.ana(), 'rent');
    return wallet.withdraw(bob, 'rent');
  }),
  {
    name: 'an own idempotency key, after the claim was taken away',
    make: async (wallet) => {
      await wallet.withdraw(await wallet.ana(), 'before');
      return wallet.withdraw(await wallet.token('ana', { owner: BOBS }), 'before');
    },
  },
  {
    name: 'the name of another caller in other Unicode letters',
    make: async (wallet) => wallet.get(await wallet.token('\u0430na')),
  },
  {
    name: 'a claim of another type',
    make: async (wallet) => {
      const owners = [5, true, {}, [], [[ANAS]], { ownerId: ANAS }, 'no uuid', `${ANAS}\n`, '%'];
      const answers = await Promise.all(
        owners.map(async (owner) => wallet.get(await wallet.token('typed', { owner }))),
      );
      return (
        answers.find(({ status }) => status !== 403) ??
        wallet.get(await wallet.token('typed', { role: ['operator'] }))
      );
    },
  },
];

const OTHER_TENANTS: readonly Attempt[] = [
  abroad("another tenant's id, whether it exists or not", (wallet, token, id) =>
    wallet.call('GET', `/wallets/${id}`, { token }),
  ),
  abroad('the same in capital letters', (wallet, token, id) =>
    wallet.call('GET', `/wallets/${id.toUpperCase()}`, { token }),
  ),
  abroad('the same in a body', (wallet, token, destinationId) =>
    wallet.call('POST', '/transfers', {
      token,
      body: { sourceId: wallet.anasWallet, destinationId, amount: '1' },
    }),
  ),
  abroad('a new model there', (wallet, token) =>
    wallet.call('POST', '/wallets', { token, body: { country: 'DE', ownerId: ANAS, currency: 'EUR' } }),
  ),
  {
    name: 'the name of a tenant in capital letters, or none',
    make: async (wallet) => {
      const none = await wallet.get(await wallet.ana({ claims: { region: [] } }));
      return none.status === 403 ? wallet.get(await wallet.ana({ claims: { region: 'MEXICO' } })) : none;
    },
  },
];

const LISTS: readonly Attempt[] = [
  bobReads("a list of another owner's models", () => `/wallets?ownerId=${ANAS}`),
  bobs("another caller's cursor", async (wallet, token) => {
    const path = `/wallets?ownerId=${ANAS}&limit=1`;
    const { body } = await wallet.call('GET', path, { token: await wallet.ana() });
    return wallet.call('GET', `${path}&cursor=${String(body['next'])}`, { token });
  }),
  {
    name: 'a list, with a claim of another type',
    make: async (wallet) => {
      const list = async (owner: unknown): Promise<Answer> =>
        wallet.call('GET', `/wallets?ownerId=${ANAS}`, { token: await wallet.token('typed', { owner }) });
      const isEmpty = ({ body }: Answer): boolean => JSON.stringify(body['items']) === '[]';
      const answers = await Promise.all([5, {}, [], [[ANAS]], 'no uuid', '%'].map(list));
      return answers.find((each) => !isEmpty(each)) ?? list(undefined);
    },
  },
];

const EDGE: readonly Attempt[] = [
  {
    name: 'a host that the server does not serve',
    make: async (wallet) => wallet.get(await wallet.ana(), { host: 'evil.test' }),
  },
  {
    name: 'another method in `X-HTTP-Method-Override`',
    make: async (wallet) =>
      wallet.get(await wallet.bob(), { 'x-http-method-override': 'OPTIONS', 'x-http-method': 'OPTIONS' }),
  },
  bobReads('`TRACE`', ({ anasWallet }) => `/wallets/${anasWallet}`, 'TRACE'),
  bobReads(
    'dots and empty segments in the path',
    ({ anasWallet }) => `/health/..//wallets/%2e%2e/wallets/${anasWallet}`,
  ),
];

/** Attempts that return empty lists; all others are refused. */
export const EMPTY_LISTS: ReadonlySet<string> = new Set(LISTS.map(({ name }) => name));

export const ATTEMPTS: readonly Attempt[] = [
  ...FORGED_TOKENS,
  ...FORGED_KEYS,
  ...OTHER_OWNERS,
  ...OTHER_TENANTS,
  ...LISTS,
  ...EDGE,
];
