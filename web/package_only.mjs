// What the package offers and the page doesn't, left out of the page's budget of code. Who calls it there hears so.

/** By module, what it exports. */
const LEFT_OUT = {
  'client/local_ranking.ts': 'localRanking',
  'client/sweep/adaptive.ts': 'adaptiveSchedule',
};

/** @type {import('vite').Plugin} */
export const packageOnly = {
  name: 'halftone-package-only',
  enforce: 'pre',
  load(id) {
    const found = Object.entries(LEFT_OUT).find(([module]) => id.endsWith(`/bindings/js/src/${module}`));
    if (found === undefined) return null;
    return `export const ${found[1]} = () => { throw new Error('${found[1]} is not on the page'); };`;
  },
};
