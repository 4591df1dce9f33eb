// How a model is run. `exact` computes what the exported model means; `default` is what a runtime does when nobody asks.
export type RunMode = 'exact' | 'default' | 'disabled';

export interface SessionOptions {
  graphOptimizationLevel: 'all' | 'disabled';
  logSeverityLevel: 3;
  extra?: { session: Record<string, string>; optimization: Record<string, string> };
}

/**
 * exact:    float kernels around untouched Q/DQ pairs; no fusion into integer kernels, no pair removed. Weights aren't packed
 *           a second time, which saves their size in memory.
 * default:  everything the runtime does on its own, Q/DQ fusion included.
 * disabled: node by node as the file says.
 */
export function sessionOptions(mode: RunMode): SessionOptions {
  if (mode === 'exact') {
    return {
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
      extra: {
        session: { disable_quant_qdq: '1', disable_double_qdq_remover: '1', disable_prepacking: '1' },
        // They drop a Clip or Relu that a QuantizeLinear behind it makes needless for integers. On float8, whose codes are
        // signed, the first fails and the second drops a Relu that is needed.
        optimization: { disable_specified_optimizers: 'ClipQuantRewrite;ReluQuantRewrite' },
      },
    };
  }
  return { graphOptimizationLevel: mode === 'default' ? 'all' : 'disabled', logSeverityLevel: 3 };
}
