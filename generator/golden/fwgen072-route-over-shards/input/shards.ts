import { ShardIdentifier } from 'fw-actions';

export const GLOBAL = ShardIdentifier.of(0, 0);
export const MEXICO = ShardIdentifier.of(1, 0);
