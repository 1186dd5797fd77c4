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
  /** Names that are known here. */
  readonly variables: Map<string, Value>;
  /** Names that something assigns to again: nothing is known of them. */
  readonly reassigned: ReadonlySet<string>;
  /** The call that led here, so that two calls of one function make two values. */
  readonly path: string;
  /** It may run more than once: an expression gives another value each time. */
  readonly isRepeated: boolean;
  /** Repositories that the action was constructed with, by property name. */
  readonly repositories: ReadonlyMap<string, string>;
  /** What `this` is, in a method of a model. */
  readonly self: Value;
  readonly depth: number;
}

/** A value that the analysis cannot look into: it is on one unknown shard. In repeated code nothing is known of it. */
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
