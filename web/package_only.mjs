// What the package offers and the page doesn't, left out of the page's budget of code. Who calls it there hears so.

/** By module, what it exports. */
const LEFT_OUT = {
  'bindings/js/src/client/local_ranking.ts': 'localRanking',
  'bindings/js/src/client/sweep/adaptive.ts': 'adaptiveSchedule',
};

const found = new Set();

/** @type {import('vite').Plugin} */
export const packageOnly = {
  name: 'halftone-package-only',
  enforce: 'pre',
  load(id) {
    const module = Object.keys(LEFT_OUT).find((one) => id.endsWith(`/${one}`));
    if (module === undefined) return null;
    found.add(module);
    return `export const ${LEFT_OUT[module]} = () => { throw new Error('${LEFT_OUT[module]} is not on the page'); };`;
  },
  buildEnd(error) {
    const gone = Object.keys(LEFT_OUT).filter((module) => !found.has(module));
    if (error === undefined && gone.length > 0)
      throw new Error(`The page has no ${gone.join(', ')} that could be left out; see package_only.mjs.`);
  },
};
