import type { ShardingTopology } from '../../runtime/config/index.js';
import type { EventOperations, OperatorsJournal, ShardIdentifier } from '../../runtime/operations.js';
import { type CommandContext, choice, InputError, readConfig, withConfig } from '../command-context.js';
import type { Command } from '../commander.js';
import { explainFailure } from '../database-failures.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';

/** Options of all these commands. */
export interface EventsOptions {
  readonly config: string;
  readonly format: 'text' | 'json';
  /** The argument as typed; undefined: all shards. */
  readonly shard?: string;
}

/** Adds `--config`, `--format` and `--shard`. */
export function withFrame(command: Command): Command {
  return withConfig(command)
    .option('--format <format>', 'text or json', choice(['text', 'json'] as const), 'text')
    .option('--shard <shard>', 'only this shard: its name, or group and member as 1,0');
}

/** One shard to query. */
export interface ChosenShard {
  readonly shard: ShardIdentifier;
  readonly name: string;
}

/** Results by shard, and failed shards. */
export interface ShardOutcomes<T> {
  readonly done: readonly (ChosenShard & { readonly value: T })[];
  readonly failed: readonly (ChosenShard & { readonly message: string })[];
}

/** The context of one of these commands. */
export interface EventsSession {
  readonly operations: EventOperations;
  readonly journal: OperatorsJournal;
  /** Runs the work on each chosen shard. An unreachable shard does not stop the others. */
  readonly onEach: <T>(work: (shard: ShardIdentifier) => Promise<T>) => Promise<ShardOutcomes<T>>;
  /** The shard of `--shard`; undefined: all shards. */
  readonly chosen: ShardIdentifier | undefined;
}

/** Opens the databases of the configuration, runs a command on them and closes them. Runs no user code. */
export async function onDatabases(
  { config: file, shard }: EventsOptions,
  output: Output,
  work: (session: EventsSession) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { sharding } = readConfig(file);
  const shards = chooseShards(sharding, shard);
  const { EventOperations, journalOn, withDatabases } = await import('../../runtime/operations.js');
  return withDatabases(sharding, output.error, async (databases) => {
    const operations = new EventOperations(databases);
    const chosen = shard === undefined ? undefined : shards[0]?.shard;
    const onEach = <T>(each: (shard: ShardIdentifier) => Promise<T>): Promise<ShardOutcomes<T>> =>
      runOnEach(shards, each);
    return work({ operations, journal: journalOn(databases), chosen, onEach });
  });
}

/** Prints the results. Reports an empty result only if every shard has answered. */
export function showFound(
  found: readonly unknown[],
  { failed }: ShardOutcomes<unknown>,
  output: Output,
  texts: { readonly table: () => string; readonly none: string },
): void {
  if (found.length > 0) output.info(texts.table());
  else if (failed.length === 0) output.info(texts.none);
}

/** Prints the failed shards. @returns the exit code */
export function reportFailures({ failed }: ShardOutcomes<unknown>, output: Output): ExitCode {
  for (const { shard, name, message } of failed) output.error(`${shard} ${name}: ${message}`);
  return failed.length === 0 ? EXIT.success : EXIT.drift;
}

/** The failures for JSON output. */
export function failuresJson({ failed }: ShardOutcomes<unknown>): object {
  return { failures: failed.map(({ shard, message }) => ({ shard: shard.toString(), message })) };
}

/** Runs a command's work and converts its errors to output and exit code. */
export function eventsAction<Options extends EventsOptions>(
  context: CommandContext,
  work: (session: EventsSession, options: Options) => Promise<ExitCode>,
): (options: Options) => Promise<void> {
  return (options) =>
    context.run(() => onDatabases(options, context.output, (session) => work(session, options)));
}

async function runOnEach<T>(
  shards: readonly ChosenShard[],
  work: (shard: ShardIdentifier) => Promise<T>,
): Promise<ShardOutcomes<T>> {
  const done: (ChosenShard & { readonly value: T })[] = [];
  const failed: (ChosenShard & { readonly message: string })[] = [];
  await Promise.all(
    shards.map(async (each) => {
      try {
        done.push({ ...each, value: await work(each.shard) });
      } catch (error) {
        failed.push({ ...each, message: await explainFailure(error) });
      }
    }),
  );
  const order = (a: ChosenShard, b: ChosenShard): number => a.shard.bits - b.shard.bits;
  return { done: done.sort(order), failed: failed.sort(order) };
}

/** @throws InputError for a shard that the configuration does not list */
function chooseShards({ groups }: ShardingTopology, wanted: string | undefined): readonly ChosenShard[] {
  const all = groups.flatMap(({ members }) => members.map(({ shard, name }) => ({ shard, name })));
  if (wanted === undefined) return all;
  const pair = wanted.replaceAll(/[()\s]/g, '');
  const found = all.filter(({ shard, name }) => name === wanted || `${shard.group},${shard.member}` === pair);
  if (found.length > 0) return found.slice(0, 1);
  const known = all.map(({ shard, name }) => `${name} ${shard}`).join(', ');
  throw new InputError(`There is no shard ${wanted}; the configuration lists ${known}.`);
}
