// Which formats are compared unasked, and a comparison as a table.
import type { StorageFormat, TensorComparison } from '../types.js';
import { csvFile } from './result_files.js';

/** Profiles whose codes differ; the others are the same under other names. */
const PROFILES = new Set([
  'int8',
  'int4',
  'gptq',
  'q2_k',
  'q3_k',
  'q5_k',
  'q6_k',
  'nf4',
  'iq4_nl',
  'binary',
  'ternary',
  'log',
  'fp6_llm',
  'fp8_e4m3',
  'mxfp4',
]);

export function usualFormats(known: readonly StorageFormat[]): string[] {
  return known
    .filter(({ family, name, needs, bits }) =>
      family === 'onnx-light profile' ? PROFILES.has(name) : needs === '' && bits < 16,
    )
    .map(({ name }) => name);
}

export function comparisonCsv(compared: readonly TensorComparison[]): string {
  const columns =
    'tensor,values,format,block,bytes,bits_per_weight,max_error,rms_error,sqnr_db,wins,error'.split(',');
  const rows = compared.flatMap(({ tensor, count, formats: all, winner }) =>
    all.map((row) => {
      const { format, block } = row;
      if ('error' in row)
        return [tensor, count, format, block, null, null, null, null, null, null, row.error.message];
      const wins = winner?.format === format && winner.block === block ? 1 : 0;
      const { bytes, bitsPerWeight, maxError, rmsError, sqnr } = row;
      return [tensor, count, format, block, bytes, bitsPerWeight, maxError, rmsError, sqnr, wins, ''];
    }),
  );
  return csvFile(columns, rows);
}
