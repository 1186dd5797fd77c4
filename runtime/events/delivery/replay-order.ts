import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { LogCursor } from '../log/event-record.js';
import type { LogSelection } from '../log/log-reader.js';

/** The parameters of a replay, stored with its consumer. */
export interface ReplayOrder {
  /** The handler's original name: part of the keys of its actions. */
  readonly identity: string;
  /** Part of the keys if actions are to be repeated; undefined: actions return their first results. */
  readonly again: string | undefined;
  readonly selection: Pick<LogSelection, 'model' | 'fromPosition' | 'fromDate' | 'until'>;
}

/** Encodes a replay order as JSON for the table. */
export function writeReplay({ identity, again, selection }: ReplayOrder): JsonObject {
  const { model, fromPosition, fromDate, until } = selection;
  return {
    identity,
    again: again ?? null,
    model: model === undefined ? null : { ...model },
    fromPosition: fromPosition ?? null,
    fromDate: fromDate ?? null,
    until: until === undefined ? null : { ...until },
  };
}

/** The inverse of `writeReplay`. */
export function readReplay(json: JsonObject): ReplayOrder {
  const model = objectOf(json['model']);
  const until = objectOf(json['until']);
  return {
    identity: String(json['identity']),
    again: json['again'] === null ? undefined : String(json['again']),
    selection: {
      model: model === undefined ? undefined : { name: String(model['name']), id: String(model['id']) },
      fromPosition: json['fromPosition'] === null ? undefined : Number(json['fromPosition']),
      fromDate: json['fromDate'] === null ? undefined : String(json['fromDate']),
      until: until === undefined ? undefined : cursorOf(until),
    },
  };
}

function objectOf(json: JsonValue | undefined): JsonObject | undefined {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonObject) : undefined;
}

function cursorOf(json: JsonObject): LogCursor {
  return {
    epoch: Number(json['epoch']),
    transactionId: String(json['transactionId']),
    position: Number(json['position']),
  };
}
