export { Ticket as Pass } from './ticket.js';
export * from './ticket.js';
