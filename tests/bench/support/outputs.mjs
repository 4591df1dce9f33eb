// What benchmarks do with outputs, apart from the package that they measure.

/** compute_psnr over all samples of one tensor. */
export function psnr(expected, actual) {
  let [low, high, largest, squares, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0];
  for (let s = 0; s < expected.length; s++) {
    const [e, a] = [expected[s], actual[s]];
    for (let i = 0; i < e.length; i++) {
      if (e[i] < low) low = e[i];
      if (e[i] > high) high = e[i];
      largest = Math.max(largest, Math.abs(e[i]));
      squares += (e[i] - a[i]) ** 2;
    }
    count += e.length;
  }
  const rmse = Math.max(Math.sqrt(squares / count), 1e-15);
  const peak = Math.max(high - low, largest, 1e-10);
  return Math.max(-100, Math.min(100, 20 * Math.log10(peak / rmse)));
}

/** Appends outputs to a model file: protobuf joins what a message says twice. */
export function withOutputs(file, scored, own) {
  const text = new TextEncoder();
  const field = (number, bytes) => [(number << 3) | 2, ...varint(bytes.length), ...bytes];
  const added = scored.filter((name) => !own.includes(name));
  const graph = added.flatMap((name) => field(12, field(1, [...text.encode(name)])));
  return added.length === 0 ? file : Uint8Array.from([...file, ...field(7, graph)]);
}

function varint(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}
