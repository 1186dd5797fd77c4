import { AutoBuilder } from 'fw-actions';

const Ring: typeof Loop = Loop;
const Loop: typeof Ring = Ring;

@AutoBuilder
export class Circular extends Ring {}
