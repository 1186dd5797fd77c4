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
