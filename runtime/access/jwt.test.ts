import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { useTime } from '../concurrency/time.js';
import type { KnownPrincipal } from '../domain/principal.js';
import { IssuerUnavailableError } from '../errors.js';
import type { RequestHead } from './authenticator.js';
import { type JwtOptions, jwt } from './jwt.js';

interface Signer {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

const START = Date.UTC(2030, 0, 1);
const SECOND = 1_000;
let signers: readonly [Signer, Signer];
let nowMs = 0;
let restore = (): void => {};

beforeAll(async () => {
  const signer = async (kid: string): Promise<Signer> => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } };
  };
  signers = [await signer('one'), await signer('two')];
});

beforeEach(() => {
  nowMs = START;
  restore = useTime({ nowMs: () => nowMs - START, dateMs: () => nowMs });
});

afterEach(() => {
  restore();
  vi.restoreAllMocks();
});

function token(signer: Signer, payload: object = {}, header: object = {}): Promise<string> {
  const all = {
    iss: 'https://issuer.test/',
    aud: 'notes',
    sub: 'ana',
    exp: START / SECOND + 300,
    ...payload,
  };
  return new SignJWT(all)
    .setProtectedHeader({ alg: 'ES256', ...(signer.jwk.kid && { kid: signer.jwk.kid }), ...header })
    .sign(signer.privateKey);
}

/** An authenticator for the issuer's keys, which the test can change. */
function callers(options: Partial<JwtOptions> = {}) {
  const issuer = { published: [signers[0].jwk], isAway: false };
  const authenticate = jwt({
    ...{ issuer: 'https://issuer.test/', audience: 'notes', claims: ['role'] },
    ...{ refreshMs: 60 * SECOND, keepMs: 120 * SECOND, cooldownMs: 0 },
    loadKeys: async () => {
      if (issuer.isAway) throw new Error('away');
      return { keys: structuredClone(issuer.published) };
    },
    ...options,
  });
  const caller = async (sent: string): Promise<KnownPrincipal> =>
    (await authenticate({ headers: { authorization: `Bearer ${sent}` } } as RequestHead)) as KnownPrincipal;
  return Object.assign(issuer, { caller });
}

/** Counts the verified signatures. */
function verifications(): () => number {
  const verify = vi.spyOn(crypto.subtle, 'verify');
  return () => verify.mock.calls.length;
}

