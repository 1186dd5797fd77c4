import { expect, test } from 'vitest';
import type { SecurityScheme } from '../openapi/documented-access.js';
import { type Authenticator, CredentialMissing, firstOf, schemesOf } from './authenticator.js';

function documented(security: SecurityScheme): Authenticator {
  const missing = (): never => {
    throw new CredentialMissing('Nothing');
  };
  return Object.assign(missing, { security });
}

const bearer: SecurityScheme = { type: 'http', scheme: 'bearer' };
const basic: SecurityScheme = { type: 'http', scheme: 'basic' };
const cookie: SecurityScheme = { type: 'apiKey', in: 'cookie', name: 'session' };

test('each scheme of a composition has a name of its own in the API document', () => {
  const [a, b, c] = [bearer, basic, cookie].map(documented) as [Authenticator, Authenticator, Authenticator];
  expect(schemesOf(firstOf(a, b, c))).toEqual({ caller: bearer, caller2: basic, caller3: cookie });
  expect(schemesOf(firstOf(firstOf(a, b), c))).toEqual({ caller: bearer, caller2: basic, caller3: cookie });
});

test('one scheme of several authenticators stands in the document once', () => {
  expect(schemesOf(firstOf(documented(bearer), documented({ ...bearer })))).toEqual({ caller: bearer });
});
