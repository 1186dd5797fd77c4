import { descriptorOf, type Entity, rowKey, rowOf } from '../domain/entity.js';
import type { Id, ModelClass } from '../domain/id.js';
import type { Principal } from '../domain/principal.js';
import { storedName } from '../domain/stored-names.js';
import { ApplicationError, ForbiddenError, FwError, ModelNotFoundError, ValidationError } from '../errors.js';
import type { Access, AccessRule, Rule, Visible } from './access-rule.js';
import type { StagedItem } from './action-plan.js';

/** The inputs of a check. */
export interface AccessCheckOptions {
  readonly actionName: string;
  readonly rule: AccessRule<never>;
  readonly principal: Principal;
  readonly params: unknown;
  /** Returns the items that the plan has staged so far. */
  readonly items: () => readonly StagedItem[];
}

/** The models that `perform` has read or staged, as a rule sees them. */
class SeenModels implements Access {
  readonly principal: Principal;
  readonly params: unknown;
  readonly #items: AccessCheckOptions['items'];
  readonly #read = new Map<string, Entity>();
  /** Whether the rule has asked for models that `perform` has neither read nor staged. */
  hasMissed = false;

  constructor({ principal, params, items }: AccessCheckOptions) {
    this.principal = principal;
    this.params = params;
    this.#items = items;
  }

  get isEmpty(): boolean {
    return this.#read.size === 0 && this.#items().length === 0;
  }

