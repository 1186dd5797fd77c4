import {
  Action,
  type Clock,
  type EventEnvelope,
  type EventHandler,
  FwAction,
  FwEventHandler,
  HttpRoute,
  type Principal,
  type ShardedId,
} from 'fw-actions';
import { SampleBuilder, type SampleRepository } from './generated/sample.js';
import { type Forms, type Sample, SampleTakenEvent } from './sample.js';

export class SampleResponse {
  readonly id!: ShardedId<Sample>;
  readonly forms!: Forms;

  static from(sample: Sample): SampleResponse {
    return { id: sample.id, forms: sample };
  }
}

export interface SampleTakeActionParams extends Forms {
  readonly id: ShardedId<Sample>;
}

@FwAction
@HttpRoute('POST', '/samples', { response: SampleResponse })
export class SampleTakeAction extends Action<SampleTakeActionParams, Sample> {
  protected perform(_principal: Principal, forms: SampleTakeActionParams): Sample {
    const sample = SampleBuilder.sample()
      .id(forms.id)
      .state('NEW')
      .createdDate(this.clock.now())
      .withInitialVersion()
      .text(forms.text)
      .yes(forms.yes)
      .size(forms.size)
      .amount(forms.amount)
      .when(forms.when)
      .large(forms.large)
      .uuid(forms.uuid)
      .currency(forms.currency)
      .owner(forms.owner)
      .place(forms.place)
      .maybe(forms.maybe)
      .absent(forms.absent)
      .status(forms.status)
      .role(forms.role)
      .roleName(forms.roleName)
      .roleLevel(forms.roleLevel)
      .mood(forms.mood)
      .phase(forms.phase)
      .level(forms.level)
      .dice(forms.dice)
      .always(forms.always)
      .mixed(forms.mixed)
      .sku(forms.sku)
      .cents(forms.cents)
      .pesos(forms.pesos)
      .code(forms.code)
      .upper(forms.upper)
      .open(forms.open)
      .card(forms.card)
      .zip(forms.zip)
      .element(forms.element)
      .names(forms.names)
      .matrix(forms.matrix)
      .dates(forms.dates)
      .amounts(forms.amounts)
      .owners(forms.owners)
      .pair(forms.pair)
      .trio(forms.trio)
      .range(forms.range)
      .rest(forms.rest)
      .address(forms.address)
      .imported(forms.imported)
      .partial(forms.partial)
      .required(forms.required)
      .frozen(forms.frozen)
      .picked(forms.picked)
      .omitted(forms.omitted)
      .crossed(forms.crossed)
      .both(forms.both)
      .parcel(forms.parcel)
      .page(forms.page)
      .tags(forms.tags)
      .deep(forms.deep)
      .solid(forms.solid)
      .line(forms.line)
      .prices(forms.prices)
      .quotas(forms.quotas)
      .flags(forms.flags)
      .mapped(forms.mapped)
      .payment(forms.payment)
      .noted(forms.noted)
      .payments(forms.payments)
      .either(forms.either)
      .priced(forms.priced)
      .comment(forms.comment)
      .folder(forms.folder)
      .expression(forms.expression)
      .filter(forms.filter)
      .json(forms.json)
      .anything(forms.anything)
      .build();
    return this.plan().add(SampleBuilder.copyOf(sample).withEvent(new SampleTakenEvent(sample)).build());
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

/** What handlers are given. */
export interface Inbox {
  take(event: SampleTakenEvent): void;
}

@FwEventHandler
export class SampleMail implements EventHandler<SampleTakenEvent> {
  readonly #inbox: Inbox;

  constructor(inbox: Inbox) {
    this.#inbox = inbox;
  }

  handle({ event }: EventEnvelope<SampleTakenEvent>): void {
    this.#inbox.take(event);
  }
}
