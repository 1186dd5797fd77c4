/** Migrates the database whose connection is given, with the product of `BENCH_BUILD`. */
import { openWallet } from './product.js';

await (await openWallet(JSON.parse(process.argv[2]), { migrate: true })).close();
