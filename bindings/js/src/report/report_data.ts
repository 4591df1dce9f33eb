// What a report can show. Only the results are needed; everything else adds its section.
import type {
  Encodings,
  ModelGraph,
  ModelSummary,
  ParetoPoint,
  Plan,
  PropagationRow,
  QuantizeReport,
  SensitivityResults,
  Warning,
} from '../types.js';

/** What a classifier says of one sample before and after. */
export interface ReportPrediction {
  sample: string;
  float: { label: string; probability: number };
  quantized: { label: string; probability: number };
  agree: boolean;
}

export interface ReportData {
  results: SensitivityResults;
  /** Default: the model's name, or "Sensitivity". */
  title?: string;
  description?: string;
  summary?: ModelSummary;
  plan?: Plan;
  encodings?: Encodings;
  propagation?: readonly PropagationRow[];
  graph?: ModelGraph;
  pareto?: readonly ParetoPoint[];
  quantized?: QuantizeReport;
  predictions?: readonly ReportPrediction[];
  /** Beside those of the other parts, for example of reading the samples. */
  warnings?: readonly Warning[];
}
