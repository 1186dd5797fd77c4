/** Examples at the end of a command's help: the command and its effect. */
export function examples(...lines: readonly (readonly [command: string, effect: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length)) + 3;
  return `\nExamples:\n${lines.map(([command, effect]) => `  $ ${command.padEnd(width)}${effect}`).join('\n')}`;
}
