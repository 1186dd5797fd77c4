import { InvalidArgumentError } from 'commander';
import { defined } from '../../generator/schema/defined.js';
import type { ApiKeyStore } from '../../runtime/operations.js';
import { CONFIG, type CommandEntry, FORMAT, instant, required, text, value } from '../command.js';
import { InputError } from '../input-error.js';
import { cell } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { changeReport, operatorCommand, type Session } from './operator-command.js';

const CREATE = operatorCommand({
  name: 'create',
  about: 'Creates a key and prints it once. The database stores only a hash.',
  examples: [
    ['fw-gen keys create --principal reports --scopes read --expires 2027-01-01', 'for a job that reads'],
  ],
  inputs: {
    ...CONFIG,
    principal: required('--principal <name>', 'the principal that the key authenticates'),
    claims: text('--claims <json>', 'claims of the principal, as a JSON object'),
    scopes: value('--scopes <list>', 'the claim `scopes`, separated by commas', scopesOf),
    note: text('--note <text>', 'its purpose'),
    expiresDate: value('--expires <date>', 'ISO 8601; default: never', expiry),
  },
  run: async (session, { principal, claims, scopes, note, expiresDate }) => {
    const key = {
      principal,
      claims: { ...readClaims(claims), ...defined({ scopes }) },
      ...defined({ note, expiresDate }),
    };
    return { lines: [await storeOf(session).create(key)] };
  },
});

function scopesOf(list: string): string[] {
  const scopes = list.split(',').map((each) => each.trim());
  if (scopes.includes('')) throw new InvalidArgumentError('Expected scopes separated by single commas.');
  return scopes;
}

function expiry(text: string): Date {
  const date = instant(text);
  if (date.getTime() <= Date.now()) throw new InvalidArgumentError(`${JSON.stringify(text)} is in the past.`);
  return date;
}

/** @throws InputError unless it is a JSON object */
export function readClaims(json = '{}'): Readonly<Record<string, never>> {
  try {
    const claims: unknown = JSON.parse(json);
    // The store checks the object's content.
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims))
      return claims as Readonly<Record<string, never>>;
  } catch {
    // Reported below.
  }
  throw new InputError(`--claims must be a JSON object, such as '{"role":"operator"}'.`);
}

const LIST = operatorCommand({
  name: 'list',
  about: 'Lists keys without their secrets, newest first.',
  inputs: { ...CONFIG, ...FORMAT },
  run: async (session) => {
    const keys = await storeOf(session).list();
    const table = tableLines(keys, {
      PREFIX: ({ prefix }) => prefix,
      PRINCIPAL: ({ principal }) => cell(principal),
      CLAIMS: ({ claims }) => cell(JSON.stringify(claims)),
      CREATED: ({ createdDate }) => createdDate,
      EXPIRES: ({ expiresDate }) => expiresDate ?? 'never',
      REVOKED: ({ revokedDate }) => revokedDate,
      NOTE: ({ note }) => cell(note),
    });
    return { json: { keys }, lines: keys.length === 0 ? ['There are no API keys.'] : table };
  },
});

const REVOKE = operatorCommand({
  name: 'revoke',
  about: 'Revokes a key. Servers refuse it within 5 seconds.',
  inputs: { ...CONFIG, key: required('<prefix>', 'as `keys list` shows it, or the whole key') },
  run: async (session, { key }) => {
    const prefix = /^fwk_([0-9a-f]{16})_/.exec(key)?.[1] ?? key;
    return changeReport(
      await storeOf(session).revoke(prefix),
      `${prefix} is revoked.`,
      `No active key ${prefix} exists. Check the prefix with \`fw-gen keys list\`.`,
    );
  },
});

function storeOf({ runtime, databases }: Session): ApiKeyStore {
  return new runtime.ApiKeyStore(databases.database(databases.defaultShard));
}

/** `fw-gen keys` */
export const KEYS: CommandEntry = {
  name: 'keys',
  about: 'Creates, lists and revokes API keys of callers.',
  commands: [CREATE, LIST, REVOKE],
};
