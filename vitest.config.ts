import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests import the package by its public name and get the sources. */
const alias = {
  'fw-actions/codegen': source('./runtime/codegen/index.ts'),
  'fw-actions/config': source('./runtime/config/index.ts'),
  'fw-actions/testing': source('./runtime/testing/index.ts'),
  'fw-actions/generator': source('./generator/index.ts'),
  'fw-actions': source('./runtime/index.ts'),
};

const config: ViteUserConfig = defineConfig({
  resolve: { alias },
  test: {
    include: ['{runtime,generator,examples,test,docs}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**', 'generator/golden/**'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

export default config;
