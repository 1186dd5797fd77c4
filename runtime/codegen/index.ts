/** The only entry that emitted code imports. Its contract has its own version: `CODEGEN_VERSION`. */
export type { Action } from '../action/action.js';
export type { ActionDescriptor, ResultType } from '../action/action-descriptor.js';
export type { KeyedModels } from '../action/action-plan.js';
export { ActionRegistry } from '../action/action-registry.js';
export type { FieldMarker, HandlerSettings, Marker } from '../action/markers.js';
export type { ApplicationDefinition, WiringContext } from '../application-definition.js';
export type { Clock } from '../domain/clock.js';
export type { ColumnSet } from '../domain/column-set.js';
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
export {
  column,
  type FieldMap,
  type FieldOptions,
  type FieldTypes,
  namedFields,
  objectType,
  t,
  type UnnamedField,
} from '../domain/field-types.js';
export type { Id, ShardedId } from '../domain/id.js';
export type { JsonObject, JsonValue } from '../domain/json.js';
export { INITIAL_VERSION, ModelBuilder } from '../domain/model-builder.js';
export type { KeyLookup, KeyOf, KeyPlace, modelKeys } from '../domain/natural-key.js';
export { type TypedUpcaster, typedUpcasters } from '../domain/upcast.js';
export type { Uuid } from '../domain/uuid.js';
export type { Bounds, ValueRules } from '../domain/value-rules.js';
export type { EventHandler, HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
export type { RouteDescriptor } from '../http/route.js';
export { defineMigration, type Migration } from '../migration/migration.js';
export type { ApiInfo } from '../openapi/document.js';
export type { DocumentedRoute } from '../openapi/documented-route.js';
export { EventHistory } from '../persistence/read/event-history.js';
export type { RepositoryContext, TableName } from '../persistence/read/repository.js';
export { Repository } from '../persistence/read/repository.js';
export { defineSaga, type SagaDescriptor } from '../sagas/saga-descriptor.js';
export { type RunningServer, type ServeOptions, serve } from '../serve.js';
export {
  type ActionDeclaration,
  type DeclaredAction,
  type DeclaredActions,
  defineAction,
  fieldResult,
  type RouteDeclaration,
  routesOf,
  wireActions,
} from './define-action.js';
export { type ApplicationPart, joinParts } from './join-parts.js';
export { CODEGEN_VERSION, type modelType } from './version.js';
