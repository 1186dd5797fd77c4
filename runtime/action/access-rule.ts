import type { ColumnDescriptor } from '../domain/descriptor.js';
import { descriptorOf, type Entity, fieldOf, type ModelDescriptor } from '../domain/entity.js';
import type { Id, ModelClass } from '../domain/id.js';
import { isColumnValue, isComparable } from '../domain/kinds/kinds.js';
import { keyTextOf } from '../domain/natural-key.js';
import type { Principal } from '../domain/principal.js';
import { PlanMisuseError } from '../errors.js';
import type { ActionClass } from './action.js';

/** The facts on which a rule decides. */
export interface Access<Params = unknown> {
  readonly principal: Principal;
  readonly params: Params;
  /**
   * The models of a class that `perform` has read or staged: a read model in the state in which it was read first, any
   * other one in its staged state.
   */
  models<M extends Entity>(modelClass: ModelClass<M>): readonly M[];
  /** The one of these models with this id; undefined if `perform` has neither read nor staged it. */
  model<M extends Entity>(modelClass: ModelClass<M>, id: Id<M>): M | undefined;
  /** Whether there is at least one of these models and every one passes. */
  every<M extends Entity>(modelClass: ModelClass<M>, passes: (model: M) => boolean): boolean;
}

/** True if the caller may do what `perform` has staged. An error of the rule becomes the error of `execute`. */
export type Rule<Params = unknown> = (access: Access<Params>) => boolean;

/** Field values that a model must have; a list allows any of its values. */
type ModelFilter<M> = {
  readonly [Field in keyof M]?: M[Field] | readonly M[Field][] | undefined;
};

/** Which models of a class a principal may see and change. */
export type Visible<M> = 'all' | 'none' | ModelFilter<M>;

/** A rule about the models of one class, which applies to single models and to queries. Created by `visible`. */
export interface ModelRule<M extends Entity = Entity> {
  readonly modelClass: ModelClass<M>;
  /** The models that this principal may see. */
  of(principal: Principal): Visible<M>;
  /** Whether this principal may see this model. */
  allows(principal: Principal, model: M): boolean;
}

/** The argument of `@Allow`. */
export type AccessRule<Params> = Rule<Params> | ModelRule;

/** A global symbol, so that each copy of this package finds the rule of a class. */
const RULE = Symbol.for('fw-actions.access-rule');

/** An action whose params the rule can read. */
type RuledAction<A, Params> =
  A extends ActionClass<infer Own, unknown> ? (Own extends Params ? A : never) : never;

/**
 * Defines who may run an action. Each execution evaluates the rule after `perform` has returned and before any write.
 * If the rule refuses, `execute` throws ForbiddenError (HTTP 403). The rule is also evaluated before a stored result is
 * replayed, and before an error of `perform` about models is passed on.
 *
 * The rule does not apply to the runtime's own executions: actions that a handler starts, and steps of sagas.
 */
export function Allow<Params>(
  rule: AccessRule<Params>,
): <A extends ActionClass<never, unknown>>(
  target: A & RuledAction<A, Params>,
  context?: { readonly kind: 'class' },
) => void {
  return (target) => {
    Object.defineProperty(target, RULE, { value: rule });
  };
}

/** A rule for actions that every caller may run. */
export const everyone: Rule = () => true;

/** The rule of an action class, or of its base class; undefined if there is none. */
export function ruleOf(actionClass: object): AccessRule<unknown> | undefined {
  return (actionClass as { readonly [RULE]?: AccessRule<unknown> })[RULE];
}

/** Who may run an action: every caller, or those whom its rule admits. Undefined: it has no rule. */
export function kindOfRule(actionClass: object): 'everyone' | 'some' | undefined {
  const rule = ruleOf(actionClass);
  return rule === undefined ? undefined : rule === everyone ? 'everyone' : 'some';
}

/**
 * A rule about models: every model of this class that an action reads or stages must have the values that `decide`
 * returns for the principal. Lists of these models are filtered in SQL, before they are cut into pages.
 *
 * @param decide returns `'all'`, `'none'`, or the field values that a model must have
 */
export function visible<M extends Entity>(
  modelClass: ModelClass<M>,
  decide: (principal: Principal) => Visible<M>,
): ModelRule<M> {
  return {
    modelClass,
    of: decide,
    allows: (principal, model) => matches(decide(principal), model),
  };
}

function matches<M extends Entity>(filter: Visible<M>, model: M): boolean {
  if (filter === 'all') return true;
  if (filter === 'none') return false;
  const terms = filterTerms(descriptorOf(model), filter);
  // A filter without conditions is probably a mistake, such as a misspelled variable, so it matches no model.
  if (terms.length === 0) return false;
  return terms.every(({ column: { field, type }, values }) => {
    const value = fieldOf(model, field);
    if (value === null || value === undefined) return false;
    const text = keyTextOf(type, value);
    return values.some((each) => keyTextOf(type, each) === text);
  });
}

/** A column, and the values that it may have. */
export interface FilterTerm {
  readonly column: ColumnDescriptor;
  readonly values: readonly unknown[];
}

/**
 * The terms of a filter. Undefined, null and values of another type than the field's match no model: a claim that the
 * caller lacks, or has in another form, must neither admit every model nor cause a database error.
 *
 * @throws PlanMisuseError for a field that the model does not have, or whose values cannot be compared
 */
export function filterTerms<M>(
  { columns, name }: Pick<ModelDescriptor, 'columns' | 'name'>,
  filter: ModelFilter<M>,
): readonly FilterTerm[] {
  return Object.entries(filter).map(([field, value]) => {
    const column = columns.find((each) => each.field === field);
    if (column === undefined)
      throw new PlanMisuseError(`An access rule names the field ${field}, which ${name} does not have`);
    if (!isComparable(column.type))
      throw new PlanMisuseError(
        `An access rule compares ${field} of ${name}, a document: write a rule that is a function`,
      );
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    const isValue = (each: unknown): boolean =>
      each !== undefined && each !== null && isColumnValue(column, each);
    return { column, values: values.filter(isValue) };
  });
}
