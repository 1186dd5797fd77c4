/** The contract that emitted code is written against: `CODEGEN_VERSION` of the runtime it belongs to. */
export const CODEGEN_VERSION = 3;
