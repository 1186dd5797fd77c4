/**
 * A process that gets or adds guests. Its argument is a `Race` as JSON. It writes `ready`, waits for a line, gets or
 * adds all guests concurrently, and writes their ids, or the codes of errors, as a JSON list.
 */
import { once } from 'node:events';
import { testDataSource, topologyOf } from '../../../test/databases/topology.js';
import type { DataSourceConfig } from '../../config/types.js';
import { openDatabases } from '../../databases.js';
import { FwError } from '../../errors.js';
import { HERE } from './accounts.js';
import { openHotel } from './guests.js';

export interface Race {
  readonly url: DataSourceConfig['url'];
  readonly user: { readonly user: string; readonly password: string };
  readonly emails: readonly string[];
}

const race = JSON.parse(process.argv[2] ?? '') as Race;
const source = testDataSource(race.url, race.user, { allowUnsafe: ['fsync', 'full_page_writes'] });
const databases = openDatabases(topologyOf([[HERE, source]]));
const hotel = openHotel(databases);
await hotel.guests.count(HERE);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const ids = await Promise.all(
  race.emails.map((email) =>
    hotel.checkIn(email).then(
      ({ id }) => id.getValue(),
      (error: unknown) => (error instanceof FwError ? error.code : String(error)),
    ),
  ),
);
process.stdout.write(`${JSON.stringify(ids)}\n`);
await databases.close();
process.exit(0);
