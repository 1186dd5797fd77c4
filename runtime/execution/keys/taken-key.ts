import type { StagedItem } from '../../action/action-plan.js';
import { keyText } from '../../domain/natural-key.js';
import { UniqueViolationError } from '../../errors.js';
import type { Retry } from '../attempt.js';

type Taken = Required<Pick<Retry, 'error' | 'wanted'>>;

/**
 * The violation of a natural key of one of these models, with the model's field names and the values that they have.
 *
 * @param violation of the database, or the index of a key that another plan of this process has
 */
export function keyTaken(
  items: readonly StagedItem[],
  { table, constraint, cause }: Partial<Pick<UniqueViolationError, 'table' | 'constraint' | 'cause'>>,
): Taken | undefined {
  for (const { descriptor } of items) {
    if (table !== undefined && descriptor.table !== table) continue;
    const key = descriptor.keys?.find(({ index }) => index === constraint);
    if (key === undefined) continue;
    const message = `Another ${descriptor.name} has the same ${key.fields.join(', ')}`;
    const facts = { table: descriptor.table, constraint, fields: key.fields };
    const error = new UniqueViolationError(message, { cause, ...facts });
    const wanted = items.flatMap((item) => (item.descriptor === descriptor ? keyText(key, item.model) : []));
    return { error, wanted: [constraint, ...wanted].join() };
  }
  return undefined;
}

/**
 * After a wait for another plan with one of its keys: the key is taken if that plan was applied, or if an earlier
 * attempt with the same values has met another holder. Undefined: it may be free again.
 *
 * @param known the values for which the last attempt has met a holder
 */
export function takenMeanwhile(
  items: readonly StagedItem[],
  constraint: string,
  isApplied: boolean,
  known: string | undefined,
): Retry | undefined {
  const taken = keyTaken(items, { constraint });
  if (taken === undefined || !(isApplied || taken.wanted === known)) return undefined;
  return { kind: 'retry', end: 'key-taken', ...taken };
}
