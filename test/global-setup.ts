import { existsSync } from 'node:fs';
import * as pglite from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';
import { clusterFile, openCluster } from '../runtime/pglite/prepared-cluster.js';
import { SERVER_VARIABLE, type ServerAddress, startPostgres } from './databases/server.js';
import type {} from './databases/vitest.js';

/** Starts one PostgreSQL server for the whole test run, or uses the one named by FW_TEST_POSTGRES. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await prepareCluster();
  const given = process.env[SERVER_VARIABLE];
  if (given !== undefined && given !== '') return useServer(project, parseAddress(given));
  const server = await startPostgres();
  const { host, port, user, password, database } = server;
  project.provide('postgresServer', { host, port, user, password, database });
  return () => server.destroy();
}

/** Creates the cluster of new embedded databases once, instead of once in each worker. */
async function prepareCluster(): Promise<void> {
  const file = clusterFile();
  if (file === undefined || existsSync(file)) return;
  await (await openCluster(pglite, undefined)).close();
}

function useServer(project: TestProject, address: ServerAddress): () => Promise<void> {
  project.provide('postgresServer', address);
  return async () => {
    const { dropTestDatabases } = await import('./databases/template.js');
    await dropTestDatabases(address);
  };
}

/** From `postgresql://user:password@host:port/database`. */
function parseAddress(text: string): ServerAddress {
  const url = new URL(text);
  return {
    host: url.hostname,
    port: Number(url.port || '5432'),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || 'postgres',
  };
}
