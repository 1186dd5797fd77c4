import { exportJWK, generateKeyPair, type JSONWebKeySet } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { useTime } from '../concurrency/time.js';
import { IssuerUnavailableError } from '../errors.js';
import { type IssuerKeys, issuerKeys } from './issuer-keys.js';

let nowMs = 0;

beforeEach(() => {
  nowMs = 1_000_000;
  return useTime({ nowMs: () => nowMs });
});

async function issuer() {
  const set: JSONWebKeySet = { keys: [] };
  let loads = 0;
  let isAway = false;
  const publish = async (kid: string): Promise<void> => {
    const { publicKey } = await generateKeyPair('ES256');
    set.keys.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256' });
  };
  await publish('one');
  const withdraw = (kid: string): void => {
    set.keys = set.keys.filter((each) => each.kid !== kid);
  };
  const load = async (): Promise<JSONWebKeySet> => {
    loads += 1;
    if (isAway) throw new Error('away');
    return structuredClone(set);
  };
  const keys = issuerKeys(load, { refreshMs: 60_000, keepMs: 600_000, cooldownMs: 10_000 });
  const away = (is: boolean): void => {
    isAway = is;
  };
  return { keys, loads: () => loads, publish, withdraw, away };
}

const token = { payload: '', signature: '' };
const find = async (keys: IssuerKeys, kid: string): Promise<unknown> =>
  keys.find({ alg: 'ES256', kid }, token);

test('keys are loaded once for all waiting requests, and again when they are old', async () => {
  const { keys, loads } = await issuer();
  await Promise.all([find(keys, 'one'), find(keys, 'one'), find(keys, 'one')]);
  expect(loads()).toBe(1);
  nowMs += 30_000;
  await find(keys, 'one');
  expect(loads()).toBe(1);
  nowMs += 30_000;
  await find(keys, 'one');
  expect(loads()).toBe(2);
  // Verified tokens stay remembered, because the issuer has published the same keys.
  expect(keys.version()).toBe(1);
});

test('a new key is loaded from the issuer, at most once per pause', async () => {
  const { keys, loads, publish } = await issuer();
  await find(keys, 'one');
  await publish('two');
  nowMs += 4_000;
  await expect(find(keys, 'two')).rejects.toMatchObject({
    code: 'FW_ISSUER_UNAVAILABLE',
    retryAfterMs: 6_000,
  });
  await find(keys, 'one');
  nowMs += 6_000;
  await find(keys, 'two');
  expect([loads(), keys.version()]).toEqual([2, 2]);
  nowMs += 10_000;
  await expect(find(keys, 'made-up')).rejects.toThrow('no applicable key');
  expect(loads()).toBe(3);
  for (let index = 0; index < 50; index += 1) await expect(find(keys, `made-up-${index}`)).rejects.toThrow();
  expect(loads()).toBe(3);
});

test('after a quiet time, the first token waits for the present keys', async () => {
  const { keys, loads, publish, withdraw } = await issuer();
  await find(keys, 'one');
  await publish('two');
  withdraw('one');
  nowMs += 500_000;
  // No token that was verified before is accepted without them.
  expect(keys.version()).toBeUndefined();
  await expect(find(keys, 'one')).rejects.toThrow(IssuerUnavailableError);
  await find(keys, 'two');
  expect([loads(), keys.version()]).toEqual([2, 2]);
});

test('the last keys are used for a limited time while the issuer is unavailable', async () => {
  const { keys, away, loads } = await issuer();
  await find(keys, 'one');
  away(true);
  nowMs += 599_000;
  await find(keys, 'one');
  nowMs += 1_000;
  await expect(find(keys, 'one')).rejects.toThrow(IssuerUnavailableError);
  // An issuer that fails is queried once a second, for any number of tokens.
  const asked = loads();
  for (let index = 0; index < 50; index += 1)
    await expect(find(keys, 'one')).rejects.toThrow(IssuerUnavailableError);
  expect(loads()).toBe(asked);
  nowMs += 1_000;
  away(false);
  await find(keys, 'one');
});

test('a token of a new key waits for a load in progress instead of being refused', async () => {
  const { publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256' };
  const published: JSONWebKeySet = { keys: [{ ...jwk, kid: 'one' }] };
  const answers: (() => void)[] = [];
  let isSlow = false;
  const load = async (): Promise<JSONWebKeySet> => {
    if (isSlow) await new Promise<void>((resolve) => answers.push(resolve));
    return structuredClone(published);
  };
  const keys = issuerKeys(load, { refreshMs: 60_000, keepMs: 600_000, cooldownMs: 10_000 });
  await find(keys, 'one');
  published.keys.push({ ...jwk, kid: 'two' });
  isSlow = true;
  nowMs += 60_000;
  // Starts the load in the background.
  await find(keys, 'one');
  const found = [find(keys, 'two'), find(keys, 'two')];
  await expect.poll(() => answers.length).toBe(1);
  for (const answer of answers) answer();
  expect(await Promise.all(found)).toHaveLength(2);
});

test('a malformed key set counts as an issuer that is unavailable', async () => {
  const keys = issuerKeys(async () => ({ keys: 'none' }) as unknown as JSONWebKeySet);
  await expect(find(keys, 'one')).rejects.toThrow(IssuerUnavailableError);
});
