// print_figures.mjs PLATFORM [--json]: reads a benchmark's JSON lines, prints one line a figure, ratios first (or, with
// --json, the same objects with the platform in their name). Other lines of the benchmark go to standard error.
import { createInterface } from 'node:readline';

const [platform, json] = process.argv.slice(2);
const plain = [];

function text({ name, value, unit, ratio, ratio_to }) {
  const figure = `${Number(value).toPrecision(4)} ${unit}`;
  const relation = ratio == null ? '' : `${ratio.toFixed(3)} x ${ratio_to}`;
  return `${relation.padEnd(34)}  ${figure.padEnd(16)}  ${name}`;
}

for await (const line of createInterface({ input: process.stdin })) {
  if (!line.startsWith('{')) {
    console.error(line);
    continue;
  }
  const figure = JSON.parse(line);
  figure.name = `${platform} ${figure.name}`;
  if (json === '--json') console.log(JSON.stringify(figure));
  else if (figure.ratio == null) plain.push(text(figure));
  else console.log(text(figure));
}
for (const line of plain) console.log(line);
