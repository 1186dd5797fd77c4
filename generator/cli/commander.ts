/**
 * The parser of command lines. The build replaces this module by one that contains the package, so that `fw-gen` runs
 * where only production dependencies are installed.
 */
export { Argument, Command, CommanderError, InvalidArgumentError, type Option } from 'commander';
