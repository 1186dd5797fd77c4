import { expect, test } from 'vitest';
import type { JsonObject } from '../domain/json.js';
import { UnauthenticatedError } from '../errors.js';
import {
  type Authenticator,
  CredentialMissing,
  firstOf,
  type RequestHead,
  schemesOf,
} from './authenticator.js';

function documented(security: JsonObject): Authenticator {
  const missing = (): never => {
    throw new CredentialMissing('Nothing');
  };
  return Object.assign(missing, { security });
}

const bearer: JsonObject = { type: 'http', scheme: 'bearer' };
const basic: JsonObject = { type: 'http', scheme: 'basic' };
const cookie: JsonObject = { type: 'apiKey', in: 'cookie', name: 'session' };

test('each scheme of a composition has its own name in the API document', () => {
  const [a, b, c] = [bearer, basic, cookie].map(documented) as [Authenticator, Authenticator, Authenticator];
  expect(schemesOf(firstOf(a, b, c))).toEqual({ caller: bearer, caller2: basic, caller3: cookie });
  expect(schemesOf(firstOf(firstOf(a, b), c))).toEqual({ caller: bearer, caller2: basic, caller3: cookie });
});

test('a scheme that several authenticators share is listed once', () => {
  expect(schemesOf(firstOf(documented(bearer), documented({ ...bearer })))).toEqual({ caller: bearer });
});

const REQUEST = { headers: {} } as RequestHead;
const ana: Authenticator = () => ({ name: 'ana' });
const late =
  (authenticator: Authenticator): Authenticator =>
  async (request) =>
    authenticator(request);
const none = documented(bearer);
const wrong: Authenticator = () => {
  throw new UnauthenticatedError('wrong');
};

test('authenticators are tried in order until one finds its kind of credential', async () => {
  for (const missing of [none, late(none)]) {
    for (const known of [ana, late(ana)])
      expect(await firstOf(missing, known, wrong)(REQUEST)).toEqual({ name: 'ana' });
    const refused = async (): Promise<unknown> => firstOf(missing, wrong, ana)(REQUEST);
    await expect(refused).rejects.toThrow('wrong');
    await expect(async () => firstOf(missing, none)(REQUEST)).rejects.toThrow(CredentialMissing);
  }
  // If each authenticator answers synchronously, so does the composition.
  expect(firstOf(none, ana)(REQUEST)).toEqual({ name: 'ana' });
  const refusing = (message: string, challenge: string) => (): never => {
    throw new CredentialMissing(message, { challenge });
  };
  const key = refusing('An API key is required', 'Bearer');
  const certificate = refusing('A client certificate is required', 'Mutual');
  expect(() => firstOf(key, certificate)(REQUEST)).toThrow(
    expect.objectContaining({
      message: 'An API key is required, or a client certificate is required',
      challenge: 'Bearer, Mutual',
    }),
  );
});
