import { Cron } from 'croner';

/** When recurring work is due. */
export interface CronTime {
  /** Five fields, as in crontab: minute, hour, day of the month, month, day of the week. */
  readonly cron: string;
  /** IANA time zone of the fields: `Europe/Berlin`. */
  readonly zone: string;
}

/**
 * The first due time after a time.
 *
 * When the clocks change, the rules of Vixie cron apply. Minute and hour without a `*` or a step are fixed times: one in
 * the skipped hour is due right after it, and one in the repeated hour once. Others are intervals of elapsed time.
 *
 * A day must match both of its fields if one of them begins with `*`, and otherwise one of them.
 *
 * @throws RangeError if fields or zone are invalid, or no time is ever due
 */
export function nextDue({ cron, zone }: CronTime, after: Date): Date {
  // The package also accepts a date, and takes an empty zone for that of the machine.
  if (!/^\S+( +\S+){4}$/.test(cron)) throw new RangeError(`'${cron}' does not have five fields`);
  if (zone === '') throw new RangeError('the time zone is empty');
  const [, , day = '', , weekday = ''] = cron.split(/ +/);
  const domAndDow = day.startsWith('*') || weekday.startsWith('*');
  const pattern = refusing(
    (reason) => `'${cron}' is invalid: ${reason}`,
    () => new Cron(cron, { timezone: zone, mode: '5-part', fixedTimeRule: 'no-wildcard', domAndDow }),
  );
  // Only here is the zone read.
  const next = refusing(
    () => `'${zone}' is not an IANA time zone`,
    () => pattern.nextRun(after),
  );
  if (next === null) throw new RangeError(`'${cron}' is never due`);
  return next;
}

/** Why fields or zone are invalid; undefined if they are valid. */
export function cronProblem(time: CronTime): string | undefined {
  try {
    nextDue(time, new Date(0));
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Calls the package, whose errors become RangeErrors. */
function refusing<T>(message: (reason: string) => string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause);
    throw new RangeError(message(reason), { cause });
  }
}
