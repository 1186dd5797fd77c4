import { CodegenVersionError } from '../errors.js';

/**
 * Version of the contract between emitted code and the runtime. A runtime refuses code that was emitted for another
 * version.
 */
export const CODEGEN_VERSION = 3;

/**
 * Type only: emitted code tags each model class with its name, so that two models with the same fields have different
 * types.
 */
export declare const modelType: unique symbol;

/** @throws CodegenVersionError */
export function requireCodegenVersion(version: number): void {
  if (version === CODEGEN_VERSION) return;
  throw new CodegenVersionError(
    `The generated code uses codegen contract ${version}, but this runtime supports ${CODEGEN_VERSION}; ` +
      'run fw-gen generate with the installed version of fw-actions',
  );
}
