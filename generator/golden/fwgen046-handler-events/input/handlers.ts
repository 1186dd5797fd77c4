import { type EventEnvelope, FwEventHandler } from 'fw-actions';
import { Thing } from './thing.js';

@FwEventHandler
export class Silent {
  handle(): void {}
}

@FwEventHandler({ event: Thing })
export class Wrong {
  handle(_envelope: EventEnvelope): void {}
}
