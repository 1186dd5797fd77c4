// AutoBuilder is only mentioned here.
import { Decimal } from 'fw-actions';

export const zero = new Decimal(0);
