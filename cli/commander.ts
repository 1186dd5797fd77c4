/** The command line parser. */
export { Argument, Command, CommanderError, InvalidArgumentError } from 'commander';
