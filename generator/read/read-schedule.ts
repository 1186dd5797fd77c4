import { cronProblem } from '../../runtime/cron.js';
import type { ScheduleSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';
import type { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, readOptions } from './read-decorator.js';
import { FLAG, NAME, oneOf, TEXT } from './read-literal.js';

const FIELDS = "minute, hour, day of the month, month and day of the week, as in crontab: '0 3 * * *'";
const ZONE = "an IANA time zone: 'Europe/Berlin'";
const OPTIONS = {
  cron: { isFit: TEXT.isFit, hint: `Write ${FIELDS}.` },
  zone: { isFit: TEXT.isFit, hint: `Write ${ZONE}.` },
  on: oneOf('once', 'each-shard'),
  missed: oneOf('skip', 'once', 'each'),
  principal: NAME,
  overlap: FLAG,
};

/** Reads `@FwSchedule(options)` of an action. @returns undefined, after a report, without valid cron fields and zone */
export function readSchedule(
  context: ReadContext,
  decorator: ts.Decorator,
  { className, params }: { readonly className: string; readonly params: readonly FieldSchema[] },
): ScheduleSchema | undefined {
  const { values, nodes } = readOptions(context, decoratorArguments(decorator)[0], OPTIONS);
  const { cron, zone, on } = values;
  const refuse = (node: ts.Node, problem: string, hint: string): undefined => {
    report(context, 'FWGEN070', node, `${className} cannot be scheduled: ${problem}`, hint);
  };
  refuseParams(params, on === 'each-shard', (problem, hint) => refuse(decorator, problem, hint));
  const cronNode = nodes.get('cron');
  if (cronNode === undefined)
    return refuse(decorator, 'it has no cron fields', `Add the option cron: ${FIELDS}.`);
  if (cron === undefined) return undefined;
  const unfit = cronProblem({ cron, zone: 'UTC' });
  if (unfit !== undefined) return refuse(cronNode, unfit, `Write ${FIELDS}.`);
  const unknownZone = zone === undefined ? undefined : cronProblem({ cron, zone });
  if (unknownZone !== undefined) return refuse(nodes.get('zone') ?? cronNode, unknownZone, `Write ${ZONE}.`);
  return { ...values, cron };
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
