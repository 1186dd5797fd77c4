export { AutoBuilder as Built, Model as Root, type ShardedId as Key } from 'fw-actions';
export * from 'fw-actions';
export * from './prices.js';
