import { AutoBuilder } from 'fw-actions';
import { Model } from './own-model.js';

@AutoBuilder
export class Shadowed extends Model<Shadowed> {}
