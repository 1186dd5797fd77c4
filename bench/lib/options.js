import { parseArgs } from 'node:util';

/** Parts of a run; `--only` chooses. */
export const PARTS = ['execute', 'http', 'processes', 'shards', 'events', 'refusals', 'access'];

const HELP = `node run.js [options]
  --quick            under three minutes: the framework, the bare script and node-postgres by hand
  --rounds <n>       rounds; the median counts (default 5, quick 3)
  --seconds <n>      length of a slice (default 3, quick 1.5)
  --warm-up <n>      seconds before each slice that do not count (default 0.5)
  --only <parts>     of ${PARTS.join(', ')}, with commas between them
  --variants <names> only these, with commas between them; node-postgres should be among them
  --workloads <names> of alone, cold-32, cold-256, hot-32
  --output <file>    default results/<date>.json; latest.json is a copy of it`;

/** The command line. */
export function readOptions() {
  const text = /** @type {const} */ ({ type: 'string', multiple: false });
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      rounds: text,
      seconds: text,
      'warm-up': text,
      only: text,
      variants: text,
      workloads: text,
      output: text,
    },
  });
  if (values.help) {
    process.stdout.write(`${HELP}\n`);
    process.exit(0);
  }
  const { quick } = values;
  return {
    quick,
    rounds: Number(values.rounds ?? (quick ? 3 : 5)),
    measureMs: Number(values.seconds ?? (quick ? 1.5 : 3)) * 1000,
    warmUpMs: Number(values['warm-up'] ?? 0.5) * 1000,
    parts: values.only?.split(',') ?? (quick ? ['execute', 'http'] : PARTS),
    variants:
      values.variants?.split(',') ??
      (quick ? ['framework', 'bare', 'node-postgres', 'node-postgres+action'] : undefined),
    workloads: values.workloads?.split(','),
    output: values.output,
  };
}
