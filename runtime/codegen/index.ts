/** The only entry that emitted code imports. Its contract has a version of its own: `CODEGEN_VERSION`. */
export type { Action } from '../action/action.js';
export type { ActionDescriptor } from '../action/action-descriptor.js';
export { ActionRegistry } from '../action/action-registry.js';
export type { ApplicationDefinition, WiringContext } from '../application-definition.js';
export type { Clock } from '../domain/clock.js';
export type { Currency } from '../domain/currency.js';
export type { Decimal } from '../domain/decimal.js';
export type { EventDescriptor, FieldDescriptor, ModelDescriptor } from '../domain/descriptor.js';
export type { Id, ShardedId } from '../domain/id.js';
export type { JsonValue } from '../domain/json.js';
export { INITIAL_VERSION, ModelBuilder } from '../domain/model-builder.js';
export type { Uuid } from '../domain/uuid.js';
export { defineRoute, type RouteDescriptor } from '../http/route.js';
export { defineMigration, type Migration } from '../migration/migration.js';
export { EventHistory } from '../persistence/event-history.js';
export { Repository } from '../persistence/repository.js';
export { type RunningServer, type ServeOptions, serve } from '../serve.js';
export { CODEGEN_VERSION, type modelType } from './version.js';
