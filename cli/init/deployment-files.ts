/** Files that check, build and deploy a new project, by path. */
export function deploymentFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['.github/workflows/ci.yml', PIPELINE],
    ['Dockerfile', DOCKERFILE],
    ['.dockerignore', DOCKERIGNORE],
    ['compose.yaml', compose()],
  ]);
}

const PIPELINE = `name: CI

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-node@v6
        with:
          node-version: 24
          cache: npm
      - run: npm ci
      # Fails if the generated code is stale, or if a route has no rule.
      - run: npx fw-gen generate --check --strict --format github
      # Fails if the models need a migration that does not exist.
      - run: npx fw-gen migrate diff --check
      - run: npm test
`;

const DOCKERFILE = `# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json fw.config.yaml ./
COPY src ./src
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 API_KEYS=true
WORKDIR /app
COPY package.json fw.config.yaml ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/src/migrations ./src/migrations
COPY --from=build /app/dist ./dist
USER node
EXPOSE 8080
# /health/live, not /health/ready: restarting this process does not repair a database.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=64", "dist/main.js"]
`;

/** Excludes everything that the build does not copy: no secrets reach it, and no tests get into the image. */
const DOCKERIGNORE = `*
!package.json
!package-lock.json
!tsconfig.json
!fw.config.yaml
!src
**/*.test.ts
`;

function compose(): string {
  return `# The image on two PostgreSQL servers, on one machine. DB_PASSWORD is in .env.
services:
  app:
    build: .
    init: true
    restart: unless-stopped
    ports:
      - "127.0.0.1:8080:8080"
    environment:
      DB_1_URL: jdbc:postgresql://db-1:5432/app
      DB_2_URL: jdbc:postgresql://db-2:5432/app
      DB_USER: app
      DB_PASSWORD: \${DB_PASSWORD:?Set DB_PASSWORD in .env}
    depends_on:
      db-1:
        condition: service_healthy
      db-2:
        condition: service_healthy

${[1, 2].map(database).join('\n')}
volumes:
  db-1:
  db-2:
`;
}

function database(number: number): string {
  return `  db-${number}:
    image: postgres:18
    restart: unless-stopped
    environment:
      POSTGRES_USER: app
      POSTGRES_DB: app
      POSTGRES_PASSWORD: \${DB_PASSWORD:?Set DB_PASSWORD in .env}
    volumes:
      - db-${number}:/var/lib/postgresql
    healthcheck:
      # Over TCP: while the image initializes the database, its server listens on a Unix socket only.
      test: ["CMD", "pg_isready", "-h", "127.0.0.1", "-U", "app", "-d", "app"]
      interval: 2s
      timeout: 3s
      retries: 30
`;
}
