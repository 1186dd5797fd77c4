import { Action, Allow, AutoBuilder, Entity, type EventEnvelope, everyone, FwAction, FwEventHandler, HttpRoute, type Id, Key, Model, ModelEvent, type Principal } from 'fw-actions';

@AutoBuilder()
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  @Key
  @Key()
  readonly name!: string;
  @Key('pair') readonly a!: string;
  @Key('twin')
  @Key('pair')
  readonly b!: string;
  @Key('twin') readonly c!: string;
  @Key('again') @Key('twice') readonly d!: string;
  @Key('twice') @Key('again') readonly e!: string;

  @Key static readonly made = 1;

  @Key
  label(): string {
    return this.name;
  }
}

export class ThingMade extends ModelEvent<Thing> {
  @Key readonly name: string;

  constructor(thing: Thing) {
    super(thing.id.getValue(), Thing);
    this.name = thing.name;
  }
}

@FwAction
export class Look extends Action<void, void> {
  @Key private readonly nothing = 1;

  protected perform(_principal: Principal): void {
    void this.nothing;
  }
}

@FwAction
export class Change extends Action<void, void> {
  @Allow(everyone)
  @HttpRoute('POST', '/changes')
  protected perform(): void {}
}

@Key('name')
@AutoBuilder
export class Other extends Entity<Other, Id<Other>> {
  @Key readonly name!: string;
  @Key readonly phone!: string;
}

export class Watch {
  @FwEventHandler({ event: ThingMade })
  on(envelope: EventEnvelope<ThingMade>): void {
    void envelope;
  }
}

abstract class Named<Self extends Model<Self, Id<Self>, 'NEW'>> extends Model<Self, Id<Self>, 'NEW'> {
  @Key('x') @Key('y') readonly first!: string;
  @Key('x') readonly last!: string;
}

@AutoBuilder
export class Person extends Named<Person> {
  @Key('y') override readonly last!: string;
}
