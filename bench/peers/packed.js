import { built } from '../lib/product.js';

const { PackedArray } = await built('runtime/sharding/packed-array.js');

/** Arrays in PostgreSQL's binary form, as the framework sends them. */
export const uuids = (ids) => PackedArray.ofUuids(ids).bytes;
export const instants = (dates) => PackedArray.ofInstants(dates).bytes;