  add(model: Entity): void {
    const row = rowOf(model);
    if (!this.#read.has(row)) this.#read.set(row, model);
  }

  // Getters of functions, so that a rule can destructure them.
  get models(): Access['models'] {
    return (modelClass) => {
      const found = this.all(modelClass);
      this.hasMissed ||= found.length === 0;
      return found;
    };
  }

  get model(): Access['model'] {
    return <M extends Entity>(modelClass: ModelClass<M>, id: Id<M>) => {
      const found = this.at(rowKey(storedName(modelClass), id.getValue()));
      this.hasMissed ||= found === undefined;
      return found as M | undefined;
    };
  }

  get every(): Access['every'] {
    return (modelClass, passes) => {
      const models = this.models(modelClass);
      return models.length > 0 && models.every(passes);
    };
  }

  /** The model of a row: as it was read first, else as it is staged. */
  at(row: string): Entity | undefined {
    return this.#read.get(row) ?? this.#items().find(({ model }) => rowOf(model) === row)?.model;
  }

  /** The models of a class that were read or staged, each once. Class names are unique. */
  all<M extends Entity>(modelClass: ModelClass<M>): readonly M[] {
    const name = storedName(modelClass);
    const isOfClass = (model: Entity): boolean => descriptorOf(model).name === name;
    const models = [...this.#read.values()].filter(isOfClass);
    for (const { model } of this.#items())
      if (isOfClass(model) && !this.#read.has(rowOf(model))) models.push(model);
    return models as M[];
  }
}

/** Evaluates the rule of an action for one attempt: collects the models that `perform` reads or stages. */
export class AccessCheck {
  readonly #options: AccessCheckOptions;
  readonly #seen: SeenModels;
  /** Rows of models whose events were read. */
  #followed: Set<string> | undefined;
  /** Whether a list was filtered: it contains nothing that the rule hides, even if it is empty. */
  #hasFiltered = false;
  /** Whether a single model of the class was asked for that the rule is about. */
  #hasAsked = false;
  #hasPassed = false;

  constructor(options: AccessCheckOptions) {
    this.#options = options;
    this.#seen = new SeenModels(options);
  }

  /** Records that `perform` asks for one model of this class, whether it exists or not. */
  ask(modelName: string): void {
    if (this.#ruledName() === modelName) this.#hasAsked = true;
  }

  /** Records a model that a repository returns to `perform`. */
  see(model: Entity): void {
    this.#seen.add(model);
  }

  /**
   * Records the id of a model whose events `perform` reads: a rule about its class requires that the model was read
   * too.
   */
  follow({ modelName, id }: { readonly modelName: string; readonly id: string }): void {
    if (this.#ruledName() !== modelName) return;
    this.#hasAsked = true;
    this.#followed ??= new Set();
    this.#followed.add(rowKey(modelName, id));
  }

  /** The models of a class that a list may contain; `'all'` without a rule about them. */
  visibleOf(modelName: string): Visible<Entity> {
    const { rule, principal } = this.#options;
    if (typeof rule === 'function' || storedName(rule.modelClass) !== modelName) return 'all';
    this.#hasFiltered = true;
    return rule.of(principal);
  }

  /** Called when `perform` has returned. @throws ForbiddenError if the rule refuses the caller */
  require(): void {
    if (!this.#passes()) throw this.#forbidden();
    this.#hasPassed = true;
  }

  /**
   * Called instead of `require` if `perform` has failed in the check of a replay. The first call has passed the rule, and
   * `perform` may have failed because of its effects, before it has seen the models that the rule is about. So only
   * what was seen can refuse the caller.
   *
   * @throws ForbiddenError
   */
  requireAgain(): void {
    if (!this.#mayPass()) throw this.#forbidden();
  }

  /**
   * The error that the caller receives if `perform` throws this one. An error about models is passed on only to callers
   * who may see these models. For others, a model that does not exist and a hidden one look the same. A rule about
   * models of one class has no say about a refusal before `perform` has asked for any of them, such as one that the
   * action adds at its end.
   */
  shown(error: unknown): unknown {
    // Once the rule has passed, the caller may see the refusal.
    if (this.#hasPassed || !speaksOfModels(error)) return error;
    if (!this.#hasAsked && this.#seen.isEmpty && !(error instanceof ModelNotFoundError)) return error;
    try {
      return this.#passes() || this.#speaksOfOthers() ? error : this.#forbidden();
    } catch (failure) {
      return failure;
    }
  }

  #passes(): boolean {
    const { rule, principal } = this.#options;
    if (typeof rule === 'function') return (rule as Rule)(this.#seen);
    // A caller who may see all models may also know that one does not exist.
    if (rule.of(principal) === 'all') return true;
    if (!this.#hasSeenFollowed()) return false;
    const models = this.#seen.all(rule.modelClass);
    return models.length === 0 ? this.#hasFiltered : models.every((model) => rule.allows(principal, model));
  }

  /** Whether an error of `perform` cannot speak of the models that the rule is about. */
  #speaksOfOthers(): boolean {
    const { rule, principal } = this.#options;
    if (typeof rule === 'function' || this.#hasAsked) return false;
    return this.#seen.all(rule.modelClass).length === 0 && seesAny(rule.of(principal));
  }

  /** The class that the rule is about; undefined for a function. */
  #ruledName(): string | undefined {
    const { rule } = this.#options;
    return typeof rule === 'function' ? undefined : storedName(rule.modelClass);
  }

  #mayPass(): boolean {
    const { rule, principal } = this.#options;
    if (typeof rule !== 'function') {
      const seen = this.#seen.all(rule.modelClass);
      const passes = (model: Entity): boolean => rule.allows(principal, model);
      return seen.length > 0 ? seen.every(passes) : seesAny(rule.of(principal));
    }
    this.#seen.hasMissed = false;
    try {
      return (rule as Rule)(this.#seen) || this.#seen.hasMissed;
    } catch (error) {
      if (this.#seen.hasMissed) return true;
      throw error;
    }
  }

  #hasSeenFollowed(): boolean {
    if (this.#followed === undefined) return true;
    return [...this.#followed].every((row) => this.#seen.at(row) !== undefined);
  }

  #forbidden(): ForbiddenError {
    const { actionName, principal } = this.#options;
    const { name } = principal;
    return new ForbiddenError(`${name} may not run ${actionName} on this`, { principal: name });
  }
}

/** Whether any model could pass: a claim that the caller lacks is an undefined value. */
function seesAny(filter: Visible<Entity>): boolean {
  if (typeof filter === 'string') return filter === 'all';
  const values = Object.values(filter).map((value) => (Array.isArray(value) ? value[0] : value));
  return values.length > 0 && values.every((value) => value !== undefined && value !== null);
}

/** Codes of errors that reveal nothing about models: an unreachable shard, a defect of the application. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'FW_FORBIDDEN',
  'FW_UNAUTHENTICATED',
  'FW_UNKNOWN_SHARD',
  'FW_SHARD_UNAVAILABLE',
  'FW_SHARD_BUSY',
  'FW_DEADLINE_EXCEEDED',
  'FW_ABORTED',
  'FW_CLOSED',
  'FW_DATABASE',
  'FW_STALE_MODEL',
  'FW_ROW_BUSY',
]);

function speaksOfModels(error: unknown): boolean {
  if (error instanceof ValidationError || error instanceof ApplicationError) return true;
  return error instanceof FwError && !SAYS_NOTHING.has(error.code);
}
