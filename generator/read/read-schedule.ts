import { cronProblem } from '../../runtime/cron.js';
import { defined } from '../schema/defined.js';
import type { ScheduleSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';
import type { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, isName, NAME_FORM, readOption, readOptions } from './read-decorator.js';

const FIELDS = "minute, hour, day of the month, month and day of the week, as in crontab: '0 3 * * *'";
const ZONE = "an IANA time zone: 'Europe/Berlin'";
const OPTIONS = ['cron', 'zone', 'on', 'missed', 'overlap', 'principal'] as const;

/** Reads `@FwSchedule(options)` of an action. @returns undefined, after a report, without valid cron fields and zone */
export function readSchedule(
  context: ReadContext,
  decorator: ts.Decorator,
  { className, params }: { readonly className: string; readonly params: readonly FieldSchema[] },
): ScheduleSchema | undefined {
  const nodes = readOptions(context, decoratorArguments(decorator)[0], OPTIONS);
  const text = (name: string, expected: string): string | undefined =>
    readOption(context, nodes, name, (value) => typeof value === 'string', expected);
  const choice = <T extends string>(name: string, of: readonly T[]): T | undefined => {
    const expected = of.map((each) => `'${each}'`).join(' or ');
    const isChoice = (value: unknown): value is T => of.some((each) => each === value);
    return readOption(context, nodes, name, isChoice, expected);
  };
  const refuse = (node: ts.Node, problem: string, hint: string): undefined => {
    report(context, 'FWGEN070', node, `${className} cannot be scheduled: ${problem}`, hint);
  };
  const zone = text('zone', ZONE);
  const on = choice('on', ['once', 'each-shard']);
  const principal = readOption(context, nodes, 'principal', isName, NAME_FORM);
  const schedule = {
    ...{ zone, on, missed: choice('missed', ['skip', 'once', 'each']), principal },
    overlap: readOption(context, nodes, 'overlap', (value) => typeof value === 'boolean', 'true or false'),
  };
  refuseParams(params, on === 'each-shard', (problem, hint) => refuse(decorator, problem, hint));
  const cron = text('cron', FIELDS);
  const cronNode = nodes.get('cron');
  if (cronNode === undefined)
    return refuse(decorator, 'it has no cron fields', `Add the option cron: ${FIELDS}.`);
  if (cron === undefined) return undefined;
  const unfit = cronProblem({ cron, zone: 'UTC' });
  if (unfit !== undefined) return refuse(cronNode, unfit, `Write ${FIELDS}.`);
  const unknownZone = zone === undefined ? undefined : cronProblem({ cron, zone });
  if (unknownZone !== undefined) return refuse(nodes.get('zone') ?? cronNode, unknownZone, `Write ${ZONE}.`);
  return defined({ cron, ...schedule });
}

/** A run has no params except its shard, if it is one on each. */
function refuseParams(
  params: readonly FieldSchema[],
  isOnEachShard: boolean,
  refuse: (problem: string, hint: string) => void,
): void {
  const given = isOnEachShard ? ['group', 'member'] : [];
  const lacking = given.filter(
    (name) => !params.some((each) => each.name === name && each.type.kind === 'number'),
  );
  if (lacking.length > 0)
    refuse(
      `a run on each shard needs the param ${lacking.join(' and the param ')}`,
      'Declare `readonly group: number` and `readonly member: number`: the shard is `ShardIdentifier.of(group, member)`.',
    );
  const required = params.find(({ name, optional }) => !optional && !given.includes(name));
  if (required !== undefined)
    refuse(`the param ${required.name} is required`, 'Make it optional, or remove it: a run has no caller.');
}
