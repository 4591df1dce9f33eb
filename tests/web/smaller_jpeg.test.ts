// The page's JPEG decoder is the published one with parts left out: what is left decodes to the same pixels.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import vm from 'node:vm';
import jpeg from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import { withoutUnused } from '../../web/smaller_jpeg.mjs';

type Decode = (bytes: Uint8Array, options: object) => { width: number; height: number; data: Uint8Array };

const published = readFileSync(createRequire(import.meta.url).resolve('jpeg-js/lib/decoder.js'), 'utf8');
const asThePageDoes = { useTArray: true, formatAsRGBA: false, tolerantDecoding: false };

function run(text: string): Decode {
  const module = { exports: null as unknown as Decode };
  vm.runInThisContext(`(function (module) {${text}\n})`)(module);
  return module.exports;
}

describe('the JPEG decoder with parts left out', () => {
  it.each([
    [16, 16, 90],
    [37, 11, 60],
  ])('decodes %i by %i pixels of quality %i as before', (width, height, quality) => {
    const data = Buffer.from(
      Array.from({ length: width * height * 4 }, (_, i) => (i * i * 31 + i * 7) & 255),
    );
    const file = new Uint8Array(jpeg.encode({ width, height, data }, quality).data);
    const [before, after] = [published, withoutUnused(published)].map((text) =>
      run(text)(file, asThePageDoes),
    );
    expect([after?.width, after?.height, after?.data.length]).toEqual([width, height, width * height * 3]);
    expect(after?.data).toEqual(before?.data);
    expect(new Set(after?.data).size).toBeGreaterThan(20);
  });

  it('refuses a decoder that it was not written for', () => {
    expect(() => withoutUnused(published.replace('load: function load', 'load: function other'))).toThrow(
      'fetching is there 0 times, not 1',
    );
  });
});
