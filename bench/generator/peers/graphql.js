// GraphQL Code Generator without its command line: types and resolver types of one schema.
//   node graphql.js <schema.graphql> <output.ts>
import { readFileSync, writeFileSync } from 'node:fs';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as resolvers from '@graphql-codegen/typescript-resolvers';
import { parse } from 'graphql';

const [schema, output] = process.argv.slice(2);
const text = await codegen({
  documents: [],
  config: {},
  filename: output,
  schema: parse(readFileSync(schema, 'utf8')),
  plugins: [{ typescript: {} }, { resolvers: {} }],
  pluginMap: { typescript, resolvers },
});
writeFileSync(output, text);
