import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of `/proc/<pid>/stat` are hundredths of a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Fields of a process's stat file after its name; undefined if the process has ended. */
function stat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Process id of the parent. */
export function parentOf(pid) {
  return Number(stat(pid)?.[1]);
}

/** Direct children. */
export function childrenOf(parent) {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === parent);
}

/** User and system time of a process in seconds; with `gone`, including its children that have ended. */
export function cpuSeconds(pid, { gone = false } = {}) {
  const fields = stat(pid);
  if (fields === undefined) return 0;
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
  return (user + system + (gone ? childUser + childSystem : 0)) / TICKS_PER_SECOND;
}

/** CPU time of all processes of the machine, and time that its host gave to others, in seconds since it started. */
export function machineCpuSeconds() {
  const [user, nice, system, , , interrupts, soft, stolen] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .split(/ +/)
    .slice(1)
    .map((ticks) => Number(ticks) / TICKS_PER_SECOND);
  return user + nice + system + interrupts + soft + stolen;
}
