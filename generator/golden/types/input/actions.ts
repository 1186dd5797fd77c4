import { Action, type Clock, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { SampleBuilder, type SampleRepository } from './generated/sample.js';
import { type Forms, type Sample, SampleTakenEvent } from './sample.js';

export class SampleResponse {
  readonly id!: Id<Sample>;
  readonly forms!: Forms;

  static from(sample: Sample): SampleResponse {
    return { id: sample.id, forms: sample };
  }
}

export interface SampleTakeActionParams extends Forms {
  readonly id: Id<Sample>;
}

@FwAction
@HttpRoute('POST', '/samples', { response: SampleResponse })
export class SampleTakeAction extends Action<SampleTakeActionParams, Sample> {
  readonly #now: Clock;

  constructor(clock: Clock) {
    super(clock);
    this.#now = clock;
  }

  protected perform(_principal: Principal, forms: SampleTakeActionParams): Sample {
    const { text, amount, when, large, status, role, roleLevel, level, dice, always, mixed, sku, cents } = forms;
    const { code, upper, open, element, address, parcel, page, deep, payment, payments, either, pair } = forms;
    const { prices, flags, comment, owners, line, anything, json, absent } = forms;
    const sample = SampleBuilder.sample()
      .id(forms.id)
      .state('NEW')
      .createdDate(this.#now.now())
      .withInitialVersion()
      .text(text)
      .amount(amount)
      .when(when)
      .large(large)
      .status(status)
      .role(role)
      .roleLevel(roleLevel)
      .level(level)
      .dice(dice)
      .always(always)
      .mixed(mixed)
      .sku(sku)
      .cents(cents)
      .code(code)
      .upper(upper)
      .open(open)
      .element(element)
      .address(address)
      .parcel(parcel)
      .page(page)
      .deep(deep)
      .payment(payment)
      .payments(payments)
      .either(either)
      .pair(pair)
      .prices(prices)
      .flags(flags)
      .comment(comment)
      .owners(owners)
      .line(line)
      .anything(anything)
      .json(json)
      .absent(absent)
      .build();
    const made = SampleBuilder.copyOf(sample).withEvent(new SampleTakenEvent(sample)).build();
    this.plan().add(made);
    return made;
  }
}

export interface SampleReadActionParams {
  readonly sampleId: Sample['id'];
}

@FwAction
@HttpRoute('GET', '/samples/{sampleId}', { response: SampleResponse })
export class SampleReadAction extends Action<SampleReadActionParams, Sample> {
  readonly #samples: SampleRepository;

  constructor(clock: Clock, samples: SampleRepository) {
    super(clock);
    this.#samples = samples;
  }

  protected async perform(_principal: Principal, { sampleId }: SampleReadActionParams): Promise<Sample> {
    return await this.#samples.getById(sampleId);
  }
}
