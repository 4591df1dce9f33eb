// Leaves out of the JPEG decoder what the page never asks it for, for the budget of code: fetching files by itself, a fourth
// channel, other places to put a result, and two components, which it refuses afterwards anyway. The text comes as it was
// published; an edit that no longer fits fails the build.

const kDecoder = /jpeg-js\/lib\/decoder\.js$/;

/** [what is left out, how often it is there, where, what stays]. */
const kEdits = [
  ['fetching', 1, /load: function load\(path\) \{[\s\S]*?\n {4}\},\n(?= {4}parse:)/g, ''],
  ['two components', 1, /case 2:\n\s*\/\/ PDF[\s\S]*?(?=case 3:\n\s*\/\/ The default)/g, ''],
  ['a fourth channel', 3, /if \(formatAsRGBA\) \{\s*imageDataArray\[j\+\+\] = 255;\s*\}/g, ''],
  ['counting channels', 1, /\(opts\.formatAsRGBA\) \? 4 : 3/g, '3'],
  [
    'arrays of Node',
    1,
    /opts\.useTArray \?\s*(new Uint8Array\(bytesNeeded\)) :\s*Buffer\.alloc\(bytesNeeded\)/g,
    '$1',
  ],
  ['a global name', 1, / else if \(typeof window !== 'undefined'\) \{[\s\S]*?\n\}/g, ''],
];

export function withoutUnused(decoder) {
  return kEdits.reduce((text, [what, times, where, stays]) => {
    const found = text.match(where)?.length ?? 0;
    if (found !== times) throw new Error(`JPEG decoder: ${what} is there ${found} times, not ${times}.`);
    return text.replace(where, stays);
  }, decoder);
}

export const smallerJpeg = {
  name: 'halftone-smaller-jpeg',
  enforce: 'pre',
  transform: (code, id) => (kDecoder.test(id) ? withoutUnused(code) : null),
};
