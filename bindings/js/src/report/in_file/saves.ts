// What can be saved from inside the file: the numbers of every table as CSV, and the files that they came from as JSON.
import { csvFile, jsonFile, sensitivityCsv } from '../../shared/result_files.js';
import type { Embedded } from '../embedded.js';
import { rangeRows } from '../ranges_section.js';
import { button } from './elements.js';

export function offerFiles(data: Embedded): void {
  const place = document.querySelector<HTMLElement>('.saves');
  if (place === null) return;
  const offer = (title: string, name: string, type: string, make: () => string) =>
    place.append(
      button(title, () => save(name, type, make())),
      ' ',
    );
  const csv = (title: string, name: string, make: () => string) =>
    offer(`${title} CSV`, name, 'text/csv', make);
  const json = (title: string, name: string, value: unknown) =>
    offer(`${title} JSON`, name, 'application/json', () => jsonFile(value));

  place.append('Save ');
  json('Ranking', 'sensitivity.json', data.results);
  csv('Ranking', 'sensitivity.csv', () => sensitivityCsv(data.results));
  if (data.propagation) {
    json('Error', 'propagation.json', data.propagation);
    csv('Error', 'propagation.csv', () => propagationCsv(data));
  }
  if (data.encodings) {
    json('Ranges', 'encodings.json', data.encodings);
    csv('Ranges', 'ranges.csv', () => rangesCsv(data));
  }
  if (data.pareto) {
    json('Mixed precision', 'pareto.json', data.pareto);
    csv('Mixed precision', 'pareto.csv', () => paretoCsv(data));
  }
  if (data.plan) json('Plan', 'plan.json', data.plan);
  place.hidden = false;
}

function propagationCsv({ propagation = [] }: Embedded): string {
  return csvFile(
    ['tensor', 'node', 'op', 'psnr', 'sqnr', 'mse'],
    propagation.map(({ tensor, node, op, psnr, sqnr, mse }) => [tensor, node, op, psnr, sqnr, mse]),
  );
}

function rangesCsv(data: Embedded): string {
  const rows = rangeRows(data).flatMap(({ tensor, encoding }) =>
    encoding.min.map((min, i) => [
      tensor,
      encoding.format,
      i,
      min,
      encoding.max[i] ?? null,
      encoding.scale[i] ?? null,
      encoding.zero_point[i] ?? null,
    ]),
  );
  return csvFile(['tensor', 'format', 'channel', 'min', 'max', 'scale', 'zero_point'], rows);
}

function paretoCsv({ pareto = [] }: Embedded): string {
  return csvFile(
    ['score', 'weight_bytes', 'bit_ops', 'macs', 'front', 'flipped'],
    pareto.map(({ score, cost, front, flipped }) => [
      score,
      cost.weight_bytes,
      cost.bit_ops,
      cost.macs,
      front ? 1 : 0,
      flipped.join(' '),
    ]),
  );
}

function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
