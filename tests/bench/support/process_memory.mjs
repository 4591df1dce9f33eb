// Memory of a program that is several processes, as Linux counts it: what they share counts once.
import { readdirSync, readFileSync } from 'node:fs';

/** This process's descendants whose program has this name. */
export function descendants(ofPid, program) {
  const children = new Map();
  const names = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = textOf(`/proc/${entry}/stat`);
    const end = stat.lastIndexOf(')');
    if (end < 0) continue;
    const parent = Number(stat.slice(end + 2).split(' ')[1]);
    names.set(Number(entry), stat.slice(stat.indexOf('(') + 1, end));
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found = [];
  for (const open = [ofPid]; open.length > 0; ) {
    const pid = open.pop();
    open.push(...(children.get(pid) ?? []));
    if (pid !== ofPid && names.get(pid)?.startsWith(program)) found.push(pid);
  }
  return found;
}

/** Bytes by process of what is resident, a page that n processes have being an n-th of itself in each. */
export function residentShares(pids) {
  const shares = pids.map((pid) => {
    const kilobytes = /^Pss:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0;
    return [pid, Number(kilobytes) * 1024];
  });
  return new Map(shares);
}

/** '' for a process that has ended. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What a process is for: Chromium says so among its arguments. */
export function roleOf(pid) {
  const line = textOf(`/proc/${pid}/cmdline`);
  const type = /--type=([\w-]+)/.exec(line)?.[1] ?? 'browser';
  const service = /--utility-sub-type=([\w.]+)/.exec(line)?.[1];
  return service ?? type;
}
