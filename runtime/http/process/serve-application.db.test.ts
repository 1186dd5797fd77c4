import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixedPrincipal } from '../../access/authenticator.js';
import { Action } from '../../action/action.js';
import { ONE_SHARD } from '../../config/test-support/configs.js';
import { temporaryFolder } from '../../config/test-support/temporary-folder.js';
import { namedFields, t } from '../../domain/field-types.js';
import { emptyApplication } from '../test-support/empty-application.js';
import { FakeProcess } from '../test-support/fake-process.js';
import { serveApplication } from './serve-application.js';
import type { ServerTools, ServeSettings } from './serve-options.js';

const yaml = ONE_SHARD.replace(/jdbc-url: .*/s, 'jdbc-url: jdbc:pglite:mem:serve-application\n');
const folder = temporaryFolder();
const config = join(folder, 'fw.config.yaml');
writeFileSync(config, yaml);

type More = Partial<Pick<ServeSettings, 'log' | 'plugins' | 'routes'>>;

function run(argv: readonly string[], more: More = {}, application = emptyApplication) {
  const port = new FakeProcess();
  const options = { authenticator: fixedPrincipal('tester'), collaborators: {}, env: {}, argv, ...more };
  return { port, running: serveApplication(application, options, port) };
}

/** A configuration with a database in a folder, and the locks on it. */
function onDisk(name: string) {
  const [directory, file] = [join(folder, name), join(folder, `${name}.yaml`)];
  writeFileSync(file, yaml.replace('mem:serve-application', `file:${directory}`));
  return {
    argv: ['--config', file, '--port', '0'],
    locks: () => readdirSync(directory).filter((each) => each.startsWith('fw-actions-lock')),
  };
}

describe('a start', () => {
  it('prints only its address on stdout; the rest goes to stderr', async () => {
    const { port, running } = run(['--config', config, '--port', '0']);
    const server = await running;
    expect(port.out).toBe(`listening on ${server.url}\n`);
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(port.err).toContain('authentication is off');
    for (const line of port.err.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
    const ready = await fetch(`${server.url}/health/ready`);
    expect(await ready.json()).toEqual({
      status: 'ready',
      shards: [{ shard: '(0, 0)', name: 'global-1', status: 'up' }],
    });
    expect(await (await fetch(`${server.url}/docs`)).text()).toContain('<h1>Nothing</h1>');
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow();
    expect(port.listens).toBe(false);
  });

  it('puts brackets around an IPv6 address', async () => {
    const { running } = run(['--config', config, '--port', '0', '--host', '::1']);
    const server = await running;
    expect(server.url).toBe(`http://[::1]:${server.port}`);
    await server.close();
  });

  it('says that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const address = other.address();
    const taken = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const { port, running } = run(['--config', config, '--port', String(taken)]);
    await expect(running).rejects.toThrow('exit 1');
    expect(port.err).toContain(
      `Port ${taken} of 127.0.0.1 is in use; choose another one with --port or PORT\n`,
    );
    expect(port.out).toBe('');
    await new Promise((resolve) => other.close(resolve));
  });
});

describe('a failed start', () => {
  it('shows the usage', async () => {
    const { port, running } = run(['--help']);
    await expect(running).rejects.toThrow('exit 0');
    expect(port.out).toMatch(/^Options:\n {2}--config <file>/);
  });

  const broken = join(folder, 'broken.yaml');
  writeFileSync(broken, yaml.replace('namespace', 'namespce'));

  it.each([
    ['unknown flags, with the usage', ['--prot', '80'], /--prot[\s\S]*Options:/],
    ['mistakes in the configuration', ['--config', broken], `${broken}:2:3 fw.namespce: `],
    ['a missing configuration', ['--config', join(folder, 'nowhere.yaml')], 'nowhere.yaml'],
  ])('reports %s', async (_, argv, reason) => {
    const { port, running } = run(argv);
    await expect(running).rejects.toThrow('exit 2');
    expect(port.err).toMatch(reason);
    expect(port.out).toBe('');
  });

  it('reports that the code was generated for another runtime', async () => {
    const { port, running } = run(['--config', config], {}, { ...emptyApplication, codegenVersion: 99 });
    await expect(running).rejects.toThrow('exit 1');
    expect(port.err).toContain('run fw-gen generate');
  });
});

