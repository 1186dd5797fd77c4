import { ModelEvent, Repository } from 'fw-actions';
import { Thing } from './events.js';

type Class = abstract new (...rest: never[]) => object;

function traced<Base extends Class>(base: Base): Base {
  return base;
}

export class TracedEvent extends traced(ModelEvent<Thing>) {}

const Chosen = Math.random() > 0.5 ? Repository : traced(Repository);

export class ChosenRepository extends Chosen<Thing> {}

abstract class TracedThing extends traced(Thing) {}

export class FarThing extends TracedThing {}

/** None of this package. */
export class Plain extends traced(Error) {}
