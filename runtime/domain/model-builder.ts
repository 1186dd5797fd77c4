import { PlanMisuseError, ValidationError } from '../errors.js';
import type { ColumnDescriptor } from './descriptor.js';
import type { ModelDescriptor } from './entity.js';
import {
  assign,
  type Draft,
  type Entity,
  fieldOf,
  finishDraft,
  markCopied,
  pendingEventsOf,
  startDraft,
} from './entity.js';
import type { ModelEvent } from './model-event.js';
import { compileRules } from './value-rules.js';

/** Version of a new model. */
export const INITIAL_VERSION = 1;

/**
 * Base of generated builders. A builder is used once: setters change it and return it, `build` makes a frozen
 * model. Which required fields are still missing is tracked in the generated class's type.
 */
export abstract class ModelBuilder<M extends Entity> {
  readonly #descriptor: ModelDescriptor<M>;
  #draft: Draft<M> | undefined;
  #events: readonly ModelEvent<unknown>[] = [];

  protected constructor(descriptor: ModelDescriptor<M>) {
    this.#descriptor = descriptor;
    this.#draft = startDraft(descriptor);
  }

  /** Attaches an event: it is written to the outbox with the model's row. */
  withEvent(event: ModelEvent<M>): this {
    this.#events = [...this.#events, event];
    return this;
  }

  /**
   * Carries over the base fields (id, state, version, and a model's dates) and the events that are still pending:
   * what generated `copyBase` does. The caller names the builder's next type.
   */
  protected carryBase<Next>(model: M): Next {
    const fields = this.#descriptor.kind === 'model' ? MODEL_FIELDS : ENTITY_FIELDS;
    return this.#copy(model, (field) => fields.has(field)) as unknown as Next;
  }

  /** Carries over every field: what generated `copyOf` does. */
  protected copyAll(model: M): this {
    return this.#copy(model, () => true);
  }

  /** Sets one field. The caller names the builder's next type. */
  protected put<Next>(field: string, value: unknown): Next {
    assign(this.#openDraft(), field, value);
    return this as unknown as Next;
  }

  /**
   * Makes the model.
   *
   * @throws ValidationError "<field> cannot be null" for the first required field not set, and for the first value that
   * breaks a rule of its field
   */
  protected instantiate(): M {
    const draft = this.#openDraft();
    // A new model was last changed when it was created, unless its creator says otherwise.
    if (fieldOf(draft, 'updatedDate') === undefined && fieldOf(draft, 'createdDate') !== undefined) {
      assign(draft, 'updatedDate', fieldOf(draft, 'createdDate'));
    }
    for (const { field, optional, nullable } of this.#descriptor.columns) {
      const value = fieldOf(draft, field);
      if (value === undefined ? !optional : value === null && !nullable) {
        throw new ValidationError(`${field} cannot be null`, { field });
      }
    }
    for (const check of ruleChecks(this.#descriptor)) check(draft);
    this.#draft = undefined;
    return finishDraft(draft, Object.freeze(this.#events));
  }

  #copy(model: M, isCopied: (field: string) => boolean): this {
    const draft = this.#openDraft();
    for (const { field } of this.#descriptor.columns) {
      if (isCopied(field)) assign(draft, field, fieldOf(model, field));
    }
    markCopied(draft, model);
    this.#events = pendingEventsOf(model);
    return this;
  }

  #openDraft(): Draft<M> {
    if (this.#draft === undefined) {
      throw new PlanMisuseError(`A builder of ${this.#descriptor.name} is used once; start another one`);
    }
    return this.#draft;
  }
}

type DraftCheck = (draft: object) => void;

const checksOf = new WeakMap<object, readonly DraftCheck[]>();

/** Checks of the fields that have rules, compiled at the first use of a model. */
function ruleChecks(descriptor: { readonly columns: readonly ColumnDescriptor[] }): readonly DraftCheck[] {
  let checks = checksOf.get(descriptor);
  if (checks === undefined) {
    checks = descriptor.columns.flatMap((column) => ruleCheck(column) ?? []);
    checksOf.set(descriptor, checks);
  }
  return checks;
}

function ruleCheck({ field, rules, label = field }: ColumnDescriptor): DraftCheck | undefined {
  if (rules === undefined) return undefined;
  const broken = compileRules(rules);
  return (draft) => {
    const reason = broken(Reflect.get(draft, field));
    if (reason !== undefined) throw new ValidationError(`${label} ${reason}`, { field });
  };
}

const ENTITY_FIELDS: ReadonlySet<string> = new Set(['id', 'state', 'version']);
const MODEL_FIELDS: ReadonlySet<string> = new Set([...ENTITY_FIELDS, 'createdDate', 'updatedDate']);
