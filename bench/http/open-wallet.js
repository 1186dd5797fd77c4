/** The wallet service without access control: every caller is one principal, and deposits have no rule. */
import { built } from '../lib/product.js';

const { fixedPrincipal } = await built('runtime/entrances/http.js').catch(() => built('runtime/index.js'));
const { serve } = await built('runtime/codegen/index.js');
const { application } = await built('examples/wallet/generated/application.js');
const { WalletDepositMoneyAction } = await built('examples/wallet/actions/wallet-deposit-money-action.js');

class OpenDepositAction extends WalletDepositMoneyAction {}
// A subclass inherits the rule of its base class, so it gets its own.
Object.defineProperty(OpenDepositAction, Symbol.for('fw-actions.access-rule'), { value: undefined });

const isDeposit = ({ actionClass }) => actionClass === WalletDepositMoneyAction;
const open = {
  ...application,
  wire: (...context) => {
    const actions = application.wire(...context);
    const deposits = actions.filter(isDeposit);
    return [
      ...actions,
      ...deposits.map((each) => ({ ...each, name: 'OpenDepositAction', actionClass: OpenDepositAction })),
    ];
  },
  routes: application.routes.map((route) =>
    route.action === WalletDepositMoneyAction ? { ...route, action: OpenDepositAction } : route,
  ),
};

await serve(open, { authenticator: fixedPrincipal('bench') });
