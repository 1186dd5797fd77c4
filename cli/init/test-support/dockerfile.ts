/** An instruction of a Dockerfile, in one line. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** A part of a build, from one `FROM` to the next. */
export interface Stage {
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** What a `COPY` copies. */
export interface Copy {
  /** The stage that contains the files; undefined: the build context. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

/** Reads a Dockerfile without continued lines. */
export function readDockerfile(text: string): readonly Stage[] {
  const stages: { name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of text.split('\n')) {
    const [, name, rest = ''] = /^([A-Z]+) +(.+)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push({ name: / AS (\S+)$/.exec(rest)?.[1], instructions: [] });
    else if (name !== undefined) stages.at(-1)?.instructions.push({ name, rest });
  }
  return stages;
}

/** The arguments of the instructions with one name. */
export function instructionsOf({ instructions }: Stage, name: string): readonly string[] {
  return instructions.filter((each) => each.name === name).map(({ rest }) => rest);
}

export function readCopy(rest: string): Copy {
  const words = rest.split(' ');
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

/** The variables of `ENV` instructions, which must not be quoted. */
export function environmentOf(stage: Stage): Readonly<Record<string, string>> {
  const pairs = instructionsOf(stage, 'ENV').flatMap((rest) => rest.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.split('=', 2) as [string, string]));
}

/** The program and arguments of `CMD` or `HEALTHCHECK`. */
export function commandOf(stage: Stage, name: 'CMD' | 'HEALTHCHECK'): readonly string[] {
  return JSON.parse(/\[.*\]$/.exec(instructionsOf(stage, name)[0] ?? '')?.[0] ?? '[]') as string[];
}
