// The decoder alone: the package's index brings its encoder along, which nothing here needs.
declare module 'jpeg-js/lib/decoder.js' {
  import type { decode } from 'jpeg-js';

  const decoder: typeof decode;
  export default decoder;
}
