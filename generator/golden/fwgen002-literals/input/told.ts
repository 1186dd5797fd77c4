import { type EventEnvelope, FwEventHandler } from 'fw-actions';

@FwEventHandler({ projection: ['totals'] })
export class TotalsProjection {
  handle(_envelope: EventEnvelope): void {}
}

@FwEventHandler({ transactional: true, projection: ['public.totals'] })
export class OtherProjection {
  handle(_envelope: EventEnvelope): void {}
}
