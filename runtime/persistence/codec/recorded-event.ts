import { ModelEvent } from '../../domain/model-event.js';

/** What the outbox row of an event is made of. */
export interface EventFacts {
  /** Simple name of the event class. */
  readonly type: string;
  /** Version of the payload's shape. */
  readonly version: number;
  readonly modelId: string;
  readonly modelName: string;
  /** JSON text. */
  readonly payload: string;
}

/** An event that was written down before its row was: its class may have changed meanwhile, its facts have not. */
export class RecordedEvent extends ModelEvent<unknown> {
  readonly facts: EventFacts;

  constructor(facts: EventFacts) {
    super(facts.modelId, { name: facts.modelName, prototype: undefined });
    this.facts = facts;
  }
}
