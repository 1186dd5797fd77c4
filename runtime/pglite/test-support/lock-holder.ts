/** A process that takes the lock of the directory in its argument, prints the result, and stays until it is ended. */
import { DirectoryLock } from '../directory-lock.js';

process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 1_000);
await DirectoryLock.acquire(process.argv[2] ?? '').then(
  () => console.log('held'),
  (error: Error) => console.log(error.message),
);
