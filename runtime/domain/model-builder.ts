import { memoize } from '../collections/memoize.js';
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
import { takesNull } from './kinds/kinds.js';
import type { ModelEvent } from './model-event.js';
import { compileRules } from './value-rules.js';

/** Version of a new model. */
export const INITIAL_VERSION = 1;

/**
 * Base class of generated builders. A builder is used once: setters change and return it, `build` creates a frozen
 * model. The type of the generated class tracks which required fields are missing.
 */
export abstract class ModelBuilder<M extends Entity> {
  readonly #descriptor: ModelDescriptor<M>;
  #draft: Draft<M> | undefined;
  /** The model that it copies. */
  #source: M | undefined;
  #events: readonly ModelEvent<unknown>[] = [];

  protected constructor(descriptor: ModelDescriptor<M>) {
    this.#descriptor = descriptor;
    this.#draft = startDraft(descriptor);
  }

  /** Attaches an event, which is written to the outbox together with the model's row. */
  withEvent(event: ModelEvent<M>): this {
    this.#events = [...this.#events, event];
    return this;
  }

  /**
   * Copies the base fields (id, state, version, and a model's dates) and the pending events: the implementation of
   * generated `copyBase`. The caller chooses the builder's next type.
   */
  protected carryBase<Next>(model: M): Next {
    const fields = this.#descriptor.kind === 'model' ? MODEL_FIELDS : ENTITY_FIELDS;
    return this.#copy(model, (field) => fields.has(field)) as unknown as Next;
  }

  /** Copies every field: the implementation of generated `copyOf`. */
  protected copyAll(model: M): this {
    return this.#copy(model, () => true);
  }

  /** Sets one field. The caller chooses the builder's next type. */
  protected put<Next>(field: string, value: unknown): Next {
    assign(this.#openDraft(), field, value);
    return this as unknown as Next;
  }

  /**
   * Builds the model with the values that its row will have: a field that may be absent or null, and is absent, becomes
   * null, and a UUID gets lower case.
   *
   * @throws ValidationError "<field> cannot be null" for the first missing required field, and for the first value that
   *   breaks a rule of its field. A value of the copied model is not checked again: its row may be older than the rule
   */
  protected instantiate(): M {
    const draft = this.#openDraft();
    // Default of a new model's `updatedDate`: its `createdDate`.
    if (fieldOf(draft, 'updatedDate') === undefined && fieldOf(draft, 'createdDate') !== undefined) {
      assign(draft, 'updatedDate', fieldOf(draft, 'createdDate'));
    }
    for (const column of this.#descriptor.columns) {
      const { field, optional } = column;
      const value = fieldOf(draft, field);
      if (value === undefined ? !optional : value === null && !takesNull(column)) {
        throw new ValidationError(`${field} cannot be null`, { field });
      }
      // A row has one null for both: what was never set is what will be read.
      if (value === undefined && takesNull(column)) assign(draft, field, null);
    }
    for (const finish of finishing(this.#descriptor)) finish(draft, this.#source);
    this.#draft = undefined;
    return finishDraft(draft, Object.freeze(this.#events));
  }

  #copy(model: M, isCopied: (field: string) => boolean): this {
    const draft = this.#openDraft();
    for (const { field } of this.#descriptor.columns) {
      if (isCopied(field)) assign(draft, field, fieldOf(model, field));
    }
    markCopied(draft, model);
    this.#source = model;
    this.#events = pendingEventsOf(model);
    return this;
  }

  #openDraft(): Draft<M> {
    if (this.#draft === undefined) {
      throw new PlanMisuseError(
        `A builder of ${this.#descriptor.name} can be used only once; create another one`,
      );
    }
    return this.#draft;
  }
}

type DraftStep = (draft: Draft<Entity>, source: Entity | undefined) => void;

/** What fields of a model need before it is frozen, compiled at its first use. */
const finishing = memoize(({ columns }: { readonly columns: readonly ColumnDescriptor[] }) =>
  columns.flatMap((column) => [lowerCase(column), ruleCheck(column)]).filter((step) => step !== undefined),
);

function lowerCase({ field, type }: ColumnDescriptor): DraftStep | undefined {
  if (type.kind !== 'uuid') return undefined;
  return (draft) => {
    const value = fieldOf(draft, field);
    if (typeof value === 'string') assign(draft, field, value.toLowerCase());
  };
}

function ruleCheck({ field, rules, label = field }: ColumnDescriptor): DraftStep | undefined {
  if (rules === undefined) return undefined;
  const broken = compileRules(rules);
  return (draft, source) => {
    const value = fieldOf(draft, field);
    if (source !== undefined && fieldOf(source, field) === value) return;
    const reason = broken(value);
    if (reason !== undefined) throw new ValidationError(`${label} ${reason}`, { field });
  };
}

const ENTITY_FIELDS: ReadonlySet<string> = new Set(['id', 'state', 'version']);
const MODEL_FIELDS: ReadonlySet<string> = new Set([...ENTITY_FIELDS, 'createdDate', 'updatedDate']);
