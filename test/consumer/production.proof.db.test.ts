import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { PGLITE_VERSION } from '../../runtime/pglite/load-pglite.js';
import { createWallet, post, type WalletBody } from '../customer/http-client.js';
import { writeWalletConfig } from '../customer/wallet-config.js';
import { testServer } from '../databases/vitest.js';
import { type Places, serverPlaces } from '../http/wallet-service.js';
import { packInto, QUIETLY } from '../scaffold/new-project.js';
import { listening } from '../scaffold/program.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
/** Packages that only the generator uses. */
const OF_GENERATOR = ['ts-morph', '@ts-morph', 'handlebars', 'commander'];
/** Entrances of the package that a running application may use. */
const RUNTIME = ['', '/codegen', '/config', '/consumer', '/testing'];
const INSTALL_PGLITE = `Run: npm install @electric-sql/pglite@${PGLITE_VERSION}`;

/** The package in an image that was built with `npm ci --omit=dev`. */
describe('a production install', () => {
  const folder = temporaryFolder();
  const installed = join(folder, 'node_modules', 'fw-actions');
  let places: Places | undefined;

  beforeAll(async () => {
    const manifest = {
      ...{ name: 'wallet-image', private: true, type: 'module' },
      dependencies: { 'fw-actions': `file:${await packInto(folder)}` },
      devDependencies: { '@electric-sql/pglite': PGLITE_VERSION },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    await run('npm', ['install', '--package-lock-only', ...QUIETLY], { cwd: folder });
    await run('npm', ['ci', '--omit=dev', ...QUIETLY], { cwd: folder });
    // The application as its own build produced it.
    cpSync(join(root, 'dist', 'examples', 'wallet'), join(folder, 'wallet'), { recursive: true });
    places = await serverPlaces(testServer());
  }, 180_000);

  afterAll(() => places?.drop());

  /** Runs `fw-gen` as users do. */
  async function fwGen(
    ...args: readonly string[]
  ): Promise<{ readonly code: number; readonly text: string }> {
    try {
      const { stdout, stderr } = await run(join(folder, 'node_modules', '.bin', 'fw-gen'), args, {
        cwd: folder,
      });
      return { code: 0, text: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, text: stdout + stderr };
    }
  }

  function serverConfig(): string {
    if (places === undefined) throw new Error('There are no databases');
    return writeWalletConfig(folder, places);
  }

  function embeddedConfig(): string {
    const directory = join(folder, 'embedded');
    mkdirSync(directory, { recursive: true });
    const place = (name: string) => ({ jdbcUrl: `jdbc:pglite:mem:${name}` });
    return writeWalletConfig(directory, { global: place('global'), mexico: place('mexico') });
  }

  test('does not contain the embedded database', () => {
    expect(existsSync(join(folder, 'node_modules', '@electric-sql/pglite'))).toBe(false);
  });

  test('does not load the packages of the generator at run time', async () => {
    const imports = RUNTIME.map((entrance) => `await import('fw-actions${entrance}');\n`).join('');
    writeFileSync(join(folder, 'loaded.mjs'), `${imports}${PRINT_LOADED}`);
    const { stdout } = await run(process.execPath, ['loaded.mjs'], { cwd: folder });
    const loaded: readonly string[] = JSON.parse(stdout);
    expect(loaded).toContain('pg');
    expect(OF_GENERATOR.filter((name) => loaded.includes(name))).toEqual([]);
  });

  test('names the version of the embedded database that the package is tested with', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    expect(devDependencies['@electric-sql/pglite']).toBe(PGLITE_VERSION);
  });

  test('runs the wallet on PostgreSQL', async () => {
    const { url, end } = await listening(command(serverConfig()), { cwd: folder, env: process.env });
    try {
      const wallet = await createWallet(url, 'MX', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10');
      const { status, body } = await post<WalletBody>(`${url}/wallets/${wallet.id}/deposit`, {
        amount: '50.25',
      });
      expect([status, body.balance, body.version]).toEqual([200, '150.25', 2]);
    } finally {
      await end();
    }
  });

  test('has the commands that operators need', async () => {
    const found = await fwGen('doctor', '--config', serverConfig());
    expect(found.text).toMatch(/connection/);
    expect((await fwGen('--help')).text).toContain('fw-gen generate --check');
  });

  test('generates, even with templates of the project', async () => {
    cpSync(join(installed, 'examples', 'wallet'), join(folder, 'source'), { recursive: true });
    rmSync(join(folder, 'source', 'generated'), { recursive: true });
    mkdirSync(join(folder, 'own'));
    const server = readFileSync(join(installed, 'templates', 'server.hbs'), 'utf8');
    writeFileSync(join(folder, 'own', 'server.hbs'), `// Our own.\n${server}`);
    const generator =
      '  generator: { source: source, output: source/generated, migrations: source/migrations, templates: own }\n';
    const config = join(folder, 'generator.config.yaml');
    writeFileSync(config, readFileSync(serverConfig(), 'utf8') + generator);
    const { code, text } = await fwGen('generate', '--config', config);
    expect(text).toMatch(/files? written/);
    expect(code).toBe(0);
    expect(readFileSync(join(folder, 'source', 'generated', 'server.ts'), 'utf8')).toContain('// Our own.');
  });

  test('reports which command installs the embedded database', async () => {
    const config = embeddedConfig();
    const [program = '', ...args] = command(config);
    const { status, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
    expect(stderr).toContain(
      `jdbc:pglite:mem:global) needs the package @electric-sql/pglite. ${INSTALL_PGLITE}`,
    );
    expect(stderr).not.toContain('    at ');
    expect(status).toBe(1);
    const doctor = await fwGen('doctor', '--config', config);
    expect(doctor.text).toContain(INSTALL_PGLITE);
    expect([doctor.code, doctor.text.includes('bug')]).toEqual([2, false]);
  });

  test('reports it for commands that replay migrations in memory', async () => {
    const { code, text } = await fwGen('migrate', 'diff', '--config', join(folder, 'generator.config.yaml'));
    expect(text).toContain(INSTALL_PGLITE);
    expect([code, text.includes('bug')]).toEqual([2, false]);
  });
});

/** Prints the packages of all CommonJS modules that were loaded, which the generator's packages consist of. */
const PRINT_LOADED = `import { createRequire } from 'node:module';
const files = Object.keys(createRequire(import.meta.url).cache);
const names = files.map((file) => file.split(/node_modules[\\\\/]/).at(-1).split(/[\\\\/]/)[0]);
console.log(JSON.stringify([...new Set(names)]));
`;

/** The command that starts the wallet. */
function command(config: string): readonly string[] {
  return [process.execPath, join('wallet', 'main.js'), '--config', config, '--port', '0'];
}
