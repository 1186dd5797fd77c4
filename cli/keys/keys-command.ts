import type { ApiKey, ApiKeyStore } from '../../runtime/operations.js';
import { type CommandContext, choice, InputError, readConfig, withConfig } from '../command-context.js';
import { Argument, type Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell } from '../terminal-text.js';
import { textTable } from '../text-table.js';

interface KeysOptions {
  readonly config: string;
}

interface CreateOptions extends KeysOptions {
  readonly principal: string;
  readonly claims?: string;
  readonly scopes?: string;
  readonly note?: string;
  readonly expires?: string;
}

interface ListOptions extends KeysOptions {
  readonly format: 'text' | 'json';
}

/** Adds `fw-gen keys` with its commands. */
export function addKeysCommand(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('Creates, lists and revokes API keys of callers.');
  addCreate(keys, context);
  addList(keys, context);
  addRevoke(keys, context);
}

function addCreate(keys: Command, context: CommandContext): void {
  withConfig(keys.command('create'))
    .description('Creates a key and prints it once. The database stores only a hash.')
    .requiredOption('--principal <name>', 'the principal that the key authenticates')
    .option('--claims <json>', 'claims of the principal, as a JSON object')
    .option('--scopes <list>', 'the claim `scopes`, separated by commas')
    .option('--note <text>', 'its purpose')
    .option('--expires <date>', 'ISO 8601; default: never')
    .addHelpText(
      'after',
      examples([
        'fw-gen keys create --principal reports --scopes read --expires 2027-01-01',
        'for a job that reads',
      ]),
    )
    .action((options: CreateOptions) =>
      context.run(() => onKeys(options, context, (store) => create(store, options, context.output))),
    );
}

async function create(store: ApiKeyStore, options: CreateOptions, output: Output): Promise<ExitCode> {
  const { principal, note, expires, scopes } = options;
  const expiresDate = expires === undefined ? undefined : readExpiry(expires);
  const scoped = scopes === undefined ? {} : { scopes: scopes.split(',').map((each) => each.trim()) };
  const key = await store.create({
    principal,
    claims: { ...readClaims(options.claims), ...scoped },
    ...(note === undefined ? {} : { note }),
    ...(expiresDate === undefined ? {} : { expiresDate }),
  });
  output.info(key);
  return EXIT.success;
}

function readExpiry(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime()))
    throw new InputError(`${JSON.stringify(text)} is not a date. Write it as 2027-01-01.`);
  if (date.getTime() <= Date.now()) throw new InputError(`${JSON.stringify(text)} is in the past.`);
  return date;
}

function readClaims(text = '{}'): Readonly<Record<string, never>> {
  try {
    const claims: unknown = JSON.parse(text);
    // The store checks the object's content.
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims))
      return claims as Readonly<Record<string, never>>;
  } catch {
    // Reported below.
  }
  throw new InputError(`--claims must be a JSON object, such as '{"role":"operator"}'.`);
}

function addList(keys: Command, context: CommandContext): void {
  withConfig(keys.command('list'))
    .description('Lists keys without their secrets, newest first.')
    .option('--format <format>', 'text or json', choice(['text', 'json'] as const), 'text')
    .action((options: ListOptions) =>
      context.run(() => onKeys(options, context, (store) => list(store, options, context.output))),
    );
}

async function list(store: ApiKeyStore, { format }: ListOptions, output: Output): Promise<ExitCode> {
  const found = await store.list();
  if (format === 'json') output.info(JSON.stringify({ keys: found }, null, 2));
  else output.info(found.length === 0 ? 'There are no API keys.' : table(found));
  return EXIT.success;
}

function table(keys: readonly ApiKey[]): string {
  const rows = keys.map(({ prefix, principal, claims, note, createdDate, expiresDate, revokedDate }) => [
    prefix,
    cell(principal),
    cell(JSON.stringify(claims)),
    createdDate.toISOString(),
    expiresDate?.toISOString() ?? 'never',
    revokedDate?.toISOString() ?? '',
    cell(note),
  ]);
  return textTable(['PREFIX', 'PRINCIPAL', 'CLAIMS', 'CREATED', 'EXPIRES', 'REVOKED', 'NOTE'], rows);
}

function addRevoke(keys: Command, context: CommandContext): void {
  withConfig(keys.command('revoke'))
    .description('Revokes a key. Servers refuse it within 5 seconds.')
    .addArgument(new Argument('<prefix>', 'as `keys list` shows it, or the whole key'))
    .action((prefix: string, options: KeysOptions) =>
      context.run(() => onKeys(options, context, (store) => revoke(store, prefix, context.output))),
    );
}

async function revoke(store: ApiKeyStore, given: string, output: Output): Promise<ExitCode> {
  const prefix = /^fwk_([0-9a-f]{16})_/.exec(given)?.[1] ?? given;
  if (await store.revoke(prefix)) {
    output.info(`${prefix} is revoked.`);
    return EXIT.success;
  }
  output.error(`No active key ${prefix} exists. Check the prefix with \`fw-gen keys list\`.`);
  return EXIT.drift;
}

async function onKeys(
  { config }: KeysOptions,
  { output }: CommandContext,
  work: (store: ApiKeyStore) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { sharding } = readConfig(config);
  const { ApiKeyStore, withDatabases } = await import('../../runtime/operations.js');
  return expectFailures(() =>
    withDatabases(sharding, output.error, (databases) =>
      work(new ApiKeyStore(databases.database(databases.defaultShard))),
    ),
  );
}
