import type {} from './place.js';

declare module './place.js' {
  interface Place {
    readonly country: string;
  }
}
