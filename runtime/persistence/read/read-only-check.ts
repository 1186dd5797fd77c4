import type { OperationNode, OperationNodeKind, SelectModifier, TableNode } from 'kysely';
import { WriteInPerformError } from '../../errors.js';
import { isPlainTable } from './model-tables.js';

/** Whether a query's syntax tree shows everything that the query does. */
export type ReadOnlyVerdict = 'transparent' | 'opaque';

/** Node kinds of a SELECT. Every other kind is refused, including those of later Kysely versions. */
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

/** Raw SQL that Kysely itself and the lists of this package use. */
const HARMLESS_RAW: ReadonlySet<string> = new Set(['asc', 'desc', '', ' collate "C"']);

/**
 * Checks every node of a query.
 *
 * @returns `opaque` if the query holds raw SQL, calls a function that is not known to be pure, or reads a relation that
 *   may be a view
 * @throws WriteInPerformError for a node that no SELECT contains, and for row locks
 */
export function checkReadOnly(root: OperationNode): ReadOnlyVerdict {
  if (root.kind !== 'SelectQueryNode' && root.kind !== 'RawNode') throw refusal(root.kind);
  let verdict: ReadOnlyVerdict = 'transparent';
  const relations: Relation[] = [];
  const defined = new Set<string>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const part = pending.pop();
    if (isNode(part)) {
      if (checkNode(part) === 'opaque') verdict = 'opaque';
      if (part.kind === 'TableNode') relations.push(relationOf(part));
      else if (part.kind === 'CommonTableExpressionNameNode' && 'table' in part && isNode(part.table))
        defined.add(relationOf(part.table).name);
      else if (part.kind === 'ReferenceNode') {
        // The table of a column is an alias, or a relation of the query's FROM clause.
        if ('column' in part) pending.push(part.column);
        continue;
      }
      // Values are the caller's data, not part of the syntax tree.
      if (part.kind === 'ValueNode' || part.kind === 'PrimitiveValueListNode') continue;
    }
    if (typeof part === 'object' && part !== null) pending.push(...Object.values(part));
  }
  const isKnown = ({ schema, name }: Relation): boolean =>
    isPlainTable(schema, name) || (schema === undefined && defined.has(name));
  return relations.every(isKnown) ? verdict : 'opaque';
}

interface Relation {
  readonly schema: string | undefined;
  readonly name: string;
}

/** The relation that a node names. A node of another shape names no known relation. */
function relationOf(node: OperationNode): Relation {
  const { table } = node as Partial<TableNode>;
  return { schema: table?.schema?.name, name: table?.identifier.name ?? '' };
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
