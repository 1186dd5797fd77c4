/** Version of the contract between emitted code and runtime. Equal to the runtime's `CODEGEN_VERSION`. */
export const CODEGEN_VERSION = 3;
