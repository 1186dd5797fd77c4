import { Action, AutoBuilder as Built, FwAction, FwEventHandler, type Id, Model, type Principal } from 'fw-actions';

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
