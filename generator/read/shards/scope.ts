import type { ModelSchema, SagaSchema } from '../../schema/project-schema.js';
import type { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { fileOf, locationOf } from '../source-files.js';
import { type Origin, UNKNOWN, type Value } from './origin.js';

/** The context in which an expression is analysed. */
export interface Scope {
  readonly context: ReadContext;
  readonly models: ReadonlyMap<string, ModelSchema>;
  readonly sagas: readonly Pick<SagaSchema, 'file' | 'className'>[];
  /** Values of names in this scope. */
  readonly variables: Map<string, Value>;
  /** Names with further assignments. Their values are unknown. */
  readonly reassigned: ReadonlySet<string>;
  /** Identifies the call that led here, because two calls of a function create two values. */
  readonly path: string;
  /** Whether the code may run more than once. An expression then has several values. */
  readonly isRepeated: boolean;
  /** Repositories of the action by property name. */
  readonly repositories: ReadonlyMap<string, string>;
  /** The value of `this` in a method of a model. */
  readonly self: Value;
  readonly depth: number;
}

/**
 * Returns a value on one unknown shard, for an expression that the analysis cannot follow. In repeated code, returns
 * the unknown value.
 */
export function opaque(scope: Scope, node: ts.Node, text: string = node.getText()): Value {
  if (scope.isRepeated) return UNKNOWN;
  return { kind: 'located', origin: opaqueOrigin(scope, node, text) };
}

function opaqueOrigin(scope: Scope, node: ts.Node, text: string): Origin {
  const shown = text.split('\n', 1)[0] ?? '';
  return {
    key: `${scope.path}${fileOf(node)}:${node.getStart()}`,
    text: shown.length > 60 ? `${shown.slice(0, 57)}...` : shown,
    location: locationOf(node),
  };
}
