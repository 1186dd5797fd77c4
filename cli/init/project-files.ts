import { deploymentFiles } from './deployment-files.js';
import { sourceFiles } from './source-files.js';

/** The parameters of a new project. */
export interface NewProject {
  /** Name of the package. */
  readonly name: string;
  /** Version range of this package in `package.json`. */
  readonly frameworkRange: string;
  /** Token of callers of the development server. */
  readonly token: string;
  /** Password of the databases in the compose file. */
  readonly databasePassword: string;
}

/** File of the development token. */
export const TOKEN_FILE = '.dev-token';

/** Files that only their owner may read, and that are neither committed nor part of an image. */
export const SECRET_FILES: readonly string[] = [TOKEN_FILE, '.env'];

/** Every file of a new project, by path. */
export function projectFiles(project: NewProject): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', packageJson(project)],
    ['tsconfig.json', TSCONFIG],
    ['fw.config.yaml', configuration(project)],
    ['README.md', readme(project)],
    ['.gitignore', ['node_modules/', 'dist/', 'data/', ...SECRET_FILES, ''].join('\n')],
    [TOKEN_FILE, `${project.token}\n`],
    ['.env', `# Read by docker compose.\nDB_PASSWORD=${project.databasePassword}\n`],
    ...deploymentFiles(),
    ...sourceFiles(TOKEN_FILE),
  ]);
}

/** An example request to the new project. */
export function exampleRequest(token: string): string {
  return `curl -i http://127.0.0.1:8080/notes -H "Authorization: Bearer ${token}" --json '{"text":"Buy milk"}'`;
}

function packageJson({ name, frameworkRange }: NewProject): string {
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      dev: 'fw-gen dev',
      generate: 'fw-gen generate',
      build: 'fw-gen generate --quiet && tsc',
      pretest: 'npm run --silent build',
      // Node 20 takes a folder and Node 22 a pattern; all of them take the current folder.
      test: 'cd dist && node --test',
      prestart: 'npm run --silent build',
      // Requests in progress outlive the small young generation of V8, and each would be copied twice.
      start: 'node --max-semi-space-size=64 dist/main.js',
    },
    dependencies: { 'fw-actions': frameworkRange },
    devDependencies: { '@electric-sql/pglite': '^0.5.16', '@types/node': '^20.19.0', typescript: '^7.0.2' },
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "ES2022",
    "lib": ["ES2023"],
    "types": ["node"],
    "module": "NodeNext",
    "rootDir": "src",
    "outDir": "dist",
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "noImplicitOverride": true,
    "noPropertyAccessFromIndexSignature": true,
    "verbatimModuleSyntax": true,
    "isolatedModules": true,
    "skipLibCheck": true
  },
  "include": ["src"]
}
`;

function configuration({ name }: NewProject): string {
  return `# yaml-language-server: $schema=./node_modules/fw-actions/dist/generator/config.schema.json
# The configuration of fw-gen and of the running service. Every key: node_modules/fw-actions/docs/configuration.md
fw:
  # Written to the namespace column of every outbox row.
  namespace: ${JSON.stringify(name)}

  # What \`fw-gen generate\` reads and writes.
  generator:
    source: src
    output: src/generated
    migrations: src/migrations

  access:
    # A route whose action has no rule (@Allow) answers 403.
    default: deny
    # true: callers send API keys of \`fw-gen keys\`, and the development token is not accepted. The image sets it.
    api-keys: \${API_KEYS:-false}

  # Two shards. Without DB_1_URL and DB_2_URL they are embedded databases, a development dependency.
  sharding:
    default-shard: { group: 0, member: 0 }
    groups:
      # Group and member numbers are part of every id: never change them once there is data.
      - group: 0
        name: main
        members:
${[1, 2].map(member).join('')}`;
}

function member(number: number): string {
  return `          - member: ${number - 1}
            name: main-${number}
            configs:
              primary-config:
                jdbc-url: \${DB_${number}_URL:-jdbc:pglite:file:./data/main-${number}}
                username: \${DB_USER:-app}
                password: \${DB_PASSWORD:-not-needed-by-embedded-databases}
`;
}

function readme({ name }: NewProject): string {
  return `# ${name}

Made by \`fw-gen init\`. The documentation of the framework is in \`node_modules/fw-actions/docs\`.

## Develop

\`\`\`sh
npm install
npm test        # generates, compiles and runs the tests
npm run dev     # runs the server on http://127.0.0.1:8080, and restarts it after each change
\`\`\`

The server refuses requests without the token in \`${TOKEN_FILE}\`:

\`\`\`sh
${exampleRequest(`$(cat ${TOKEN_FILE})`)}
\`\`\`

Git ignores the token, so each clone needs its own:

\`\`\`sh
node -p "crypto.randomBytes(32).toString('base64url')" > ${TOKEN_FILE}
\`\`\`

## Check

\`.github/workflows/ci.yml\` installs, compares the generated code with the sources, checks that changes of models have
a migration, and runs the tests. Commit \`package-lock.json\`, \`src/generated\` and \`src/migrations\`.

## Deploy

The image runs on two PostgreSQL servers. Try it on one machine, with the password in \`.env\`:

\`\`\`sh
docker compose up --build --wait
docker compose exec app npx fw-gen keys create --principal me
\`\`\`

The second command prints an API key, which callers of the image send as the token. Elsewhere, set \`DB_1_URL\`,
\`DB_2_URL\`, \`DB_USER\` and \`DB_PASSWORD\`, as \`compose.yaml\` does. For tokens of an issuer, configure \`fw.access.jwt\`.
`;
}
