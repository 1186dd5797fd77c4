import { Repository } from 'fw-actions';
import type { ThingTables } from './generated/thing.js';
import type { Thing } from './thing.js';

export class Things extends Repository<Thing, ThingTables> {}
