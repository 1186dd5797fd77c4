// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from './configuration-error.js';
import { parseJdbcUrl } from './jdbc-url.js';
import { errorOf, manyShards, ONE_SHARD, parse } from './test-support/configs.js';

/** Random inputs; `npm run proof:inputs` has more. */
const RUNS = Number(process.env['FW_PROOF_INPUTS'] ?? 200);

/** In milliseconds of CPU time: thrice what an idle machine needs, because a busy one has slow caches. */
const REFUSED_WITHIN_MS = 3_000;

/**
 * The CPU time of `work` in milliseconds, the minimum of several runs, because a busy machine slows single runs down.
 * Stops at the first run within the limit.
 */
function quickest(limitMs: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 4 && best >= limitMs; run += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

const list = (length: number, item: (index: number) => string): string =>
  Array.from({ length }, (_, index) => item(index)).join('');
const bomb = `a0: &a0 [x, x, x, x, x, x, x, x, x]\n${list(20, (i) => `a${i + 1}: &a${i + 1} [${list(9, () => `*a${i}, `)}]\n`)}`;

describe('loading stays fast', () => {
  test('the time to load shards grows linearly with their number', () => {
    const [few, many] = [250, 1_000].map((shards) => {
      const text = manyShards(shards);
      return quickest(0, () => parse(text, { env: { DB_PASSWORD: 'x' } }));
    }) as [number, number];
    // Four times as many shards: a quadratic algorithm would take sixteen times as long.
    expect(many / few).toBeLessThan(9);
  });

  test.each([
    ['100,000 keys', `fw:\n${list(100_000, (i) => ` k${i}: 1\n`)}`],
    ['as many keys as the limits let through', `fw: {${list(70_000, (i) => `k${i},`)}}`],
    ['100,000 times the same key', `fw:\n${' a:\n'.repeat(100_000)}`],
    ['5,000 levels of lists', `fw: ${'['.repeat(5_000)}`],
    ['5,000 levels on one line', '- '.repeat(5_000)],
    ['5,000 complex keys', '? '.repeat(5_000)],
    ['1,400 indented levels', list(1_400, (i) => `${' '.repeat(i)}a:\n`)],
    ['an alias bomb', bomb],
    [
      'an alias bomb where lists are expected',
      bomb.replace('a0:', 'fw: { sharding: { groups: *a19 } }\na0:'),
    ],
    ['too large', 'a'.repeat(1_048_577)],
    ['one long line', `fw: ${'a'.repeat(1_000_000)}`],
    ['only quotes', '"'.repeat(1_000_000)],
    ['only commas in a list', `[${','.repeat(200_000)}`],
    ['only anchors', '&a '.repeat(300_000)],
    ['only blanks', ' '.repeat(1_000_000)],
  ])('%s: refused within three seconds', (_, text) => {
    let error = new ConfigurationError([], 0);
    const refuse = (): void => {
      error = errorOf(() => parse(text));
    };
    expect(quickest(REFUSED_WITHIN_MS, refuse)).toBeLessThan(REFUSED_WITHIN_MS);
    expect(error.problems.length).toBeLessThanOrEqual(100);
    expect(error.message.length).toBeLessThan(50_000);
  });
});

/** Loading returns a configuration, or throws a `ConfigurationError` whose problems have positions. */
function acceptsOrRefuses(text: string): void {
  try {
    parse(text, { env: { DB_PASSWORD: 'hunter2' } });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { line, column } of error.problems) {
      expect(line).toBeGreaterThan(0);
      expect(column).toBeGreaterThan(0);
    }
  }
}

const VALID = `${ONE_SHARD}              secondary-config: &replica
                jdbc-url: "jdbc:postgresql://[::1]/wallet?sslmode=require"
                username: \${DB_USER:-reader}
                allow-unsafe: [fsync]
              jobs-config: *replica
  execution: { timeout-ms: 6, store-params: false }
`;

const FRAGMENTS = [
  ...': [ ] { } " \' *a | > # % @ ${ } ~ -1 1e400 null'.split(' '),
  ...['\t', '\n', ' ', '- ', '&a ', '!x ', '---\n', '? ', '<<: *replica\n'],
  ...['\u0000', '\uFEFF', '\u2028', '\uD800'],
];

describe('random input', () => {
  test('a mutated file is accepted, or refused with positions', () => {
    expect(() => parse(VALID)).not.toThrow();
    const edit = fc.record({
      at: fc.nat(VALID.length),
      remove: fc.nat(12),
      insert: fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 4, unit: 'binary' })),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        const apply = (text: string, { at, remove, insert }: (typeof edits)[number]): string =>
          text.slice(0, at) + insert + text.slice(at + remove);
        acceptsOrRefuses(edits.reduce(apply, VALID));
      }),
      { numRuns: RUNS },
    );
  });

  test('no message shows the password, at any position of the damage', () => {
    const valid = VALID.replace('hunter2', '"correct horse"');
    const start = valid.indexOf('correct');
    fc.assert(
      fc.property(fc.nat(valid.length), fc.constantFrom(...FRAGMENTS), (at, insert) => {
        // Damage inside the password itself would make another password, and a new character before it another kind of
        // value.
        fc.pre(at < start - 'password: "'.length || at > start + 'correct horse'.length);
        try {
          parse(valid.slice(0, at) + insert + valid.slice(at));
        } catch (error) {
          expect(String(error)).not.toContain('correct horse');
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('a JDBC URL of any characters is parsed or refused', () => {
    const parts =
      'jdbc: postgresql: pglite: // file: mem: db : 5432 / w ? & = sslmode require % %20 [ ] @ # , ..';
    const part = fc.constantFrom(...parts.split(' '), '\u0000');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const result = parseJdbcUrl(`jdbc:postgresql:${parts.join('')}`, '/app');
        expect('url' in result || result.mistakes.length > 0).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
