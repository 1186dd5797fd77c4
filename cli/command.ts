import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { failureCode } from './failures.js';

/** An argument or an option of a command. */
export interface Input<Value> {
  /** `<id>` and `[dir]` are arguments, `--limit <n>` is an option. */
  readonly flags: string;
  readonly about: string;
  /** Reads the text. Receives the former value of an option that is given several times. Default: the text itself. */
  parse?(text: string, before: Value): Value;
  readonly initial?: Value;
  /** Whether the command line must contain this option. */
  readonly isRequired?: boolean;
}

export type Inputs = Readonly<Record<string, Input<unknown>>>;

/** The values of inputs. An option's key is its name in camel case. */
export type Values<Given extends Inputs> = {
  readonly [Key in keyof Given]: Given[Key] extends Input<infer Value> ? Value : never;
};

/** What a command found or did. */
export interface Report {
  /** Output of `--format json`. */
  readonly json?: object | undefined;
  /** Lines of all other output. */
  readonly lines?: readonly string[];
  /** Lines for standard error, in every format. */
  readonly errors?: readonly string[];
  /** Whether the state is not as expected, or nothing could be changed: the exit code is 1. */
  readonly isDrift?: boolean;
}

/** The context of every command. */
export interface CommandContext {
  readonly output: Output;
  /** Version of the package. */
  readonly version: string;
  /** Ends a long-running command, such as `generate --watch`. */
  readonly signal: AbortSignal;
}

/** One command, or a group of commands. */
export interface CommandEntry {
  readonly name: string;
  readonly about: string;
  /** Command lines and their effects. */
  readonly examples?: readonly (readonly [command: string, effect: string])[];
  readonly inputs?: Inputs;
  readonly run?: (values: Values<Inputs>, context: CommandContext) => Promise<Report | ExitCode>;
  readonly commands?: readonly CommandEntry[];
}

/** A command whose `run` receives the values of its inputs. */
export interface CommandSpec<Given extends Inputs> extends Omit<CommandEntry, 'inputs' | 'run' | 'commands'> {
  readonly inputs: Given;
  readonly run: (values: Values<Given>, context: CommandContext) => Promise<Report | ExitCode>;
}

/** Checks a command's types. */
export function command<Given extends Inputs>({ run, ...spec }: CommandSpec<Given>): CommandEntry {
  // The parser has read the values with these inputs.
  return { ...spec, run: (values, context) => run(values as Values<Given>, context) };
}

/** An option without a value. */
export function flag(flags: string, about: string): Input<boolean | undefined> {
  return { flags, about };
}

/** A text that may be absent. */
export function text(flags: string, about: string): Input<string | undefined> {
  return { flags, about };
}

/** A text that must be present. */
export function required(flags: string, about: string): Input<string> {
  return { flags, about, isRequired: true };
}

/** An option or argument with an own form. Without a default it is undefined if absent. */
export function value<Value>(
  flags: string,
  about: string,
  parse: (text: string) => Value,
): Input<Value | undefined>;
export function value<Value>(
  flags: string,
  about: string,
  parse: (text: string, before: Value) => Value,
  initial: Value,
): Input<Value>;
export function value<Value>(
  flags: string,
  about: string,
  parse: (text: string, before: Value) => Value,
  initial?: Value,
): Input<Value> {
  return { flags, about, parse, ...(initial === undefined ? {} : { initial }) };
}

/** Accepts one of some words. */
export function choice<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const found = choices.find((each) => each === text);
    if (found === undefined) throw new InvalidArgumentError(`Choose one of ${choices.join(', ')}.`);
    return found;
  };
}

/** Parses an integer from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,16}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** Parses a day, which begins at midnight in UTC, or a time with its zone. */
export function instant(text: string): Date {
  const date = new Date(text);
  const [, day] = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  // `Date` moves a day that does not exist into the next month.
  const isDay = day !== undefined && new Date(day).toJSON()?.startsWith(day) === true;
  if (isDay && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('Expected a date, or a time with its zone: 2026-01-31T12:00:00Z.');
}

/** `--config` */
export const CONFIG: { readonly config: Input<string> } = {
  config: value('--config <file>', 'configuration file', (file) => file, 'fw.config.yaml'),
};

/** `--format` of commands that have a report. */
export const FORMAT: { readonly format: Input<'text' | 'json'> } = {
  format: value('--format <format>', 'text or json', choice(['text', 'json']), 'text'),
};

/** `--parallel` */
export const PARALLEL: { readonly parallel: Input<number> } = {
  parallel: value('--parallel <n>', 'maximum number of concurrent shards, 1 to 256', wholeNumber(1, 256), 8),
};

/** Adds a command, and the commands of a group, to the parser. */
export function addTo(
  parent: Command,
  entry: CommandEntry,
  context: CommandContext,
  finish: (code: ExitCode) => void,
): void {
  const { name, about, inputs = {}, examples = [], run, commands = [] } = entry;
  // The list of commands has the first sentence of each.
  const added = parent
    .command(name)
    .description(about)
    .summary(/^.*?\.(?= |$)/.exec(about)?.[0] ?? about);
  const positions: string[] = [];
  const attributes = new Map<string, string>();
  for (const [key, { flags, about: help, parse, initial, isRequired = false }] of Object.entries(inputs)) {
    if (flags.startsWith('-')) {
      const option = new Option(flags, help).default(initial).makeOptionMandatory(isRequired);
      added.addOption(parse === undefined ? option : option.argParser(parse));
      attributes.set(key, option.attributeName());
    } else {
      const argument = new Argument(flags, help);
      added.addArgument(parse === undefined ? argument : argument.argParser(parse));
      positions.push(key);
    }
  }
  if (examples.length > 0) added.addHelpText('after', exampleText(examples));
  if (run !== undefined) {
    added.action(async (...given: readonly unknown[]) => {
      const options = added.opts<Readonly<Record<string, unknown>>>();
      const values = Object.fromEntries([
        ...positions.map((key, index) => [key, given[index]]),
        ...[...attributes].flatMap(([key, name]) => (name in options ? [[key, options[name]]] : [])),
      ]) as Values<Inputs>;
      finish(await runEntry(() => run(values, context), values['format'] === 'json', context.output));
    });
  }
  for (const each of commands) addTo(added, each, context, finish);
}

/** The one way to exit codes: a report decides between 0 and 1, an error between 1, 2 and 3. */
async function runEntry(
  run: () => Promise<Report | ExitCode>,
  isJson: boolean,
  output: Output,
): Promise<ExitCode> {
  try {
    const report = await run();
    if (typeof report === 'number') return report;
    const { json, lines = [], errors = [], isDrift = false } = report;
    if (isJson && json !== undefined) output.info(JSON.stringify(json, null, 2));
    else for (const line of lines) output.info(line);
    for (const line of errors) output.error(line);
    return isDrift ? EXIT.drift : EXIT.success;
  } catch (error) {
    return failureCode(error, output);
  }
}

/** Examples at the end of a command's help: the command and its effect. */
export function exampleText(lines: NonNullable<CommandEntry['examples']>): string {
  const width = Math.max(...lines.map(([line]) => line.length)) + 3;
  return `\nExamples:\n${lines.map(([line, effect]) => `  $ ${line.padEnd(width)}${effect}`).join('\n')}`;
}
