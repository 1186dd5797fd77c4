import { ModelEvent } from 'fw-actions';
import type { Elsewhere } from 'some-package';

export class Plain {}

export class PlainEvent extends ModelEvent<Plain> {}

export class AnyEvent extends ModelEvent {}

export class TextEvent extends ModelEvent<string> {}

export class ForeignEvent extends ModelEvent<Elsewhere> {}
