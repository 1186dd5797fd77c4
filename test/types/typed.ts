import { Decimal, Id, ShardedId } from 'fw-actions';

/** A value with the types of its parts, which comparisons of objects might miss. */
export function typed(value: unknown): unknown {
  if (value instanceof Date) return `Date ${value.toISOString()}`;
  if (value instanceof Decimal) return `Decimal ${value.toFixed()}`;
  if (value instanceof ShardedId) return `ShardedId<${value.modelName}> ${value.getValue()}`;
  if (value instanceof Id) return `Id<${value.modelName}> ${value.getValue()}`;
  if (typeof value === 'bigint') return `bigint ${value}`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(typed);
  const names = Object.keys(value).sort();
  return names.map((name) => [name, typed(Reflect.get(value, name))]);
}
