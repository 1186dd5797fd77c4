import {
  AutoBuilder,
  type EventEnvelope,
  type EventHandler,
  everyone,
  FwEventHandler,
  FwSaga,
  Model,
  ModelEvent,
  Repository,
  Saga,
  type SagaSteps,
  type ShardedId,
} from 'fw-actions';
import type { Place } from './place.js';

/** Constants that stand for what they hold. */
const Built = AutoBuilder;
const Base: typeof Model = Model;
const Fact: typeof ModelEvent = ModelEvent;
export const open: typeof everyone = everyone;

@Built
export class Parcel extends Base<Parcel, ShardedId<Parcel>, 'SENT' | 'LOST'> {
  readonly from!: Place;
}

export class ParcelSent extends Fact<Parcel> {
  readonly to!: Place;
}

const ParcelFact: typeof Fact<Parcel> = Fact<Parcel>;

export class ParcelLost extends ParcelFact {
  readonly reason!: string;
}

/** Base classes of a project. */
export abstract class CountingRepository<M extends Model> extends Repository<M> {
  protected readonly most = 10;
}

export class ParcelRepository extends CountingRepository<Parcel> {}

export abstract class Projection<E extends ModelEvent<unknown>> implements EventHandler<E> {
  constructor(readonly parcels: ParcelRepository) {}

  handle(_envelope: EventEnvelope<E>): void {}
}

@FwEventHandler
export class SentProjection extends Projection<ParcelSent | ParcelLost> {}

export abstract class NamedSaga<S extends Model> extends Saga<S> {
  override readonly name = 'named';
}

@FwSaga
export class ParcelSaga extends NamedSaga<Parcel> {
  override readonly steps: SagaSteps<Parcel> = {};
}
