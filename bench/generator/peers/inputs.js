import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelName } from '../synthetic-project.js';

/** Inputs of the other generators, comparable to `count` models with two events and three actions. */
function names(count) {
  return Array.from({ length: count }, (_none, index) => modelName(index));
}

/** One table per model. */
export function sqlSchema(count) {
  return names(count).map(
    (name) => `create table ${name.toLowerCase()}s (
  id uuid primary key, state text not null, version bigint not null, owner_id uuid not null, label text not null,
  amount numeric(19,4) not null, remark text, due_date timestamptz, created_date timestamptz not null,
  updated_date timestamptz not null)`,
  );
}

/** One model per model. */
export function prismaSchema(count) {
  const models = names(count).map(
    (name) => `model ${name} {
  id          String    @id @db.Uuid
  state       String
  version     BigInt
  ownerId     String    @map("owner_id") @db.Uuid
  label       String
  amount      Decimal   @db.Decimal(19, 4)
  remark      String?
  dueDate     DateTime? @map("due_date")
  createdDate DateTime  @map("created_date")
  updatedDate DateTime  @map("updated_date")
}`,
  );
  return `generator client {
  provider = "prisma-client-js"
  output   = "./client"
}
datasource db {
  provider = "postgresql"
}
${models.join('\n')}
`;
}

/** One type per model and event, two mutations and a query per model. */
export function graphqlSchema(count) {
  const all = names(count);
  const types = all.map(
    (
      name,
    ) => `type ${name} { id: ID!, state: String!, version: Int!, ownerId: ID!, label: String!, amount: String!, remark: String, dueDate: String }
type ${name}OpenedEvent { label: String! }
type ${name}ChangedEvent { amount: String! }
input ${name}OpenParams { ownerId: ID!, label: String!, amount: String! }
input ${name}ChangeParams { id: ID!, amount: String! }`,
  );
  const queries = all.map((name) => `  get${name}(id: ID!): ${name}`);
  const mutations = all.flatMap((name) => [
    `  open${name}(params: ${name}OpenParams!): ${name}!`,
    `  change${name}(params: ${name}ChangeParams!): ${name}!`,
  ]);
  return `${types.join('\n')}\ntype Query {\n${queries.join('\n')}\n}\ntype Mutation {\n${mutations.join('\n')}\n}\n`;
}

/** One file per model: the model, its events, and the params of its actions. */
export function writeProtos(folder, count) {
  mkdirSync(join(folder, 'proto'), { recursive: true });
  for (const name of names(count)) {
    const text = `syntax = "proto3";
package bench;
message ${name} { string id = 1; string state = 2; int64 version = 3; string owner_id = 4; string label = 5; string amount = 6; optional string remark = 7; optional string due_date = 8; }
message ${name}OpenedEvent { string label = 1; }
message ${name}ChangedEvent { string amount = 1; }
message ${name}OpenParams { string owner_id = 1; string label = 2; string amount = 3; }
message ${name}ChangeParams { string id = 1; string amount = 2; }
message ${name}GetParams { string id = 1; }
`;
    writeFileSync(join(folder, 'proto', `${name.toLowerCase()}.proto`), text);
  }
  writeFileSync(join(folder, 'buf.yaml'), 'version: v2\nmodules:\n  - path: proto\n');
  writeFileSync(
    join(folder, 'buf.gen.yaml'),
    'version: v2\nplugins:\n  - local: protoc-gen-es\n    out: gen\n    opt: target=ts\n',
  );
}

/** One controller per model, with the two routes of the synthetic project and the query. */
export function writeControllers(folder, count, modules) {
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const name of names(count)) {
    const text = `import { Body, Controller, Get, Path, Post, Route } from 'tsoa';
export interface ${name} { id: string; state: 'OPENED' | 'CLOSED'; version: number; ownerId: string; label: string; amount: string; remark?: string; dueDate: string | null; }
export interface ${name}OpenParams { ownerId: string; /** @maxLength 80 */ label: string; amount: string; }
export interface ${name}ChangeParams { amount: string; }
@Route('${name.toLowerCase()}')
export class ${name}Controller extends Controller {
  @Post() public async open${name}(@Body() params: ${name}OpenParams): Promise<${name}> { throw new Error(params.label); }
  @Post('{id}/change') public async change${name}(@Path() id: string, @Body() params: ${name}ChangeParams): Promise<void> { throw new Error(id + params.amount); }
  @Get('{id}') public async get${name}(@Path() id: string): Promise<${name}> { throw new Error(id); }
}
`;
    writeFileSync(join(folder, 'src', `${name.toLowerCase()}.controller.ts`), text);
  }
  const config = {
    entryFile: 'src/app.ts',
    noImplicitAdditionalProperties: 'throw-on-extras',
    controllerPathGlobs: ['src/*.controller.ts'],
    spec: { outputDirectory: 'build', specVersion: 3 },
    routes: { routesDir: 'build', middleware: 'express' },
  };
  writeFileSync(join(folder, 'src/app.ts'), 'export {};\n');
  writeFileSync(join(folder, 'package.json'), '{ "name": "bench", "version": "1.0.0" }\n');
  writeFileSync(join(folder, 'tsoa.json'), JSON.stringify(config));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { experimentalDecorators: true, target: 'es2022', module: 'commonjs', strict: true },
    }),
  );
  mkdirSync(join(folder, 'build'), { recursive: true });
  symlinkSync(modules, join(folder, 'node_modules'));
}
