import { type FwConfig, loadConfig, type ShardingTopology } from '../../runtime/config/index.js';
import type { DatabaseRegistry, EventOperations, ShardIdentifier } from '../../runtime/operations.js';
import {
  CONFIG,
  type CommandContext,
  type CommandEntry,
  type CommandSpec,
  command,
  FORMAT,
  type Input,
  type Inputs,
  type Report,
  text,
  type Values,
} from '../command.js';
import { expectedMessage } from '../failures.js';
import { InputError } from '../input-error.js';

type Frame = typeof CONFIG & typeof FORMAT & { readonly shard: Input<string | undefined> };

/** Options of all commands for shards. */
export const FRAME: Frame = {
  ...CONFIG,
  ...FORMAT,
  shard: text('--shard <shard>', 'only this shard: its name, or group and member as 1,0'),
};

/** What a command works with. */
export interface Session {
  /** The operations of the runtime, which are loaded only by commands that use databases. */
  readonly runtime: typeof import('../../runtime/operations.js');
  readonly config: FwConfig;
  readonly databases: DatabaseRegistry;
  readonly operations: EventOperations;
  /** The shard of `--shard`. Default: all. */
  readonly shard: ShardIdentifier | undefined;
  /** As `shard`, with the names. */
  readonly shards: readonly NamedShard[];
}

/** A shard with its name in the configuration. */
export interface NamedShard {
  readonly shard: ShardIdentifier;
  readonly name: string;
}

/** What a command found on one shard. */
export interface Found<T> extends NamedShard {
  readonly value: T;
}

interface OperatorSpec<Given extends Inputs> extends Omit<CommandSpec<Given>, 'run'> {
  readonly run: (session: Session, values: Values<Given>, context: CommandContext) => Promise<Report>;
  /**
   * Whether it uses embedded databases only through a server that has them open: it runs until it is interrupted, or
   * is repeated by scripts, and must not keep a server from opening them.
   */
  readonly isVisitor?: (values: Values<Given>) => boolean;
  /** Sections of the configuration that it uses besides those of all commands. */
  readonly uses?: readonly string[];
  /** Whether it reports databases of other shards itself. Default: any of the chosen shards ends the command. */
  readonly reportsIdentity?: boolean;
}

/** A command that opens the databases of the configuration. It runs no user code. */
export function operatorCommand<Given extends Inputs & typeof CONFIG>({
  run,
  isVisitor = () => false,
  uses = [],
  reportsIdentity = false,
  ...spec
}: OperatorSpec<Given>): CommandEntry {
  return command({
    ...spec,
    run: async (values, context) => {
      const { config: file, shard } = values as Values<typeof CONFIG> & { readonly shard?: string };
      // On a machine for operators, secrets of the server may be unset.
      const config = loadConfig(file, { used: ['sharding', 'generator', 'retention', ...uses] });
      const shards = chooseShards(config.sharding, shard);
      const chosen = { shards, shard: shard === undefined ? undefined : shards[0]?.shard };
      const runtime = await import('../../runtime/operations.js');
      const embedded = isVisitor(values) ? 'visit' : 'join';
      const options = { warn: context.output.error, embedded } as const;
      const report = await runtime.withDatabases(config.sharding, options, async (databases) => {
        if (!reportsIdentity)
          await runtime.requireIdentities(
            databases,
            shards.map(({ shard }) => shard),
          );
        const operations = new runtime.EventOperations(databases);
        return run({ runtime, config, databases, operations, ...chosen }, values, context);
      });
      // JSON with shards as `(group, member)`.
      const plain = (_: string, each: unknown): unknown =>
        each instanceof runtime.ShardIdentifier ? each.toString() : each;
      return { ...report, json: report.json && JSON.parse(JSON.stringify(report.json, plain)) };
    },
  });
}

interface ShardSpec<Given extends Inputs, T> extends Omit<CommandSpec<Given & Frame>, 'run' | 'inputs'> {
  readonly inputs: Given;
  /** Runs on each chosen shard. A shard that fails does not stop the others. */
  readonly each: (session: Session, values: Values<Given & Frame>, shard: ShardIdentifier) => Promise<T>;
  /** The handler, saga or sink that its options name. */
  readonly consumerOf?: (values: Values<Given & Frame>) => string | undefined;
  readonly report: (
    found: readonly Found<T>[],
    values: Values<Given & Frame>,
    session: Session,
  ) => ShardReport;
}

/** A command that finds nothing for a handler that has never run anywhere was given a wrong name. */
export async function requireConsumer(
  { runtime, databases }: Session,
  name: string | undefined,
): Promise<void> {
  if (name !== undefined && !(await runtime.hasConsumer(databases, name)))
    throw new InputError(`${name} has no checkpoint on any shard: fw-gen events lag shows all names.`);
}

interface ShardReport extends Report {
  /** The line if every shard has answered and `lines` is empty; an error if that is a drift. */
  readonly none?: string;
}

/** A command that works on each shard. Shards that fail are named, and the exit code is 1. */
export function shardCommand<Given extends Inputs, T>({
  inputs,
  each,
  consumerOf = () => undefined,
  report,
  ...spec
}: ShardSpec<Given, T>): CommandEntry {
  return operatorCommand<Given & Frame>({
    ...spec,
    inputs: { ...FRAME, ...inputs },
    run: async (session, values) => {
      const { found, failed } = await onEach(session, (shard) => each(session, values, shard));
      const { json, lines = [], errors = [], isDrift = false, none } = report(found, values, session);
      const missing = lines.length + failed.length === 0 && none !== undefined ? [none] : [];
      if (missing.length > 0) await requireConsumer(session, consumerOf(values));
      const failures = failureReport(failed);
      return {
        json: { ...json, ...failures.json },
        lines: isDrift ? lines : [...lines, ...missing],
        errors: [...errors, ...(isDrift ? missing : []), ...failures.errors],
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
        const message = expectedMessage(error);
        if (message === undefined) throw error;
        failed.push({ ...each, value: message });
      }
    }),
  );
  const order = (a: NamedShard, b: NamedShard): number => a.shard.bits - b.shard.bits;
  return { found: found.sort(order), failed: failed.sort(order) };
}

/** Names the shards on which work has failed. */
export function failureReport(failed: readonly Found<string>[]): Required<Omit<Report, 'lines'>> {
  return {
    json: { failures: failed.map(({ shard, value: message }) => ({ shard, message })) },
    errors: failed.map(({ shard, name, value: message }) => `${shard} ${name}: ${message}`),
    isDrift: failed.length > 0,
  };
}

/** What was found on all shards. */
export function flatten<T>(found: readonly Found<readonly T[]>[]): readonly T[] {
  return found.flatMap(({ value: list }) => list);
}

/** Says that a shard may have more than were asked for. @param others options for those */
export function cutLine(
  found: readonly Found<readonly unknown[]>[],
  limit: number,
  others: string,
): readonly string[] {
  const isCut = found.some(({ value: list }) => list.length === limit);
  return isCut ? [`The first ${limit} of each shard; pass ${others} for others.`] : [];
}

/** As `flatten`, each with the name of its shard. */
export function named<T extends object>(found: readonly Found<readonly T[]>[]): readonly (T & NamedShard)[] {
  return found.flatMap(({ shard, name, value: list }) => list.map((each) => ({ ...each, shard, name })));
}

/** The report of a change to one thing. The exit code is 1 if it was not made. */
export function changeReport(isDone: boolean, done: string, not: string, json?: object): Report {
  return isDone ? { json, lines: [done] } : { json, errors: [not], isDrift: true };
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
