import { accessTable } from './access.js';
import { handlers } from './events.js';
import { loads, servers } from './http.js';
import { shapes } from './processes.js';
import { refusalsTables } from './refusals.js';
import { decimals, ratios, ratioText, summarise, whole, workloadTable } from './report.js';
import { counts } from './shards.js';
import { median, summary } from './statistics.js';
import { BASE, BASE_WITH_ACTION, workloads } from './variants.js';

/** Every table of these results: a name for its place in RESULTS.md, a title, heading and rows. */
export function tables(results) {
  return [
    ...executeTables(results.execute),
    ...httpTables(results.http),
    ...processTables(results.processes),
    ...shardTables(results.shards),
    ...eventTables(results.events),
    ...(results.refusals === undefined ? [] : refusalsTables(results.refusals)),
    ...(results.access === undefined ? [] : [accessTable(results.access)]),
  ];
}

function executeTables(execute) {
  if (execute === undefined) return [];
  return execute.workloads.map((measured) => ({
    name: measured.name,
    title: labelOf(workloads, measured.name),
    table: workloadTable(measured),
  }));
}

function httpTables(http) {
  if (http === undefined) return [];
  return http.workloads.map(({ name, rounds }) => ({
    name,
    title: labelOf(loads, name),
    table: {
      heading: [
        'server',
        'requests/s',
        'to Fastify by hand',
        "to it with the action's row",
        'service + server us',
        'p50 ms',
        'p99 ms',
        'errors',
      ],
      rows: servers.map(({ name: variant, label }) => {
        const numbers = summarise(rounds, variant);
        if (numbers === undefined) throw new Error(`No figures of ${variant}`);
        return [
          label,
          whole(numbers.perSecond),
          ratioText(ratios(rounds, variant, BASE)),
          ratioText(ratios(rounds, variant, BASE_WITH_ACTION)),
          `${whole(numbers.clientUs)} + ${whole(numbers.serverUs)}`,
          decimals(numbers.p50Ms),
          decimals(numbers.p99Ms),
          String(numbers.errors),
        ];
      }),
    },
  }));
}

function processTables(processes) {
  if (processes === undefined) return [];
  const rows = processes.shapes.flatMap(({ name, rounds }) => {
    const one = rounds.filter(({ count }) => count === 1);
    const two = rounds.filter(({ count }) => count === 2);
    const sum = (round) => round.perSecond.reduce((total, value) => total + value, 0);
    const share = (round) => Math.min(...round.perSecond) / sum(round);
    const label = labelOf(shapes, name);
    return [
      [
        label,
        whole(median(one.map(sum))),
        whole(median(two.map(sum))),
        decimals(median(two.map(sum)) / median(one.map(sum))),
        percent(median(two.map(share))),
        String(failures(two)),
        String(two.reduce((total, round) => total + round.deadlocks, 0)),
      ],
    ];
  });
  const heading = [
    'load',
    'one process, per s',
    'two together, per s',
    'ratio',
    "the slower one's share",
    'errors',
    'deadlocks',
  ];
  return [{ name: 'processes', title: 'Two processes on one database', table: { heading, rows } }];
}

function failures(rounds) {
  const all = rounds.flatMap(({ errors }) => errors.flatMap((byName) => Object.values(byName)));
  return all.reduce((sum, count) => sum + count, 0);
}

function shardTables(shards) {
  if (shards === undefined) return [];
  const { rounds, facts, connections, processes } = shards;
  const base = facts.find(({ count }) => count === 1).heapBytes;
  const rows = counts.map((count) => {
    const own = rounds.filter((round) => round.count === count);
    const of = (key) => median(own.map((round) => round[key]));
    const heap = facts.find((fact) => fact.count === count).heapBytes - base;
    const perShard = count === 1 ? '' : decimals(heap / (count - 1) / 1024);
    return [String(count), decimals(of('p50Ms')), decimals(of('p99Ms')), whole(of('clientUs')), perShard];
  });
  const heading = [
    'configured shards',
    'execute() p50 ms',
    'p99 ms',
    'client CPU us',
    'kB per further shard',
  ];
  const title = `Cost in the number of shards (${connections} connections open in ${processes} processes)`;
  return [{ name: 'shards', title, table: { heading, rows } }];
}

function eventTables(events) {
  if (events === undefined) return [];
  const rows = handlers.map(({ name, label }) => {
    const own = events.rounds.filter((round) => round.name === name);
    const { median: middle, least, greatest } = summary(own.map(({ perSecond }) => perSecond));
    const clientUs = median(own.map((round) => round.clientUs));
    return [label, whole(middle), `${whole(least)} to ${whole(greatest)}`, whole(clientUs)];
  });
  const heading = ['what the handler does', 'events/s', 'over the rounds', 'client CPU us per event'];
  return [{ name: 'events', title: 'Events delivered, one shard, one process', table: { heading, rows } }];
}

function percent(part) {
  return `${Math.round(part * 100)} %`;
}

function labelOf(list, name) {
  return list.find((entry) => entry.name === name)?.label ?? name;
}
