// The direction of the project's arrows, as ARCHITECTURE.md has them.
import { describe, expect, it } from 'vitest';
import { ENCODINGS_AS_DATA, PUBLIC_HEADERS } from './layers/rules.js';
import { importsOf, includesOf, readSources, violations } from './layers/scan.js';

const sources = readSources();

const before = new Set(violations(sources));

/** What is found in addition when one file is added. */
function planted(file: string, text: string): string[] {
  return violations(new Map([...sources, [file, text]])).filter((violation) => !before.has(violation));
}

describe('the project', () => {
  it('has no arrow in the wrong direction', () => {
    expect(violations(sources)).toEqual([]);
  });

  it('was read: every layer includes, every part imports', () => {
    const used = (prefix: string) =>
      [...sources]
        .filter(([file]) => file.startsWith(prefix))
        .flatMap(([file, text]) => [
          ...(/\.(cc|h)$/.test(file) ? includesOf(file, text) : importsOf(file, text)),
        ]).length;
    for (const folder of ['base', 'numeric', 'model', 'plan', 'calibrate', 'sensitivity', 'exchange']) {
      expect(used(`src/${folder}/`), folder).toBeGreaterThan(3);
    }
    for (const folder of ['shared', 'platform', 'runner', 'samples', 'worker', 'client', 'cli']) {
      expect(used(`bindings/js/src/${folder}/`), folder).toBeGreaterThan(3);
    }
    for (const folder of ['bindings/wasm/', 'native_tests/', 'web/src/']) {
      expect(used(folder), folder).toBeGreaterThan(20);
    }
  });

  it('gives every public header a layer, and names none that is gone', () => {
    const headers = [...sources.keys()]
      .filter((file) => file.startsWith('src/include/halftone/'))
      .map((file) => file.slice('src/include/halftone/'.length));
    expect([...headers, 'version.h'].sort()).toEqual(Object.keys(PUBLIC_HEADERS).sort());
  });

  it('still needs its one exception', () => {
    const users = [...sources].filter(([file]) => file.startsWith(`src/${ENCODINGS_AS_DATA.layer}/`));
    expect(users.some(([, text]) => text.includes(`#include "${ENCODINGS_AS_DATA.header}"`))).toBe(true);
  });
});

describe('planted', () => {
  it.each([
    ['base knows model', 'src/base/planted.cc', '#include "halftone/model.h"'],
    ['numeric knows model', 'src/numeric/planted.cc', '#include "model/weight_store.h"'],
    ['model knows numeric', 'src/model/planted.cc', '#include "halftone/quant_grid.h"'],
    ['model knows plan', 'src/model/planted.cc', '  #  include "plan/wording.h"'],
    ['plan knows calibrate', 'src/plan/planted.cc', '#include "halftone/observer.h"'],
    ['plan knows inner calibrate', 'src/plan/tensorrt/planted.cc', '#include "calibrate/bias_fit.h"'],
    ['plan makes encodings', 'src/plan/planted.cc', 'auto e = weight_encoding(model, site);'],
    ['calibrate knows sensitivity', 'src/calibrate/planted.cc', '#include "halftone/sensitivity.h"'],
    ['sensitivity knows exchange', 'src/sensitivity/planted.cc', '#include "halftone/exchange.h"'],
    [
      'a public header of the model knows a plan',
      'src/include/halftone/graph.h',
      '#include "halftone/plan.h"',
    ],
    ['a public header has no layer', 'src/include/halftone/planted.h', '#include "halftone/result.h"'],
    ['a public header needs a library', 'src/include/halftone/plan.h', '#include <nlohmann/json.hpp>'],
    ['a header that src lacks', 'src/plan/planted.cc', '#include "wording.h"'],
    ['onnx outside model', 'src/plan/planted.cc', '#include <onnx/onnx_pb.h>'],
    ['protobuf in the binding', 'bindings/wasm/planted.cc', '#include <google/protobuf/message.h>'],
    ['Emscripten in src', 'src/base/planted.cc', '#include <emscripten/val.h>'],
    ['Emscripten in the native tests', 'native_tests/planted.cc', '#include <emscripten.h>'],
    ['files in src', 'src/model/planted.cc', '#include <fstream>'],
    ['threads in src', 'src/calibrate/planted.cc', '#include <thread>'],
    ['JSON outside exchange', 'src/sensitivity/planted.cc', '#include <nlohmann/json.hpp>'],
    ['vector code outside numeric', 'src/calibrate/planted.cc', '#include <hwy/highway.h>'],
    ['the binding knows src inside', 'bindings/wasm/planted.cc', '#include "plan/wording.h"'],
    [
      'the client knows the worker',
      'bindings/js/src/client/planted.ts',
      "import { a } from '../worker/core.js';",
    ],
    [
      'the worker knows the client',
      'bindings/js/src/worker/planted.ts',
      "export * from '../client/pool.js';",
    ],
    [
      'shared knows samples',
      'bindings/js/src/shared/planted.ts',
      "const a = await import('../samples/npy.js');",
    ],
    ['samples know a runner', 'bindings/js/src/samples/planted.ts', "import '../runner/web.js';"],
    ['the package knows the page', 'bindings/js/src/cli/planted.ts', "import '../../../../web/policy.mjs';"],
    [
      'the package knows tests',
      'bindings/js/src/cli/planted.ts',
      "import '../../../../tests/unit/fake_port';",
    ],
    [
      'onnxruntime in the client',
      'bindings/js/src/client/planted.ts',
      "import * as o from 'onnxruntime-web';",
    ],
    ['onnxruntime in the page', 'web/src/planted.ts', "import { Tensor } from 'onnxruntime-common';"],
    [
      'the page knows the package inside',
      'web/src/planted.ts',
      "import '../../bindings/js/src/client/pool.js';",
    ],
    ['the page imports built code', 'web/src/planted.ts', "import '../../bindings/js/dist/worker.js';"],
    ['the glue outside the worker', 'bindings/js/src/client/planted.ts', "import c from '#core-glue';"],
  ])('%s: found', (_, file, text) => {
    expect(planted(file, text)).toHaveLength(1);
  });

  it.each([
    [
      'src/plan/planted.cc',
      '#include "halftone/encoding.h"\n#include "numeric/kernel_set.h"\n#include <vector>',
    ],
    ['src/exchange/planted.cc', '#include "halftone/sensitivity.h"\n#include <nlohmann/json.hpp>'],
    [
      'native_tests/planted.cc',
      '#include "model/wire_models.h"\n#include <fstream>\n#include <onnx/onnx_pb.h>',
    ],
    ['bindings/wasm/planted.cc', '#include "conversions.h"\n#include "halftone/plan.h"'],
    ['bindings/js/src/runner/planted.ts', "import type { Tensor } from 'onnxruntime-common';"],
    ['web/src/planted.ts', "import type { Model } from '../../bindings/js/src/index.js';"],
    [
      'web/src/planted.ts',
      "import a from '../../bindings/js/dist/worker.js?url';\n// import '../../tests/x.js'",
    ],
  ])('legal in %s', (file, text) => {
    expect(planted(file, text)).toEqual([]);
  });
});
