import { summary } from './statistics.js';
import { BARE, BASE, BASE_WITH_ACTION, variants } from './variants.js';

/** Prints a line about the progress. */
export function progress(text) {
  process.stderr.write(`${text}\n`);
}

/** The numbers of one variant in one workload over all rounds. */
export function summarise(rounds, variant) {
  const own = rounds.filter((round) => round.variant === variant);
  if (own.length === 0) return undefined;
  const of = (key) => summary(own.map((round) => round[key] ?? Number.NaN)).median;
  const errors = own.reduce((sum, round) => sum + count(round.errors), 0);
  return {
    variant,
    perSecond: of('perSecond'),
    toBase: ratios(rounds, variant, BASE),
    toBaseWithAction: ratios(rounds, variant, BASE_WITH_ACTION),
    toBare: ratios(rounds, variant, BARE),
    clientUs: of('clientUs'),
    serverUs: of('serverUs'),
    stalePerDeposit: of('stalePerDeposit'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    errors,
  };
}

/** Ratios within one round, because rounds differ more than ratios. */
export function ratios(rounds, variant, base) {
  const ratio = ({ round, perSecond }) => {
    const other = rounds.find((candidate) => candidate.round === round && candidate.variant === base);
    return other === undefined ? Number.NaN : perSecond / other.perSecond;
  };
  return summary(rounds.filter((round) => round.variant === variant).map(ratio));
}

function count(errors) {
  return Object.values(errors ?? {}).reduce((sum, number) => sum + number, 0);
}

/** Headings and cells of one workload's table. */
export function workloadTable({ rounds }) {
  const heading = [
    'variant',
    'deposits/s',
    `to node-postgres`,
    `to it with the action's row`,
    'client + server us',
    'p50 ms',
    'p99 ms',
    'stale',
    'errors',
  ];
  const rows = variants.flatMap(({ name, label }) => {
    const numbers = summarise(rounds, name);
    return numbers === undefined ? [] : [[label, ...cells(numbers)]];
  });
  return { heading, rows };
}

function cells(numbers) {
  return [
    whole(numbers.perSecond),
    ratioText(numbers.toBase),
    ratioText(numbers.toBaseWithAction),
    `${whole(numbers.clientUs)} + ${whole(numbers.serverUs)}`,
    decimals(numbers.p50Ms),
    decimals(numbers.p99Ms),
    decimals(numbers.stalePerDeposit),
    String(numbers.errors),
  ];
}

export function ratioText({ median, least, greatest }) {
  if (!Number.isFinite(median)) return '';
  return `${decimals(median)} (${decimals(least)} to ${decimals(greatest)})`;
}

export function whole(value) {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '';
}

/** Two significant digits, at most three decimals. */
export function decimals(value) {
  if (!Number.isFinite(value)) return '';
  if (value >= 100) return String(Math.round(value));
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** As Markdown. */
export function markdown({ heading, rows }) {
  const line = (fields) => `| ${fields.join(' | ')} |`;
  return [
    line(heading),
    line(heading.map((_, index) => (index === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

/** For a terminal. */
export function plain({ heading, rows }) {
  const all = [heading, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\*\*|`/g, '')));
  const widths = heading.map((_, index) => Math.max(...all.map((row) => row[index].length)));
  const pad = (cell, index) => (index === 0 ? cell.padEnd(widths[index]) : cell.padStart(widths[index]));
  return all.map((row) => row.map(pad).join('  ')).join('\n');
}
