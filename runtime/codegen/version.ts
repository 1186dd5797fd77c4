/** Version of the contract between emitted code and the runtime. A runtime refuses code emitted for another one. */
export const CODEGEN_VERSION = 3;

/** Type only: emitted code tags each model class with its name, so that two models of one shape stay two types. */
export declare const modelType: unique symbol;
