export { Ticket as Pass } from './ticket.js';
export * from './ticket.js';
export * as places from './places.js';
