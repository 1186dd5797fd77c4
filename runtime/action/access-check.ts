import { descriptorOf, type Entity, rowKey, rowOf } from '../domain/entity.js';
import type { Id, ModelClass } from '../domain/id.js';
import type { Principal } from '../domain/principal.js';
import { ApplicationError, ForbiddenError, FwError, ModelNotFoundError, ValidationError } from '../errors.js';
import type { Access, AccessRule, Rule, Visible } from './access-rule.js';
import type { StagedItem } from './action-plan.js';

/** What a check is made of. */
export interface AccessCheckOptions {
  readonly actionName: string;
  readonly rule: AccessRule<never>;
  readonly principal: Principal;
  readonly params: unknown;
  /** What the plan holds so far. */
  readonly items: () => readonly StagedItem[];
}

/** One attempt's question to the rule of its action: gathers the models that `perform` comes to. */
export class AccessCheck implements Access {
  readonly principal: Principal;
  readonly params: unknown;
  readonly #options: AccessCheckOptions;
  readonly #read = new Map<string, Entity>();
  /** Rows of models whose events were read. */
  #followed: Set<string> | undefined;
  /** A list that was filtered has shown nothing that the rule hides, even if it is empty. */
  #hasFiltered = false;
  #hasPassed = false;

  constructor(options: AccessCheckOptions) {
    this.principal = options.principal;
    this.params = options.params;
    this.#options = options;
  }

  /** Takes a model that a repository gives to `perform`. */
  see(model: Entity): void {
    const row = rowOf(model);
    if (!this.#read.has(row)) this.#read.set(row, model);
  }

  /**
   * Takes the id of a model whose events `perform` reads: under a rule about its class, the model must be read, too.
   */
  follow({ modelName, id }: { readonly modelName: string; readonly id: string }): void {
    const { rule } = this.#options;
    if (typeof rule === 'function' || rule.modelClass.name !== modelName) return;
    this.#followed ??= new Set();
    this.#followed.add(rowKey(modelName, id));
  }

  /** What a list of these models may show; `'all'` without a rule about them. */
  visibleOf(modelName: string): Visible<Entity> {
    const { rule } = this.#options;
    if (typeof rule === 'function' || rule.modelClass.name !== modelName) return 'all';
    this.#hasFiltered = true;
    return rule.of(this.principal);
  }

  // Properties, so that a rule can take them out of the object.
  readonly models = <M extends Entity>({ name }: ModelClass<M>): readonly M[] =>
    // One name, one class.
    [...this.#seen().values()].filter((model) => descriptorOf(model).name === name) as M[];

  readonly model = <M extends Entity>({ name }: ModelClass<M>, id: Id<M>): M | undefined =>
    this.#seen().get(rowKey(name, id.getValue())) as M | undefined;

  readonly every = <M extends Entity>(modelClass: ModelClass<M>, passes: (model: M) => boolean): boolean => {
    const models = this.models(modelClass);
    return models.length > 0 && models.every(passes);
  };

  /** Called when `perform` has returned. @throws ForbiddenError if the rule says no */
  require(): void {
    if (!this.#passes()) throw this.#forbidden();
    this.#hasPassed = true;
  }

  /**
   * The error that the caller is shown if `perform` throws this one. What speaks of models is shown to callers who may
   * see these models; to others a model that does not exist and one that they may not see look alike.
   */
  shown(error: unknown): unknown {
    // Once the rule has passed, what is refused is the caller's to know.
    if (this.#hasPassed || !speaksOfModels(error)) return error;
    const isNotFound = error instanceof ModelNotFoundError;
    if (!isNotFound && this.#seen().size === 0) return error;
    try {
      return this.#passes() ? error : this.#forbidden();
    } catch (failure) {
      return failure;
    }
  }

  #passes(): boolean {
    const { rule } = this.#options;
    if (typeof rule === 'function') return (rule as Rule)(this);
    // Who may see all models may know as well that there is none.
    if (rule.of(this.principal) === 'all') return true;
    const { modelClass } = rule;
    if (!this.#hasSeenFollowed()) return false;
    const passes = (model: Entity): boolean => rule.allows(this.principal, model);
    return (this.#hasFiltered && this.models(modelClass).length === 0) || this.every(modelClass, passes);
  }

  #hasSeenFollowed(): boolean {
    if (this.#followed === undefined) return true;
    const seen = this.#seen();
    return [...this.#followed].every((row) => seen.has(row));
  }

  #seen(): ReadonlyMap<string, Entity> {
    const staged = this.#options.items().map(({ model }) => [rowOf(model), model] as const);
    return new Map([...staged, ...this.#read]);
  }

  #forbidden(): ForbiddenError {
    return new ForbiddenError(`${this.principal.name} may not run ${this.#options.actionName} on this`);
  }
}

/** Codes of errors that say nothing about models: a shard out of reach, a defect of the application. */
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
