import { sql } from 'kysely';
import type { AccessCheck } from '../../action/access-check.js';
import { filterTerms } from '../../action/access-rule.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { columnCodec } from '../codec/column-codec.js';
import type { AnyQuery } from './list-statement.js';

type Where = (query: AnyQuery) => AnyQuery;

/**
 * Adds the conditions of the running action's access rule to a list's own, so that hidden models do not count towards a
 * page.
 *
 * @throws PlanMisuseError if the rule names a field that the model does not have
 */
export function visibleOnly(
  model: ModelDescriptor,
  where: Where | undefined,
  access: Pick<AccessCheck, 'visibleOf'> | undefined,
): Where {
  const own: Where = where ?? ((query) => query);
  const visible = access?.visibleOf(model.name) ?? 'all';
  if (visible === 'all') return own;
  const terms = visible === 'none' ? [] : filterTerms(model, visible);
  const conditions = terms.map(({ column, values }) => ({
    name: `${model.table}.${column.column}`,
    texts: values.map(columnCodec(column).toText),
  }));
  const isNothing = conditions.length === 0 || conditions.some(({ texts }) => texts.length === 0);
  if (isNothing) return (query) => own(query).where(sql<boolean>`false`);
  return (query) =>
    conditions.reduce((narrowed, { name, texts }) => narrowed.where(name, 'in', texts), own(query));
}
