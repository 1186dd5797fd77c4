/** The command line parser. */
export { Argument, Command, CommanderError, InvalidArgumentError, type Option } from 'commander';
