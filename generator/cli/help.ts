/** Examples behind a command's help: what to type and what it does. */
export function examples(...lines: readonly (readonly [command: string, effect: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length)) + 3;
  return `\nExamples:\n${lines.map(([command, effect]) => `  $ ${command.padEnd(width)}${effect}`).join('\n')}`;
}
