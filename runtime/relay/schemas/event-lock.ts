import type { JsonObject } from '../../domain/json.js';
import { ValidationError } from '../../errors.js';

/** The schema of one version of one event. */
export interface EventSchema {
  readonly eventType: string;
  readonly version: number;
  /** JSON Schema 2020-12. */
  readonly schema: JsonObject;
}

const KEY = /^(.+)@(\d+)$/;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Patterns for the lock's formats, for validators that do not know them. */
const PATTERNS: Readonly<Record<string, string>> = {
  decimal: '^-?\\d+(\\.\\d+)?$',
  currency: '^[A-Z]{3}$',
};

/**
 * The schemas of an `events.lock`.
 *
 * @param baseUrl prefix of `/schemas/...`, for `$id`. Default: only the path
 * @throws ValidationError if the text is not such a file
 */
export function readEventLock(text: string, baseUrl = ''): readonly EventSchema[] {
  return Object.entries(eventsOf(text)).map(([key, schema]) => {
    const [, eventType = '', version = ''] = KEY.exec(key) ?? [];
    if (eventType === '' || schema === null || typeof schema !== 'object' || Array.isArray(schema))
      throw new ValidationError(`events.lock has no schema under ${JSON.stringify(key)}`);
    const $id = `${baseUrl}/schemas/${encodeURIComponent(eventType)}/${version}.json`;
    const rest = standard(schema) as JsonObject;
    return {
      eventType,
      version: Number(version),
      schema: { $schema: DIALECT, $id, title: eventType, ...rest },
    };
  });
}

function eventsOf(text: string): JsonObject {
  try {
    const { events } = JSON.parse(text) as { readonly events?: unknown };
    if (typeof events === 'object' && events !== null) return events as JsonObject;
  } catch (cause) {
    throw new ValidationError('events.lock is not JSON. Merge it with fw-gen generate', { cause });
  }
  throw new ValidationError('events.lock has no events');
}

/** Replaces the lock's own keywords by standard ones. */
function standard(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(standard);
  if (typeof value !== 'object' || value === null) return value;
  const { model, ...rest } = value as Readonly<Record<string, unknown>>;
  const isField = typeof model === 'string' && 'type' in rest;
  const kept = Object.fromEntries(
    Object.entries(isField ? rest : (value as object)).map(([key, child]) => [key, standard(child)]),
  );
  const pattern =
    'format' in kept && typeof kept['format'] === 'string' ? PATTERNS[kept['format']] : undefined;
  return {
    ...kept,
    ...(isField ? { 'x-model': model } : {}),
    ...(pattern === undefined || 'pattern' in kept ? {} : { pattern }),
  };
}
