import { execFileSync } from 'node:child_process';

/** Runs Git in a folder, as a user of its own. @returns what it prints */
export function git(folder: string, ...args: readonly string[]): string {
  const identity = [
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.org',
    '-c',
    'commit.gpgsign=false',
  ];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
}
