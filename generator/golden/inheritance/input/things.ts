import {
  Action,
  Allow,
  AutoBuilder,
  type Clock,
  Decimal,
  FwAction,
  HttpRoute,
  type Id,
  Key,
  Model,
  ModelEvent,
  type Principal,
  type ShardedId,
} from 'fw-actions';
import { open } from './bases.js';

export abstract class Audited<
  Self extends Model<Self, ShardedId<Self>, State>,
  State extends string,
> extends Model<Self, ShardedId<Self>, State> {
  readonly createdBy!: string;
  readonly 'state-before'?: State;
  @Key readonly number!: string;

  get label(): string {
    return `${this.number} by ${this.createdBy}`;
  }
}

@AutoBuilder
export class Thing extends Audited<Thing, 'NEW' | 'OLD'> {
  readonly price!: Decimal;
}

export abstract class Signed<M> extends ModelEvent<M> {
  readonly signedBy!: string;
}

export class ThingMadeEvent extends Signed<Thing> {
  readonly price!: Decimal;

  get isFree(): boolean {
    return this.price.isZero();
  }
}

export class IdentifiedResponse {
  readonly id!: Id<Thing>;
}

export class ThingResponse extends IdentifiedResponse {
  readonly price!: Decimal;

  get total(): Decimal {
    return this.price.plus(1);
  }

  static from(_result: void): ThingResponse {
    return new ThingResponse();
  }
}

/** Mapped by the function that it inherits. */
export class ThingDetailResponse extends ThingResponse {}

export interface ThingMakeActionParams {
  readonly price: Decimal;
}

export interface ThingMakeActionParams {
  readonly number: string;
}

export interface Request<Body> {
  readonly body: Body;
}

export abstract class RequestAction<Body> extends Action<Request<Body>, void> {}

@FwAction
@Allow(open)
@HttpRoute('POST', '/things', { response: ThingResponse })
export class ThingMakeAction extends RequestAction<ThingMakeActionParams> {
  constructor(clock: Clock);
  constructor(clock: Clock, sender: string);
  constructor(
    clock: Clock,
    readonly sender?: string,
  ) {
    super(clock);
  }

  protected perform(_principal: Principal, _params: Request<ThingMakeActionParams>): void {
    throw new Error('not called');
  }
}

@FwAction
@HttpRoute('POST', '/things/detailed', { response: ThingDetailResponse })
export class ThingDetailAction extends Action<void, void> {
  protected perform(): void {}
}
