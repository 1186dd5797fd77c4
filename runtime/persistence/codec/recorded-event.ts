import { ModelEvent } from '../../domain/model-event.js';

/** The values of an event's outbox row. */
export interface EventFacts {
  /** Simple name of the event class. */
  readonly type: string;
  /** Version of the payload's format. */
  readonly version: number;
  readonly modelId: string;
  readonly modelName: string;
  /** JSON text. */
  readonly payload: string;
}

/**
 * An event that was recorded before its outbox row was written. Its class may have changed since; its facts have not.
 */
export class RecordedEvent extends ModelEvent<unknown> {
  readonly facts: EventFacts;

  constructor(facts: EventFacts) {
    super(facts.modelId, { name: facts.modelName, prototype: undefined });
    this.facts = facts;
  }
}
