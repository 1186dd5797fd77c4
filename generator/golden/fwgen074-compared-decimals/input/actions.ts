import { Action, Allow, type Decimal, everyone, FwAction, type Id, type Principal } from 'fw-actions';
import type { PurseRepository } from './generated/purse.js';
import type { Purse } from './purse.js';

export interface WithdrawParams {
  readonly purseId: Id<Purse>;
  readonly amount: Decimal;
  readonly times: number;
}

@FwAction
@Allow(everyone)
export class WithdrawAction extends Action<WithdrawParams, void> {
  readonly #purses: PurseRepository;

  constructor(purses: PurseRepository) {
    super();
    this.#purses = purses;
  }

  protected async perform(_principal: Principal, params: WithdrawParams): Promise<void> {
    const { amount: asked, times } = params;
    const purse = await this.#purses.getById(params.purseId);
    if (params.amount <= purse.balance && times > 1) this.plan().update(purse.withdraw(params.amount));
    if (purse.balance > asked) this.plan().expect(purse);
  }
}
