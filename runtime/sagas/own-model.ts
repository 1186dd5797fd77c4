import type { ColumnDescriptor } from '../domain/descriptor.js';
import type { ModelDescriptor } from '../domain/entity.js';
import type { Model } from '../domain/model.js';
import { ModelBuilder } from '../domain/model-builder.js';
import { storedText } from '../domain/storable-text.js';
import type { SagaFailure } from './saga-step.js';

/** Values for fields of a model; undefined clears a field. */
export type FieldsOf<M> = { readonly [Field in keyof M]?: M[Field] | undefined };

/** Builder for the runtime's own models, which have no generated builder. */
export class OwnBuilder<M extends Model> extends ModelBuilder<M> {
  /** Makes the base class's protected constructor public. */
  constructor(descriptor: ModelDescriptor<M>) {
    super(descriptor);
  }

  from(model: M): this {
    return this.copyAll(model);
  }

  with(fields: FieldsOf<M>): this {
    for (const [field, value] of Object.entries(fields)) this.put(field, value);
    return this;
  }

  build(): M {
    return this.instantiate();
  }
}

/** The columns of such a model: those of every model, its own, and its failure. */
export function ownColumns(
  model: string,
  states: readonly string[],
  own: readonly ColumnDescriptor[],
): readonly ColumnDescriptor[] {
  return [
    { field: 'id', column: 'id', type: { kind: 'id', model, sharded: true }, sqlType: 'uuid' },
    { field: 'state', column: 'state', type: { kind: 'enum', values: states }, sqlType: 'text' },
    column('version', 'version', 'number', 'bigint'),
    ...own,
    optional(column('failureCode', 'failure_code', 'string', 'text')),
    optional(column('failureMessage', 'failure_message', 'string', 'text')),
    column('createdDate', 'created_date', 'instant', 'timestamptz'),
    column('updatedDate', 'updated_date', 'instant', 'timestamptz'),
  ];
}

export function column(
  field: string,
  name: string,
  kind: 'string' | 'number' | 'instant',
  sqlType: string,
): ColumnDescriptor {
  return { field, column: name, type: { kind }, sqlType };
}

export function optional(column: ColumnDescriptor): ColumnDescriptor {
  return { ...column, optional: true };
}

export interface FailureFields {
  readonly failureCode?: string;
  readonly failureMessage?: string;
}

export function failureFields({ code, message }: SagaFailure): Required<FailureFields> {
  // A message may contain characters that a database cannot store, and have any length.
  return { failureCode: storedText(code), failureMessage: storedText(message) };
}

export function readFailure({
  failureCode: code,
  failureMessage: message,
}: FailureFields): SagaFailure | undefined {
  return code === undefined || message === undefined ? undefined : { code, message };
}
