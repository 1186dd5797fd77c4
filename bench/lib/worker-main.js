/** A process of one variant: opens it, then runs slices on request of its parent. */
import { runLoad } from './load.js';

const { module, options } = JSON.parse(process.argv[2]);
const { open } = await import(new URL(`../peers/${module}.js`, import.meta.url).href);
const target = await open(options);

/** @param {object} message */
const send = (message) => process.send?.(message);

process.on('message', async (/** @type {any} */ message) => {
  if (message === 'close') {
    await target.close();
    process.disconnect?.();
    return;
  }
  if (message.ask !== undefined) {
    send({ result: await target[message.ask]() });
    return;
  }
  const result = await runLoad(target, message, (edge) => send({ edge }));
  send({ result });
});
process.on('disconnect', () => process.exit());
send({ ready: true });
