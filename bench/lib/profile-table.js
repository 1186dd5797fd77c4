/** Attributes the time of a CPU profile to functions and areas. */

const IDLE = '(idle)';

/** Self time of every function, largest first, as fractions of the busy time. */
export function selfTimes({ nodes, samples, timeDeltas }) {
  const byNode = new Map(nodes.map((node) => [node.id, { node, time: 0 }]));
  samples.forEach((id, index) => {
    byNode.get(id).time += timeDeltas[index];
  });
  const functions = new Map();
  let busy = 0;
  for (const { node, time } of byNode.values()) {
    const { functionName, url, lineNumber } = node.callFrame;
    if (time === 0 || functionName === IDLE) continue;
    busy += time;
    const where = url === '' ? '' : `${shortPath(url)}:${lineNumber + 1}`;
    const key = `${functionName}|${where}`;
    const known = functions.get(key);
    if (known === undefined)
      functions.set(key, {
        name: functionName || '(anonymous)',
        where,
        area: areaOf(functionName, url),
        time,
      });
    else known.time += time;
  }
  return [...functions.values()]
    .map(({ time, ...rest }) => ({ ...rest, share: time / busy }))
    .sort((a, b) => b.share - a.share);
}

/** Self time by area, largest first. */
export function areas(functions) {
  const shares = new Map();
  for (const { area, share } of functions) shares.set(area, (shares.get(area) ?? 0) + share);
  return [...shares].map(([area, share]) => ({ area, share })).sort((a, b) => b.share - a.share);
}

function shortPath(url) {
  const path = url.replace(/^file:\/\//, '');
  const dependency = path.lastIndexOf('/node_modules/');
  if (dependency >= 0) return path.slice(dependency + '/node_modules/'.length);
  return path.replace(/^.*\/(dist|bench)\//, (_, folder) => (folder === 'dist' ? '' : 'bench/'));
}

/** A folder of the runtime, a dependency, Node, or the engine. */
function areaOf(name, url) {
  if (url === '') return name === '(garbage collector)' ? 'garbage collector' : 'native code';
  if (url.startsWith('node:')) return 'Node';
  const path = shortPath(url);
  if (path.startsWith('runtime/')) return path.split('/').slice(0, 2).join('/');
  if (path.startsWith('examples/')) return 'the application';
  if (path.startsWith('bench/')) return 'load generator';
  return path.split('/')[0];
}
