import type { FwConfig, ShardingTopology } from '../../runtime/config/index.js';
import type {
  DatabaseRegistry,
  EventOperations,
  OperatorsJournal,
  ShardIdentifier,
} from '../../runtime/operations.js';
import {
  CONFIG,
  type CommandContext,
  type CommandEntry,
  type CommandSpec,
  choice,
  command,
  type Input,
  type Inputs,
  type Report,
  text,
  type Values,
  value,
} from '../command.js';
import { expectFailures, explainFailure } from '../database-failures.js';
import type { ExitCode } from '../exit.js';
import { InputError } from '../input-error.js';
import { readConfig } from '../project.js';

/** `--format` of commands whose text is not always a table. */
export const TEXT_FORMAT: { readonly format: Input<'text' | 'json'> } = {
  format: value('--format <format>', 'text or json', choice(['text', 'json']), 'text'),
};

type Frame = typeof CONFIG & typeof TEXT_FORMAT & { readonly shard: Input<string | undefined> };

/** Options of all commands for shards. */
export const FRAME: Frame = {
  ...CONFIG,
  ...TEXT_FORMAT,
  shard: text('--shard <shard>', 'only this shard: its name, or group and member as 1,0'),
};

/** A configuration and its databases. */
export interface Session {
  readonly config: FwConfig;
  readonly databases: DatabaseRegistry;
  readonly operations: EventOperations;
  readonly journal: OperatorsJournal;
  /** The shards of `--shard`. Default: all. */
  readonly shards: readonly NamedShard[];
}

interface NamedShard {
  readonly shard: ShardIdentifier;
  readonly name: string;
}

/** What a command found on one shard. */
export interface Found<T> extends NamedShard {
  readonly value: T;
}

interface OperatorSpec<Given extends Inputs> extends Omit<CommandSpec<Given>, 'run'> {
  readonly run: (
    session: Session,
    values: Values<Given>,
    context: CommandContext,
  ) => Promise<Report | ExitCode>;
  /** Whether it runs until it is interrupted, and so must not keep a server from opening embedded databases. */
  readonly isEndless?: (values: Values<Given>) => boolean;
}

/** A command that opens the databases of the configuration. It runs no user code. */
export function operatorCommand<Given extends Inputs & typeof CONFIG>({
  run,
  isEndless = () => false,
  ...spec
}: OperatorSpec<Given>): CommandEntry {
  return command({
    ...spec,
    run: async (values, context) => {
      const { config: file, shard } = values as Values<typeof CONFIG> & { readonly shard?: string };
      const config = readConfig(file);
      const shards = chooseShards(config.sharding, shard);
      const { EventOperations, journalOn, withDatabases } = await import('../../runtime/operations.js');
      const embedded = isEndless(values) ? 'visit' : 'join';
      const options = { warn: context.output.error, embedded } as const;
      const report = await withDatabases(config.sharding, options, (databases) => {
        const operations = new EventOperations(databases);
        const session = { config, databases, operations, journal: journalOn(databases), shards };
        return expectFailures(() => run(session, values, context));
      });
      return typeof report === 'number'
        ? report
        : { ...report, json: report.json && (await plainJson(report.json)) };
    },
  });
}

interface ShardSpec<Given extends Inputs, T> extends Omit<CommandSpec<Given & Frame>, 'run' | 'inputs'> {
  readonly inputs: Given;
  /** Runs on each chosen shard. A shard that fails does not stop the others. */
  readonly each: (session: Session, values: Values<Given & Frame>, shard: ShardIdentifier) => Promise<T>;
  readonly report: (
    found: readonly Found<T>[],
    values: Values<Given & Frame>,
    session: Session,
  ) => ShardReport | Promise<ShardReport>;
}

interface ShardReport extends Report {
  /** The line if every shard has answered and `lines` is empty; an error if that is a drift. */
  readonly none?: string;
}

/** A command that works on each shard. Shards that fail are named, and the exit code is 1. */
export function shardCommand<Given extends Inputs, T>({
  inputs,
  each,
  report,
  ...spec
}: ShardSpec<Given, T>): CommandEntry {
  return operatorCommand<Given & Frame>({
    ...spec,
    inputs: { ...FRAME, ...inputs },
    run: async (session, values) => {
      const { found, failed } = await onEach(session, (shard) => each(session, values, shard));
      const { json, lines = [], errors = [], isDrift = false, none } = await report(found, values, session);
      const missing = lines.length + failed.length === 0 && none !== undefined ? [none] : [];
      const failures = failed.map(({ shard, value: message }) => ({ shard, message }));
      return {
        json: { ...json, failures },
        lines: isDrift ? lines : [...lines, ...missing],
        errors: [
          ...errors,
          ...(isDrift ? missing : []),
          ...failed.map(({ shard, name, value: message }) => `${shard} ${name}: ${message}`),
        ],
        isDrift: isDrift || failed.length > 0,
      };
    },
  });
}

/** Runs work on each chosen shard; failures are explained. */
export async function onEach<T>(
  { shards }: Pick<Session, 'shards'>,
  work: (shard: ShardIdentifier) => Promise<T>,
): Promise<{ readonly found: readonly Found<T>[]; readonly failed: readonly Found<string>[] }> {
  const found: Found<T>[] = [];
  const failed: Found<string>[] = [];
  await Promise.all(
    shards.map(async (each) => {
      try {
        found.push({ ...each, value: await work(each.shard) });
      } catch (error) {
        failed.push({ ...each, value: await explainFailure(error) });
      }
    }),
  );
  const order = (a: NamedShard, b: NamedShard): number => a.shard.bits - b.shard.bits;
  return { found: found.sort(order), failed: failed.sort(order) };
}

/** JSON with shards as `(group, member)`. */
async function plainJson(json: object): Promise<object> {
  const { ShardIdentifier } = await import('../../runtime/operations.js');
  const shardText = (_: string, each: unknown): unknown =>
    each instanceof ShardIdentifier ? each.toString() : each;
  return JSON.parse(JSON.stringify(json, shardText)) as object;
}

/** @throws InputError for a shard that the configuration does not list */
function chooseShards({ groups }: ShardingTopology, wanted: string | undefined): readonly NamedShard[] {
  const all = groups.flatMap(({ members }) => members.map(({ shard, name }) => ({ shard, name })));
  if (wanted === undefined) return all;
  const pair = wanted.replaceAll(/[()\s]/g, '');
  const found = all.filter(({ shard, name }) => name === wanted || `${shard.group},${shard.member}` === pair);
  if (found.length > 0) return found.slice(0, 1);
  const known = all.map(({ shard, name }) => `${name} ${shard}`).join(', ');
  throw new InputError(`There is no shard ${wanted}; the configuration lists ${known}.`);
}
