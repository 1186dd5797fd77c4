import type { Decimal } from 'fw-actions';

declare module './place.js' {
  interface Place {
    readonly floor?: Decimal;
  }
}
