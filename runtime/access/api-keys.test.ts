import { expect, test } from 'vitest';
import { UnauthenticatedError } from '../errors.js';
import type { Statement } from '../sharding/shard-database.js';
import { ApiKeyStore } from './api-key-store.js';
import { apiKeys } from './api-keys.js';
import type { RequestHead } from './authenticator.js';

/** A database with one key that answers on request. */
function slowStore(): { store: ApiKeyStore; asked: Statement[]; answer: () => void } {
  const asked: Statement[] = [];
  const answers: (() => void)[] = [];
  const query = (statement: Statement): Promise<object> => {
    asked.push(statement);
    return new Promise((resolve) => answers.push(() => resolve({ rows: [], rowCount: 0 })));
  };
  const store = new ApiKeyStore({ query } as unknown as ConstructorParameters<typeof ApiKeyStore>[0]);
  return { store, asked, answer: () => answers.shift()?.() };
}

const request = (prefix: string): RequestHead =>
  ({ headers: { 'x-api-key': `fwk_${prefix}_${'A'.repeat(43)}` } }) as unknown as RequestHead;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('requests with invented keys cause one statement at a time and are not cached', async () => {
  const { store, asked, answer } = slowStore();
  const authenticate = apiKeys({ store });
  const prefixes = Array.from({ length: 500 }, (_, index) => index.toString(16).padStart(16, '0'));
  const refused = prefixes.map(async (prefix) =>
    expect(authenticate(request(prefix))).rejects.toThrow(UnauthenticatedError),
  );
  await turn();
  expect(asked).toHaveLength(1);
  answer();
  await turn();
  expect(asked).toHaveLength(2);
  expect(String(asked[1]?.values?.[0]).split(',')).toHaveLength(499);
  answer();
  await Promise.all(refused);
  // The key is looked up again, so a key that was created meanwhile is found.
  const again = expect(authenticate(request(prefixes[0] ?? ''))).rejects.toThrow('is not known');
  await turn();
  expect(asked).toHaveLength(3);
  answer();
  await again;
});
