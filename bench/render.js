/** Writes the tables and plots of the given results into RESULTS.md, between its markers. The other text stays. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { loads, servers } from './lib/http.js';
import { decimals, markdown, progress, summarise, whole } from './lib/report.js';
import { barChart, stackedChart } from './lib/svg.js';
import { tables } from './lib/tables.js';
import { FRAMEWORK, variants } from './lib/variants.js';

const RESULTS = new URL('./results/', import.meta.url);
const PUBLISHED = new URL('published.json', RESULTS);
const PAGE = new URL('./RESULTS.md', import.meta.url);
const PLOTS = new URL('./plots/', import.meta.url);
/** Maximum areas of a profile that are shown separately; the rest is one part. */
const SHOWN_AREAS = 8;

const [given] = process.argv.slice(2);
if (given !== undefined) copyFileSync(pathToFileURL(given), PUBLISHED);
if (!existsSync(PUBLISHED)) throw new Error('Which results? node render.js results/<file>.json');

mkdirSync(PLOTS, { recursive: true });
const results = JSON.parse(readFileSync(PUBLISHED, 'utf8'));
const texts = /** @type {[string, string][]} */ ([
  ['about', aboutText(results)],
  ...tables(results).map(({ name, title, table }) => [
    name,
    `**${title}**\n\n${markdown(table)}${plotOf(name, title)}`,
  ]),
  ['profile', profileText()],
]);
const sections = new Map(texts);
writeFileSync(PAGE, fill(readFileSync(PAGE, 'utf8'), sections));

function fill(page, texts) {
  const seen = new Set();
  const filled = page.replaceAll(
    /(<!-- begin ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (all, begin, name, end) => {
      seen.add(name);
      const text = texts.get(name);
      return text === undefined ? all : `${begin}\n${text}\n\n${end}`;
    },
  );
  for (const name of texts.keys()) if (!seen.has(name)) progress(`RESULTS.md has no place for ${name}`);
  return filled;
}

function aboutText({ about, options, execute }) {
  const { date, commit, node, cpu, cores, postgres, peers } = about;
  const settings = Object.entries(postgres).map(([name, value]) => `\`${name}\` ${value}`);
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  const missing = execute?.missing.map(({ variant, reason }) => `Missing: ${variant} (${reason}).`) ?? [];
  return [
    `Measured ${date.slice(0, 10)} at commit ${commit ?? 'unknown'}, ${cores} cores (${cpu}), Node ${node}; PostgreSQL: ${settings.join(', ')}.`,
    `${options.rounds} rounds, slices of ${options.measureMs / 1000} s after ${options.warmUpMs / 1000} s of warm-up.`,
    `Versions: ${versions.join(', ')}.`,
    ...missing,
  ].join('\n');
}

/** Draws a plot for a table with bars, and links it. */
function plotOf(name, title) {
  const measured = [...(results.execute?.workloads ?? []), ...(results.http?.workloads ?? [])].find(
    (entry) => entry.name === name,
  );
  if (measured === undefined) return '';
  const known = loads.some((load) => load.name === name) ? servers : variants;
  const rows = known.flatMap(({ name: variant, label }) => {
    const numbers = summarise(measured.rounds, variant);
    if (numbers === undefined) return [];
    const text = `${whole(numbers.perSecond)}/s, ${decimals(numbers.toBase.median)} x`;
    return [
      {
        label: label.replaceAll(/\*\*|`/g, ''),
        value: numbers.perSecond,
        text,
        strong: variant === FRAMEWORK,
      },
    ];
  });
  writeFileSync(new URL(`${name}.svg`, PLOTS), barChart({ title, rows }));
  return `\n\n![${title}](plots/${name}.svg)`;
}

function profileText() {
  const kept = ['before', 'after'].flatMap((name) => {
    const file = new URL(`profile-${name}.json`, RESULTS);
    return existsSync(file) ? [{ name, runs: JSON.parse(readFileSync(file, 'utf8')) }] : [];
  });
  if (kept.length === 0) return 'No profile has been kept.';
  const runs = kept.flatMap(({ name, runs: list }) => list.map((run) => ({ ...run, name })));
  const rows = runs.map(profileRow);
  writeFileSync(
    new URL('profile.svg', PLOTS),
    stackedChart({ title: 'Client CPU per action, by area', rows }),
  );
  const latest = kept[kept.length - 1];
  const tablesOfLatest = latest.runs.map(({ concurrency, clientUs, functions }) => {
    const top = functions.slice(0, 15);
    const cells = top.map(({ name, where, share }) => [`\`${name}\` ${where}`, decimals(share * clientUs)]);
    return `**${latest.name}, ${concurrency} at once**\n\n${markdown({ heading: ['function', 'self us per action'], rows: cells })}`;
  });
  return `![Client CPU per action](plots/profile.svg)\n\n${tablesOfLatest.join('\n\n')}`;
}

function profileRow({ name, concurrency, clientUs, areas }) {
  const shown = areas
    .slice(0, SHOWN_AREAS)
    .map(({ area, share }) => ({ name: area, value: share * clientUs }));
  const rest = areas.slice(SHOWN_AREAS).reduce((sum, { share }) => sum + share, 0);
  const parts = [...shown, { name: 'other', value: rest * clientUs }];
  return { label: `${name}, ${concurrency} at once`, text: `${decimals(clientUs)} us`, parts };
}
