import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The product under test: the build at the root, or that of another checkout which `BENCH_BUILD` names, to compare
 * two versions. It is imported by path, so that this folder's lock file does not depend on it; it is the same module
 * instance that the built example gets under the name `fw-actions`.
 */
const ROOT =
  process.env.BENCH_BUILD === undefined
    ? new URL('../../', import.meta.url)
    : pathToFileURL(`${resolve(process.env.BENCH_BUILD)}/`);
const DIST = new URL('dist/', ROOT);

/** The environment of a process that uses the build in the folder `build`, or this process's build. */
export function withBuild(build) {
  return build === undefined ? process.env : { ...process.env, BENCH_BUILD: resolve(build) };
}

/** A module of the build. */
export async function built(path) {
  try {
    return await import(new URL(path, DIST).href);
  } catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`${error.message}\nBuild first, at the root: npm run build && npm run build:wallet`);
  }
}

/** Path of a file of the build, or of the one in the folder `build`. */
export function builtFile(path, build) {
  return new URL(path, build === undefined ? DIST : pathToFileURL(`${resolve(build)}/dist/`));
}

/** A sharding configuration: shard (0, 0) is `connection`, the others are databases that are never opened. */
export async function topology(connection, { shards = 1, poolSize = 16 } = {}) {
  const { ShardingConfig } = await built('runtime/config/index.js');
  const { host, port, user, password, database } = connection;
  const member = (number, name) => ({
    member: number % MEMBERS,
    name: `shard-${number}`,
    configs: {
      primaryConfig: {
        jdbcUrl: `jdbc:postgresql://${host}:${port}/${name}`,
        username: user,
        password,
        maximumPoolSize: poolSize,
        applicationName: 'fw-bench',
      },
    },
  });
  const groups = Array.from({ length: Math.ceil(shards / MEMBERS) }, (_, group) => ({
    group,
    name: `group-${group}`,
    members: Array.from({ length: Math.min(MEMBERS, shards - group * MEMBERS) }, (_, index) => {
      const number = group * MEMBERS + index;
      return member(number, number === 0 ? database : `not_there_${number}`);
    }),
  }));
  return ShardingConfig.of({ defaultShard: { group: 0, member: 0 }, groups });
}

/** Members of one group. */
const MEMBERS = 64;

/** The wallet application on one database. */
export async function openWallet(connection, { migrate = false, ...shape } = {}) {
  const { openApplication } = await built('runtime/index.js');
  const { application } = await built('examples/wallet/generated/application.js');
  return openApplication(application, {
    namespace: 'bench',
    sharding: await topology(connection, shape),
    collaborators: {},
    deliver: false,
    // The second name is that of builds until 2026-11-29.
    ...{ migrateAtStart: migrate, migrate },
  });
}
