import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import { UnauthenticatedError, ValidationError } from '../errors.js';
import { CredentialMissing, type RequestHead } from './authenticator.js';
import { developmentToken } from './development-token.js';

const folder = temporaryFolder();
const TOKEN = 'a-token-of-23-characters';

function tokenFile(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const request = (authorization?: string): RequestHead =>
  ({ headers: { authorization }, rawHeaders: [] }) as unknown as RequestHead;

test('only the token in the file is the principal', async () => {
  const file = tokenFile('token', `${TOKEN}\n`);
  const authenticate = developmentToken({ file, principal: { name: 'ada' } });
  expect(await authenticate(request(`Bearer ${TOKEN}`))).toMatchObject({ name: 'ada', claims: {} });
  for (const wrong of [`${TOKEN}s`, TOKEN.slice(1), TOKEN.toUpperCase()])
    expect(() => authenticate(request(`Bearer ${wrong}`))).toThrow(UnauthenticatedError);
  // Another authenticator may handle these callers.
  for (const other of [undefined, '', 'Bearer ', `Basic ${TOKEN}`])
    expect(() => authenticate(request(other))).toThrow(CredentialMissing);
  expect(authenticate.notice).toContain('the principal "ada": for development only');
  expect(authenticate.notice).not.toContain(TOKEN);
});

test('without the file every request is refused, including one with an empty token', () => {
  const authenticate = developmentToken({ file: join(folder, 'absent') });
  for (const sent of [undefined, 'Bearer ', `Bearer ${TOKEN}`, 'Bearer undefined'])
    expect(() => authenticate(request(sent))).toThrow(CredentialMissing);
  expect(authenticate.notice).toContain('does not exist: every request is refused');
});

test('a token that can be guessed is refused at start', () => {
  for (const text of ['', '\n', 'secret\n'])
    expect(() => developmentToken({ file: tokenFile('short', text) })).toThrow(ValidationError);
});
