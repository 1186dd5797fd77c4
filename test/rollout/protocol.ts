import type { DataSourceConfig } from '../../runtime/config/types.js';
import type { ReleaseFacts } from './releases.js';

/** The argument of a release's process. */
export interface ProcessPlan extends ReleaseFacts {
  /** The database of each shard, in the order of `SHARDS`. */
  readonly urls: readonly DataSourceConfig['url'][];
  readonly user: { readonly user: string; readonly password: string };
}

/** A request to a release's process. A repeat under the same key has no further effect. */
export type Request = { readonly key: string } & (
  | { readonly kind: 'open'; readonly shard: number; readonly balance: number }
  | { readonly kind: 'deposit'; readonly wallet: string; readonly amount: number }
  | { readonly kind: 'transfer'; readonly from: string; readonly to: string; readonly amount: number }
  /** Only the second release knows these. */
  | { readonly kind: 'later' | 'check'; readonly wallet: string }
);

/** The answer to a request. */
export type Reply =
  | { readonly key: string; readonly result: string; readonly error?: undefined }
  | { readonly key: string; readonly error: string; readonly result?: undefined };
