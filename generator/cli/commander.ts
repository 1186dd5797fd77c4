/**
 * The command line parser. The build replaces this module by one that contains the package, so that `fw-gen` runs with
 * only production dependencies.
 */
export { Argument, Command, CommanderError, InvalidArgumentError, type Option } from 'commander';
