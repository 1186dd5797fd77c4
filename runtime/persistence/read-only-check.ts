import type { OperationNode, OperationNodeKind, SelectModifier } from 'kysely';
import { WriteInPerformError } from '../errors.js';

/** Whether a query's syntax tree says all that the query does. */
export type ReadOnlyVerdict = 'transparent' | 'opaque';

/** What a SELECT is made of. Any other kind of node is refused, those of later Kysely versions included. */
const READING: ReadonlySet<OperationNodeKind> = new Set<OperationNodeKind>([
  'AggregateFunctionNode',
  'AliasNode',
  'AndNode',
  'BinaryOperationNode',
  'CaseNode',
  'CastNode',
  'CollateNode',
  'ColumnNode',
  'CommonTableExpressionNameNode',
  'CommonTableExpressionNode',
  'DataTypeNode',
  'ExplainNode',
  'FetchNode',
  'FromNode',
  'FunctionNode',
  'GroupByItemNode',
  'GroupByNode',
  'HavingNode',
  'IdentifierNode',
  'JSONOperatorChainNode',
  'JSONPathLegNode',
  'JSONPathNode',
  'JSONReferenceNode',
  'JoinNode',
  'LimitNode',
  'ListNode',
  'OffsetNode',
  'OnNode',
  'OperatorNode',
  'OrNode',
  'OrderByItemNode',
  'OrderByNode',
  'OverNode',
  'ParensNode',
  'PartitionByItemNode',
  'PartitionByNode',
  'PrimitiveValueListNode',
  'RawNode',
  'ReferenceNode',
  'SchemableIdentifierNode',
  'SelectAllNode',
  'SelectModifierNode',
  'SelectQueryNode',
  'SelectionNode',
  'SetOperationNode',
  'TableNode',
  'TupleNode',
  'UnaryOperationNode',
  'UsingNode',
  'ValueListNode',
  'ValueNode',
  'ValuesNode',
  'WhenNode',
  'WhereNode',
  'WithNode',
]);

/** Built-in functions without effects. Any other function may write. */
const PURE_FUNCTIONS: ReadonlySet<string> = new Set([
  ...[
    'any',
    'array_agg',
    'avg',
    'bool_and',
    'bool_or',
    'coalesce',
    'concat',
    'count',
    'date_trunc',
    'dense_rank',
  ],
  ...[
    'every',
    'first_value',
    'json_agg',
    'jsonb_agg',
    'lag',
    'last_value',
    'lead',
    'length',
    'lower',
    'max',
    'min',
  ],
  ...[
    'now',
    'nullif',
    'rank',
    'round',
    'row_number',
    'string_agg',
    'substring',
    'sum',
    'to_json',
    'to_jsonb',
    'trim',
    'upper',
  ],
]);

/** What Kysely itself and the lists of this package write as raw SQL. */
const HARMLESS_RAW: ReadonlySet<string> = new Set(['asc', 'desc', '', ' collate "C"']);

/**
 * Looks at every node of a query.
 *
 * @returns `opaque` if it holds raw SQL or calls a function that is not known to be pure
 * @throws WriteInPerformError for anything that no SELECT consists of, and for row locks
 */
export function checkReadOnly(root: OperationNode): ReadOnlyVerdict {
  if (root.kind !== 'SelectQueryNode' && root.kind !== 'RawNode') throw refusal(root.kind);
  let verdict: ReadOnlyVerdict = 'transparent';
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const part = pending.pop();
    if (isNode(part)) {
      if (checkNode(part) === 'opaque') verdict = 'opaque';
      // Values are the caller's data, not part of the tree.
      if (part.kind === 'ValueNode' || part.kind === 'PrimitiveValueListNode') continue;
    }
    if (typeof part === 'object' && part !== null) pending.push(...Object.values(part));
  }
  return verdict;
}

function checkNode(node: OperationNode): ReadOnlyVerdict {
  if (!READING.has(node.kind)) throw refusal(node.kind);
  switch (node.kind) {
    case 'RawNode':
      return isHarmless(node) ? 'transparent' : 'opaque';
    case 'FunctionNode':
    case 'AggregateFunctionNode':
      return 'func' in node && PURE_FUNCTIONS.has(String(node.func)) ? 'transparent' : 'opaque';
    case 'SelectModifierNode':
      return checkModifier('modifier' in node ? node.modifier : undefined);
    default:
      return 'transparent';
  }
}

function isHarmless(raw: OperationNode): boolean {
  const fragments = 'sqlFragments' in raw && Array.isArray(raw.sqlFragments) ? raw.sqlFragments : [];
  return fragments.length > 0 && fragments.every((fragment) => HARMLESS_RAW.has(String(fragment)));
}

function checkModifier(modifier: unknown): ReadOnlyVerdict {
  const distinct: SelectModifier = 'Distinct';
  if (modifier === undefined) return 'opaque';
  if (modifier === distinct) return 'transparent';
  throw new WriteInPerformError(
    `Row locks (${String(modifier)}) are not available here: use plan().expect(...)`,
  );
}

function isNode(part: unknown): part is OperationNode {
  return typeof part === 'object' && part !== null && 'kind' in part && typeof part.kind === 'string';
}

function refusal(kind: string): WriteInPerformError {
  return new WriteInPerformError(
    `Only SELECT is available here, got ${kind.replace(/Node$/, '')}: stage changes with plan().add and plan().update`,
  );
}
