import { appendFile } from 'node:fs/promises';
import { ACCEPTED, type RelaySink, type SinkDefinition } from 'fw-actions/relay';

/** Appends each message to a file, as one line of JSON. */
export function archiveSink(path: string): RelaySink {
  return {
    publish: async (messages, signal) => {
      signal.throwIfAborted();
      const lines = messages.map(({ id, key, body }) => `${JSON.stringify({ id, key, body })}\n`);
      await appendFile(path, lines.join(''), { flush: true });
      return messages.map(() => ACCEPTED);
    },
    close: async () => {},
  };
}

/** One file for each shard. */
export const archive: SinkDefinition = {
  name: 'archive',
  open: ({ group, member }) => archiveSink(`data/archive-${group}-${member}.jsonl`),
};
