import type { LogCursor, LoggedEvent } from '../log/event-record.js';

/** An event of an account. */
export function eventOf(id: string, modelId: string, cursor: LogCursor): LoggedEvent {
  return {
    ...{ id, cursor, actionId: '', namespace: '', modelId, modelName: 'Account', modelVersion: 1 },
    ...{
      eventType: 'Opened',
      eventVersion: 1,
      payload: {},
      createdDate: '',
      traceContext: null,
      action: null,
    },
  };
}
