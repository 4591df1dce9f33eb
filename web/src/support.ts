// What the core needs of a browser, asked by feature and never by name.

/** The smallest module with a vector instruction: (func (result v128) i32.const 0 i8x16.splat). */
const kSimd = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11,
];
/** (func (try (do) (catch_all))), the exceptions that the core was compiled with. */
const kExceptions = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 6, 64, 25, 11, 11,
];

function validates(bytes: readonly number[]): boolean {
  try {
    return WebAssembly.validate(new Uint8Array(bytes));
  } catch {
    return false;
  }
}

/** Null when everything is there; otherwise what is missing and which versions have it. */
export function missingFeature(): { message: string; next: string } | null {
  if (typeof WebAssembly !== 'object') {
    return {
      message: 'This browser has no WebAssembly.',
      next: 'Halftone needs Chrome or Edge 95, Firefox 100, or Safari 16.4, or newer.',
    };
  }
  if (!validates(kSimd)) {
    return {
      message: 'This browser has no WebAssembly SIMD.',
      next: 'Halftone needs Chrome or Edge 95, Firefox 100, or Safari 16.4, or newer.',
    };
  }
  if (!validates(kExceptions)) {
    return {
      message: 'This browser has no WebAssembly exceptions.',
      next: 'Halftone needs Chrome or Edge 95, Firefox 100, or Safari 16.4, or newer.',
    };
  }
  return null;
}
