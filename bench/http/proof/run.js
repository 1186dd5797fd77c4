// Holds the generated wallet's API document to Spectral and Redocly, and the running server to the document by
// Schemathesis for eight minutes (FW_PROOF_SECONDS). Needs the built wallet; Schemathesis runs where Python is there.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MAIN = fileURLToPath(new URL('../../../dist/examples/wallet/main.js', import.meta.url));
const SECONDS = Number(process.env.FW_PROOF_SECONDS ?? 480);
const SPECTRAL = '@stoplight/spectral-cli@6.16.3';
const REDOCLY = '@redocly/cli@2.77.0';
const SCHEMATHESIS = 'schemathesis==4.32.5';

const folder = mkdtempSync(join(tmpdir(), 'fw-proof-http-'));
const server = await startWallet();
try {
  const document = join(folder, 'openapi.json');
  writeFileSync(document, await (await fetch(`${server.url}/openapi.json`)).text());
  run('npx', [
    '--yes',
    '-p',
    SPECTRAL,
    'spectral',
    'lint',
    document,
    '--ruleset',
    join(HERE, 'spectral.yaml'),
    '-F',
    'hint',
  ]);
  run('npx', [
    '--yes',
    '-p',
    REDOCLY,
    'redocly',
    'lint',
    document,
    '--config',
    join(HERE, 'redocly.yaml'),
    '--max-problems',
    '100',
  ]);
  const schemathesis = installSchemathesis();
  if (schemathesis === undefined) console.log('no Python: Schemathesis was left out');
  else runSchemathesis(schemathesis, server.url);
} finally {
  server.process.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

async function startWallet() {
  const config = join(folder, 'fw.config.yaml');
  const group = (number, name) => ({
    group: number,
    name,
    members: [
      {
        member: 0,
        name: `${name}-1`,
        configs: { 'primary-config': { 'jdbc-url': `jdbc:pglite:mem:${name}` } },
      },
    ],
  });
  const sharding = {
    'default-shard': { group: 0, member: 0 },
    groups: [group(0, 'global'), group(1, 'mexico')],
  };
  writeFileSync(config, JSON.stringify({ fw: { namespace: 'example.wallet', sharding } }));
  const child = spawn(process.execPath, [MAIN, '--config', config, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const url = await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The wallet ended with ${code}`)));
    child.stdout.on('data', (text) => {
      const found = /listening on (\S+)/.exec(String(text));
      if (found !== null) resolve(found[1]);
    });
  });
  return { url, process: child };
}

/** Runs the phases repeatedly with new seeds until the time is over; each run must end without a finding. */
function runSchemathesis(program, url) {
  // Schemathesis looks for its hooks in the working directory, and writes its own files there.
  copyFileSync(join(HERE, 'hooks.py'), join(folder, 'hooks.py'));
  const until = Date.now() + SECONDS * 1_000;
  for (let seed = 1; seed === 1 || Date.now() < until; seed += 1) {
    console.log(
      `schemathesis, seed ${seed}, ${Math.max(0, Math.round((until - Date.now()) / 1_000))} s left`,
    );
    const settings = ['--config-file', join(HERE, 'schemathesis.toml'), 'run', `${url}/openapi.json`];
    run(
      program,
      [...settings, '--checks', 'all', '--seed', String(seed), '--max-examples', '50', '--no-color'],
      {
        cwd: folder,
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
      },
    );
  }
}

function installSchemathesis() {
  if (spawnSync('python3', ['--version']).status !== 0) return undefined;
  const environment = join(tmpdir(), `fw-${SCHEMATHESIS}`);
  const program = join(environment, 'bin', 'schemathesis');
  if (!existsSync(program)) {
    run('python3', ['-m', 'venv', environment]);
    run(join(environment, 'bin', 'pip'), ['install', '--quiet', SCHEMATHESIS]);
  }
  return program;
}

function run(program, args, options = {}) {
  execFileSync(program, args, { stdio: 'inherit', ...options });
}
