import { normalizeType } from '../domain/sql-type.js';

/** Types in ascending order: each can represent every value of the previous ones. */
const LADDERS: readonly (readonly string[])[] = [
  ['smallint', 'integer', 'bigint', 'numeric'],
  ['smallint', 'real', 'double precision'],
  ['integer', 'double precision'],
  ['character', 'character varying', 'text'],
  ['uuid', 'text'],
  ['json', 'jsonb'],
];

/** Whether every value of one type is also a value of the other. */
export function isWidening(from: string, to: string): boolean {
  const [before, after] = [partsOf(normalizeType(from)), partsOf(normalizeType(to))];
  if (before.array || after.array) return false;
  if (before.name === after.name) return holdsParameters(before, after);
  const climbs = LADDERS.some((names) => {
    const step = names.indexOf(before.name);
    return step >= 0 && names.indexOf(after.name) > step;
  });
  if (!climbs || after.parameters.length === 0) return climbs;
  // Any text fits a longer limit; numeric types are compared by their digits below.
  return before.parameters.length > 0 && after.name === 'character varying' && holdsParameters(before, after);
}

/** Whether code that is written for one type can use a column of the other: it reads and writes the same values. */
export function canReplace(type: string, wider: string): boolean {
  const [before, after] = [partsOf(normalizeType(type)), partsOf(normalizeType(wider))];
  const isSameKind = before.name === after.name || (TEXTS.has(before.name) && TEXTS.has(after.name));
  return isSameKind && isWidening(type, wider);
}

const TEXTS: ReadonlySet<string> = new Set(['character varying', 'text']);

interface TypeParts {
  readonly name: string;
  readonly parameters: readonly number[];
  readonly array: boolean;
}

function partsOf(type: string): TypeParts {
  const [, name = type, parameters] = /^([^([]+)(?:\(([^)]*)\))?/.exec(type) ?? [];
  return {
    name,
    parameters: parameters === undefined ? [] : parameters.split(',').map(Number),
    array: type.endsWith('[]'),
  };
}

function holdsParameters(before: TypeParts, after: TypeParts): boolean {
  if (after.parameters.length === 0) return true;
  if (before.parameters.length === 0) return false;
  const [precision = 0, scale = 0] = before.parameters;
  const [nextPrecision = 0, nextScale = 0] = after.parameters;
  // Neither integer digits nor decimal places may become fewer.
  return nextScale >= scale && nextPrecision - nextScale >= precision - scale;
}
