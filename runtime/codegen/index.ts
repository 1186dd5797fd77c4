/** The only entry that emitted code imports. Its contract has its own version: `CODEGEN_VERSION`. */
export type { ActionDescriptor } from '../action/action-descriptor.js';
export { ActionRegistry } from '../action/action-registry.js';
export type { HandlerSettings } from '../action/markers.js';
export type { ApplicationDefinition } from '../application-definition.js';
export type { Currency } from '../domain/currency.js';
export type { Decimal } from '../domain/decimal.js';
export type {
  ColumnDescriptor,
  EventDescriptor,
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  NaturalKey,
  ObjectType,
} from '../domain/descriptor.js';
export type { ModelDescriptor } from '../domain/entity.js';
export { column, namedFields, objectType, t, type UnnamedField } from '../domain/field-types.js';
export type { Id, ShardedId } from '../domain/id.js';
export type { JsonObject, JsonValue } from '../domain/json.js';
export { INITIAL_VERSION, ModelBuilder } from '../domain/model-builder.js';
export type { KeyLookup, modelKeys } from '../domain/natural-key.js';
export { typedUpcasters } from '../domain/upcast.js';
export type { Uuid } from '../domain/uuid.js';
export type { ValueRules } from '../domain/value-rules.js';
export type { HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
export type { RepositoryContext } from '../persistence/read/repository.js';
export { Repository } from '../persistence/read/repository.js';
export { defineSaga, type SagaDescriptor } from '../sagas/saga-descriptor.js';
export { type RunningServer, type ServeOptions, serve } from '../serve.js';
export { defineAction, fieldResult, routesOf, wireActions } from './define-action.js';
export { type ApplicationPart, joinParts } from './join-parts.js';
export { CODEGEN_VERSION, type modelType } from './version.js';
