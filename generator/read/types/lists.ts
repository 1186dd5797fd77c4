import { ts } from '../compiler.js';
import type { Reading } from './reading.js';
import { plain, type ReadType, unsupported } from './type-results.js';

const ITEM_HINT =
  'Items of a list cannot be undefined or models. Write `T | null` for an item that may be missing.';

/** Reads `T[]`. */
export function readList(reading: Reading, element: ts.TypeNode, list: ts.TypeNode): ReadType {
  const { type, nullable, optional } = reading.read({ ...reading, shape: 'value' }, element);
  if (type.kind === 'unsupported') return plain(type);
  if (optional || type.kind === 'void' || type.kind === 'model') return unsupported(list, ITEM_HINT);
  return plain({ kind: 'list', of: type, ...(nullable ? { nullable: true } : {}) });
}

/** Reads `[A, B?, ...C[]]`. */
export function readTuple(reading: Reading, node: ts.TupleTypeNode): ReadType {
  const inner: Reading = { ...reading, shape: 'value' };
  const items = node.elements.flatMap((element) => {
    const member = ts.isNamedTupleMember(element) ? element.type : element;
    const isRest =
      ts.isRestTypeNode(member) || (ts.isNamedTupleMember(element) && element.dotDotDotToken !== undefined);
    const isOptional =
      ts.isOptionalTypeNode(member) ||
      (ts.isNamedTupleMember(element) && element.questionToken !== undefined);
    const bare = ts.isRestTypeNode(member) || ts.isOptionalTypeNode(member) ? member.type : member;
    const { type, nullable, optional } = reading.read(inner, bare);
    // A spread tuple without a rest is replaced by its elements.
    if (isRest && type.kind === 'tuple' && type.rest === undefined)
      return type.items.map((item) => ({ isRest: false, item }));
    return {
      isRest,
      item: {
        type,
        ...(nullable ? { nullable: true as const } : {}),
        ...(optional || isOptional ? { optional: true as const } : {}),
      },
    };
  });
  const broken = items.find(({ item }) => item.type.kind === 'unsupported');
  if (broken !== undefined) return plain(broken.item.type);
  const last = items.at(-1);
  const fixed = items.filter(({ isRest }) => !isRest).map(({ item }) => item);
  if (last?.isRest !== true)
    return items.some(({ isRest }) => isRest)
      ? unsupported(node, TUPLE_HINT)
      : plain({ kind: 'tuple', items: fixed });
  if (fixed.length < items.length - 1 || last.item.type.kind !== 'list') return unsupported(node, TUPLE_HINT);
  const { of, nullable } = last.item.type;
  return plain({ kind: 'tuple', items: fixed, rest: { type: of, ...(nullable ? { nullable } : {}) } });
}

const TUPLE_HINT = 'Only the last element of a tuple can be a rest element: `[string, ...number[]]`.';
