import { Repository } from 'fw-actions';
import { Thing } from './thing.js';

export class Plain {}

export class PlainRepository extends Repository<Plain> {}

export class LooseRepository extends Repository {}

export class ThingRepository extends Repository<Thing> {
  constructor() {
    super(undefined as never, undefined as never);
  }
}

export abstract class CachedRepository extends Repository<Thing> {
  constructor() {
    super(undefined as never, undefined as never);
  }
}

export class CachedThingRepository extends CachedRepository {}
