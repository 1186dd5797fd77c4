/** The implementations of a deposit. All except the framework and the bare script are peers. */

const onlyCold = ({ hot }) => !hot;
const onlyHot = ({ hot }) => hot;

const peer = (name, label) => [
  { name, label, module: name, schema: 'peer', options: { withAction: false }, rows: 2 },
  {
    name: `${name}+action`,
    label: `${label}, with the action's row`,
    module: name,
    schema: 'peer',
    options: { withAction: true },
    rows: 3,
  },
];

const pgbench = (form, label) => [
  {
    name: `pgbench-${form}`,
    label: `pgbench, ${label}`,
    pgbench: form,
    schema: 'peer',
    rows: 2,
    takesPart: onlyCold,
  },
  {
    name: `pgbench-${form}+action`,
    label: `pgbench, ${label}, with the action's row`,
    pgbench: form,
    schema: 'peer',
    rows: 3,
    takesPart: onlyCold,
  },
];

const COMMON = { module: 'framework', schema: 'framework', options: {}, rows: 3 };

/** Measured only if a variable is set. */
const ifSet = (value, variant) => (value === undefined ? [] : [{ ...COMMON, ...variant }]);

/** The build of an earlier version, compared with the current one within each round. */
const before = ifSet(process.env.BENCH_BEFORE, {
  name: 'framework-before',
  label: 'fw-actions before, `BENCH_BEFORE`',
  build: process.env.BENCH_BEFORE,
});

/** `BENCH_TRACED=1`: with the spans of every action recorded, to measure their cost. */
const traced = ifSet(process.env.BENCH_TRACED, {
  name: 'framework-traced',
  label: 'fw-actions, every action traced',
  module: 'framework-traced',
});

/** `BENCH_KEYED=1`: each deposit under an idempotency key. */
const keyed = ifSet(process.env.BENCH_KEYED, {
  name: 'framework-keyed',
  label: 'fw-actions, under an idempotency key',
  options: { isKeyed: true },
});

/** Variants and, if there is an earlier build, the same by it. */
const ofBoth = (given) =>
  given.flatMap((variant) => [
    variant,
    ...before.map(({ build }) => ({
      ...variant,
      name: `${variant.name}-before`,
      label: `${variant.label}, before`,
      build,
    })),
  ]);

/** All variants in the order of the tables. `takesPart` selects the loads of a variant; default: all. */
export const variants = [
  { ...COMMON, name: 'framework', label: '**fw-actions, `execute()`**' },
  ...before,
  ...ofBoth(traced),
  ...ofBoth(keyed),
  {
    name: 'bare',
    label: 'bare script of the merged statement',
    module: 'bare',
    schema: 'framework',
    options: {},
    rows: 3,
  },
  {
    name: 'lean',
    label: 'the same with two rows and nothing checked',
    module: 'lean',
    schema: 'peer',
    options: {},
    rows: 2,
    takesPart: onlyCold,
  },
  ...peer('node-postgres', 'node-postgres by hand'),
  {
    name: 'node-postgres-at-once',
    label: 'node-postgres by hand, tried again at once',
    module: 'node-postgres',
    schema: 'peer',
    options: { withAction: false, pauseMs: 0 },
    rows: 2,
    takesPart: onlyHot,
  },
  ...peer('postgres-js', 'postgres.js'),
  ...peer('kysely', 'Kysely'),
  ...peer('drizzle', 'Drizzle'),
  ...peer('typeorm', 'TypeORM'),
  ...peer('sequelize', 'Sequelize'),
  ...peer('mikro-orm', 'MikroORM'),
  ...peer('prisma', 'Prisma'),
  ...pgbench('transaction', 'a transaction, prepared'),
  ...pgbench('cte', 'one statement, prepared'),
];

/** The variants to which the others are compared, without and with the action's row. */
export const BASE = 'node-postgres';
export const BASE_WITH_ACTION = 'node-postgres+action';
export const FRAMEWORK = 'framework';
export const BARE = 'bare';

/** Loads of the main comparison. */
export const workloads = [
  { name: 'alone', label: '10,000 wallets, one at a time', concurrency: 1, hot: false },
  { name: 'cold-32', label: '10,000 wallets, 32 at once', concurrency: 32, hot: false },
  { name: 'cold-256', label: '10,000 wallets, 256 at once', concurrency: 256, hot: false },
  { name: 'hot-32', label: 'one hot wallet, 32 at once', concurrency: 32, hot: true },
];