describe('a start with plugins and routes of the application', () => {
  it('passes the running application to the program and to its routes', async () => {
    const routes = (fastify: FastifyInstance, { application, authenticate }: ServerTools): void => {
      fastify.get('/shards', async () => ({
        shards: application.databases.shards().map((shard) => shard.toString()),
        bound: typeof authenticate,
      }));
    };
    const server = await run(['--config', config, '--port', '0'], { routes }).running;
    onTestFinished(() => server.close());
    expect(await (await fetch(`${server.url}/shards`)).json()).toMatchObject({ shards: ['(0, 0)'] });
    expect((await server.fastify.inject('/health/live')).statusCode).toBe(200);
    const [shard] = server.application.databases.shards();
    expect(shard?.toString()).toBe('(0, 0)');
  });

  it('refuses params in its routes that break their rules', async () => {
    class NoteAction extends Action<{ readonly note: string }, string> {
      perform(): Promise<string> {
        return Promise.resolve('noted');
      }
    }
    const application: typeof emptyApplication = {
      ...emptyApplication,
      wire: ({ clock }) => [
        {
          name: 'Note',
          actionClass: NoteAction,
          params: namedFields({ note: t.string({ maxLength: 5 }) }),
          create: () => new NoteAction(clock),
        },
      ],
    };
    const routes = (fastify: FastifyInstance, { execute }: ServerTools): void => {
      fastify.get<{ Params: { note: string } }>('/note/:note', async (request) => {
        return { answer: await execute(request, NoteAction, { note: request.params.note }) };
      });
    };
    const server = await run(['--config', config, '--port', '0'], { routes }, application).running;
    onTestFinished(() => server.close());
    const [taken, refused] = await Promise.all(
      ['short', 'too long'].map((note) => fetch(`${server.url}/note/${note}`)),
    );
    expect([taken?.status, refused?.status]).toEqual([200, 400]);
    expect(await refused?.json()).toMatchObject({
      code: 'FW_VALIDATION',
      errors: [{ pointer: '/note', message: 'note must have at most 5 characters' }],
    });
  });

  it('reports a plugin that fails, and leaves neither a port nor a database open', async () => {
    async function geo(): Promise<void> {
      throw new Error('no such file: cities.db');
    }
    const { argv, locks } = onDisk('data');
    const { port, running } = run(argv, { plugins: [geo] });
    await expect(running).rejects.toThrow('exit 1');
    expect(port.err).toContain("Plugin 'geo' failed at start: no such file: cities.db\n");
    expect(port.out).toBe('');
    expect(locks()).toEqual([]);
    await (await run(argv).running).close();
  });
});

describe('A server whose parts fail', () => {
  const broken = (): never => {
    throw new Error('the disk is full');
  };

  it('closes its databases although a plugin cannot be closed, and reports the reason', async () => {
    const { argv, locks } = onDisk('stuck');
    const stuck = async (fastify: FastifyInstance): Promise<void> => {
      fastify.addHook('onClose', async () => broken());
    };
    const server = await run(argv, { plugins: [stuck] }).running;
    expect(locks()).toHaveLength(1);
    await expect(server.close()).rejects.toThrow('the disk is full');
    expect(locks()).toEqual([]);
  });

  it('serves, drains and ends with a logger that throws', async () => {
    const log = { info: broken, warn: broken, error: broken, flush: broken };
    const routes = (fastify: FastifyInstance): void => void fastify.get('/fault', async () => broken());
    const { port, running } = run(['--config', config, '--port', '0'], { log, routes });
    const ended = new Promise<number>((resolve) => {
      port.exit = (code) => void resolve(code) as never;
    });
    const server = await running;
    expect((await fetch(`${server.url}/fault`)).status).toBe(500);
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    expect(port.err).toContain('"path":"/fault"');
    port.signal('SIGTERM');
    expect(await ended).toBe(0);
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it('reports why it cannot start, even with a logger that does not flush', async () => {
    const log = { info: () => {}, warn: () => {}, error: () => {}, flush: broken };
    const { port, running } = run(['--config', join(folder, 'none.yaml')], { log });
    await expect(running).rejects.toThrow('exit 2');
    expect(port.err).toContain('none.yaml');
  });
});
