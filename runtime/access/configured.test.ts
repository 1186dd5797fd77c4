import { expect, test } from 'vitest';
import { fixedPrincipal } from './authenticator.js';
import { authenticatorOf } from './configured.js';

const NOTHING = { jwt: undefined, apiKeys: false, clientCertificates: 'off' } as never;
const DATABASES = { defaultShard: undefined, database: () => ({}) } as never;

test('without an authenticator in the code and in the configuration, no server is made', () => {
  expect(() => authenticatorOf(NOTHING, undefined, DATABASES)).toThrow(
    expect.objectContaining({ field: 'authenticator' }),
  );
  const inCode = fixedPrincipal('ann');
  expect(authenticatorOf(NOTHING, inCode, DATABASES)).toBe(inCode);
});
