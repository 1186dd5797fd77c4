import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { ValidationError } from '../errors.js';
import { type EventSchema, readEventLock } from '../relay/schemas/event-lock.js';
import type { ReceivedEvent } from './received-event.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The schemas of another service's events, by type and version. */
export class EventSchemas {
  readonly #known: ReadonlyMap<string, ValidateFunction>;

  private constructor(schemas: readonly EventSchema[]) {
    const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, formats: { uuid: UUID } });
    this.#known = new Map(
      schemas.map(({ eventType, version, schema }) => [keyOf(eventType, version), ajv.compile(schema)]),
    );
  }

  /** Reads the service's `events.lock`. @throws ValidationError if it is not such a file */
  static fromLock(file: string): EventSchemas {
    return EventSchemas.of(readEventLock(readFileSync(file, 'utf8')));
  }

  static of(schemas: readonly EventSchema[]): EventSchemas {
    return new EventSchemas(schemas);
  }

  /**
   * Returns the event if its data matches its schema.
   *
   * @throws ValidationError that lists the mismatches, or for an event without a schema
   */
  check(event: ReceivedEvent): ReceivedEvent {
    const { eventType, eventVersion, data, id } = event;
    const validate = this.#known.get(keyOf(eventType, eventVersion));
    if (validate === undefined)
      throw new ValidationError(`There is no schema for ${eventType} version ${eventVersion} (event ${id})`);
    if (validate(data)) return event;
    const mistakes = (validate.errors ?? [])
      .slice(0, 10)
      .map(({ instancePath, message = 'does not fit' }) => `data${instancePath} ${message}`);
    throw new ValidationError(
      `Event ${id} does not match the schema of ${eventType} version ${eventVersion}: ${mistakes.join('; ')}`,
    );
  }
}

function keyOf(eventType: string, version: number): string {
  return `${eventType}@${version}`;
}
