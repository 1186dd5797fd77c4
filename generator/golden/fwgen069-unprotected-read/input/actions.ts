import { Action, type Clock, FwAction, type Id, type Principal } from 'fw-actions';
import { InvoiceBuilder, type InvoiceRepository } from './generated/invoice.js';
import { UsageBuilder, type UsageRepository } from './generated/usage.js';
import { Invoice, type Usage } from './models.js';

export interface BillParams {
  readonly invoiceId: Id<Invoice>;
  readonly usageId: Id<Usage>;
}

abstract class BillAction extends Action<BillParams, Invoice> {}

/** The units may be counted further until the commit. */
@FwAction
export class DirectAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly invoices: InvoiceRepository,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const invoice = await this.invoices.getById(params.invoiceId);
    const usage = await this.usages.getById(params.usageId);
    return this.plan().update(invoice.withUnits(usage.units));
  }
}

@FwAction
export class DerivedAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly invoices: InvoiceRepository,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const [invoice, usage] = await Promise.all([
      this.invoices.getById(params.invoiceId),
      this.usages.getById(params.usageId),
    ]);
    const units = usage.units + 1;
    const billed = InvoiceBuilder.copyOf(invoice).units(units).build();
    return this.plan().update(billed);
  }
}

@FwAction
export class AddedAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const usage = await this.usages.getById(params.usageId);
    return this.plan().add(Invoice.of(usage.id, usage.units));
  }
}

/** Stable until the commit. */
@FwAction
export class ExpectedAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly invoices: InvoiceRepository,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const invoice = await this.invoices.getById(params.invoiceId);
    const usage = await this.usages.getById(params.usageId);
    this.plan().expect(usage);
    return this.plan().update(invoice.withUnits(usage.units));
  }
}

/** Both are staged. */
@FwAction
export class BothAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly invoices: InvoiceRepository,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const invoice = await this.invoices.getById(params.invoiceId);
    const usage = await this.usages.getById(params.usageId);
    this.plan().update(UsageBuilder.copyOf(usage).state('BILLED').build());
    return this.plan().update(invoice.withUnits(usage.units));
  }
}

@FwAction
export class MarkedAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly invoices: InvoiceRepository,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const invoice = await this.invoices.getById(params.invoiceId);
    /** @unprotected an estimate */
    const usage = await this.usages.getById(params.usageId);
    return this.plan().update(invoice.withUnits(usage.units));
  }
}

/** An id never changes. */
@FwAction
export class IdAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const usage = await this.usages.getById(params.usageId);
    return this.plan().add(Invoice.of(usage.id, 0));
  }
}

/** The plan is in a variable. */
@FwAction
export class VariableAction extends BillAction {
  constructor(
    clock: Clock,
    private readonly invoices: InvoiceRepository,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Invoice> {
    const plan = this.plan();
    const invoice = await this.invoices.getById(params.invoiceId);
    const usage = await this.usages.getById(params.usageId);
    return plan.update(invoice.withUnits(usage.units));
  }
}

/** One of two copies is staged. */
@FwAction
export class EitherAction extends Action<BillParams, Usage> {
  constructor(
    clock: Clock,
    private readonly usages: UsageRepository,
  ) {
    super(clock);
  }

  protected async perform(_: Principal, params: BillParams): Promise<Usage> {
    const usage = await this.usages.getById(params.usageId);
    const isOpen = usage.state === 'OPEN';
    return this.plan().update(
      isOpen
        ? UsageBuilder.copyOf(usage).state('BILLED').build()
        : UsageBuilder.copyOf(usage).units(usage.units + 1).build(),
    );
  }
}