describe('a token that was verified', () => {
  test('is not verified again, and keeps its claims', async () => {
    const { caller } = callers();
    const [first, verified] = [await token(signers[0], { role: 'reader' }), verifications()];
    await caller(first);
    await caller(first);
    const before = verified();
    for (let index = 0; index < 20; index += 1)
      expect(await caller(first)).toMatchObject({ name: 'ana', claims: { role: 'reader' } });
    expect(verified()).toBe(before);
    await caller(await token(signers[0], { sub: 'bob' }));
    expect(verified()).toBe(before + 1);
  });

  test('is refused once it has expired', async () => {
    const { caller } = callers({
      clockToleranceMs: 2_000,
      refreshMs: 1_000 * SECOND,
      keepMs: 1_000 * SECOND,
    });
    const sent = await token(signers[0]);
    for (let index = 0; index < 3; index += 1) await caller(sent);
    nowMs += 301 * SECOND;
    await caller(sent);
    nowMs += SECOND;
    await expect(caller(sent)).rejects.toThrow('"exp"');
  });

  test('may be valid five seconds later, and may have expired five seconds ago', async () => {
    const { caller } = callers();
    const now = START / SECOND;
    const [early, late] = [{ nbf: now + 5, exp: now + 300 }, { exp: now - 4 }];
    for (const times of [early, late])
      expect(await caller(await token(signers[0], times))).toMatchObject({ name: 'ana' });
    await expect(caller(await token(signers[0], { nbf: now + 6 }))).rejects.toThrow('"nbf"');
    await expect(caller(await token(signers[0], { exp: now - 5 }))).rejects.toThrow('"exp"');
  });

  test('is refused once the issuer has removed its key', async () => {
    const issuer = callers();
    const sent = await token(signers[0]);
    for (let index = 0; index < 3; index += 1) await issuer.caller(sent);
    issuer.published = [signers[1].jwk];
    nowMs += 60 * SECOND;
    // The new keys are loaded while the last ones are still used.
    await issuer.caller(sent);
    await expect
      .poll(
        () =>
          issuer.caller(sent).then(
            () => 'accepted',
            (error: Error) => error.message,
          ),
        { timeout: 30_000 },
      )
      .toContain('no applicable key');
  });

  test('is refused once the last keys are too old, while the issuer is unavailable', async () => {
    const issuer = callers();
    const sent = await token(signers[0]);
    for (let index = 0; index < 3; index += 1) await issuer.caller(sent);
    issuer.isAway = true;
    nowMs += 119 * SECOND;
    await issuer.caller(sent);
    nowMs += SECOND;
    await expect(issuer.caller(sent)).rejects.toThrow(IssuerUnavailableError);
  });

  test('is dropped from a full cache, and is not cached if the limit is 0', async () => {
    for (const [rememberedTokens, expected] of [
      [1, 2],
      [0, 3],
    ] as const) {
      const { caller } = callers({ rememberedTokens });
      const [one, other] = [await token(signers[0]), await token(signers[0], { sub: 'bob' })];
      await caller(one);
      const verified = verifications();
      for (const sent of [one, other, other]) await caller(sent);
      expect(verified()).toBe(expected);
      vi.restoreAllMocks();
    }
  });

  test('is passed to the application for each request', async () => {
    const revoked = new Set<unknown>();
    const { caller } = callers({
      principal: ({ sub = '', jti }) => {
        if (revoked.has(jti)) return { name: '' };
        return { name: `user ${sub}` };
      },
    });
    const sent = await token(signers[0], { jti: 'a' });
    for (let index = 0; index < 3; index += 1) expect((await caller(sent)).name).toBe('user ana');
    revoked.add('a');
    await expect(caller(sent)).rejects.toThrow('must have a name');
  });
});

describe('keys', () => {
  test('with the same name are all tried, and all keys are tried for a token without a name', async () => {
    const issuer = callers();
    issuer.published = signers.map(({ jwk }) => ({ ...jwk, kid: 'same' }));
    for (const { privateKey, jwk } of signers) {
      expect((await issuer.caller(await token({ privateKey, jwk: { ...jwk, kid: 'same' } }))).name).toBe(
        'ana',
      );
      const { kid: _, ...unnamed } = jwk;
      expect((await issuer.caller(await token({ privateKey, jwk: unnamed }))).name).toBe('ana');
    }
    const stranger = await generateKeyPair('ES256');
    const forged = await token({ privateKey: stranger.privateKey, jwk: { kid: 'same' } });
    await expect(issuer.caller(forged)).rejects.toThrow('signature verification failed');
  });

  test('that cannot be used only refuse tokens that name them', async () => {
    const issuer = callers();
    const broken = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'broken', alg: 'ES256' };
    issuer.published = [signers[0].jwk, broken];
    const naming = await token({ privateKey: signers[0].privateKey, jwk: broken });
    await expect(issuer.caller(naming)).rejects.toMatchObject({ code: 'FW_UNAUTHENTICATED' });
    expect((await issuer.caller(await token(signers[0]))).name).toBe('ana');
  });
});

test.each([
  ['a number', 5],
  ['a list', ['ana']],
  ['an object', { name: 'ana' }],
  ['null', null],
  ['true', true],
  ['empty', ''],
])('a token whose subject is %s is refused', async (_, sub) => {
  const caller = callers().caller(await token(signers[0], { sub }));
  await expect(caller).rejects.toMatchObject({ code: 'FW_UNAUTHENTICATED' });
});
