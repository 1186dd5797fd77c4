import { Action, AutoBuilder as Built, FwAction, FwEventHandler, type Id, Model, ModelEvent, type Principal, Repository } from 'fw-actions';

/** Mail goes to an @address, see {@link inner}. */
export namespace inner {
  @Built
  export class Spaced extends Model<Spaced, Id<Spaced>, 'NEW'> {}
}

export function make() {
  /** @secret */
  @FwAction
  class Bodied extends Action<void, void> {
    protected perform(_principal: Principal): void {
      throw new Error('a@b');
    }
  }
  return Bodied;
}

{ @FwEventHandler({ idempotent: true }) class Blocked {} }

export const Expressed = @FwAction class extends Action<void, void> {
  protected perform(_principal: Principal): void {
    throw new Error('not called');
  }
};

function other(_target: unknown): void {}

export const Unmarked = () => {
  @other
  class Fine {}
  return Fine;
};

export namespace facts {
  export class Spoken extends ModelEvent<Other> {}
  export abstract class Basic<M> extends ModelEvent<M> {}
}

export const Other = class extends Model<Other, Id<Other>, 'NEW'> {};

export const held = { Kept: class Kept extends Repository<Model> {} };

/** Local on purpose, and no class of this package. */
export const made = () => {
  return class Local extends ModelEvent<Other> {};
};
export const Failure = class extends Error {};
export type Wide<T extends Error> = T extends Failure ? T : never;

/** Local on purpose, as in a function with a body. */
export const described = () => class extends Model<Expressed, Id<Expressed>> {};
export const defaulted = (base = class extends Model<Expressed, Id<Expressed>> {}) => base;
