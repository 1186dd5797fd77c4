import { Action, Allow, everyone, FwAction, HttpRoute } from 'fw-actions';

export class Receipt {
  constructor(readonly total: number) {}
}

export interface Statement {
  readonly lines: readonly { readonly label: string; readonly totals: ReadonlyMap<string, number> }[];
}

@FwAction
@HttpRoute('POST', '/payments')
@Allow(everyone)
export class PayAction extends Action<void, Receipt> {
  protected perform(): Receipt {
    return new Receipt(1);
  }
}

@FwAction
@HttpRoute('PUT', '/statement')
@Allow(everyone)
export class StateAction extends Action<void, Statement | null> {
  protected perform(): Statement | null {
    return null;
  }
}

/** Each run has a key. */
@FwAction
export class RefundAction extends Action<void, () => void> {
  protected perform(): () => void {
    this.plan().schedule(this.clock.now(), RefundAction);
    return () => undefined;
  }
}

/** A read takes no key. */
@FwAction
@HttpRoute('GET', '/receipt')
@Allow(everyone)
export class ReceiptAction extends Action<void, Receipt> {
  protected perform(): Receipt {
    return new Receipt(1);
  }
}

/** Nothing shows that it is called with a key. */
@FwAction
export class PrintAction extends Action<void, Receipt> {
  protected perform(): Receipt {
    return new Receipt(1);
  }
}
