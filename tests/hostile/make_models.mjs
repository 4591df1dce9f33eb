// Models that somebody could send to break a reader, each with the answer that is right: an error code, or 'ok'.
//
//   import { hostileModels } from './make_models.mjs'     in tests of the package, the CLI and the page
//   node make_models.mjs FOLDER                           writes NAME.onnx and models.tsv, for run.sh
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import {
  external,
  graph,
  initializer,
  input,
  model,
  node,
  output,
  raw,
  STRING,
  soundModel,
  tensor,
} from './onnx_wire.mjs';
import { bytes, concat, groupEnd, groupStart, lying, number, tag } from './wire.mjs';

/** @typedef {{ name: string, bytes: Uint8Array, expect: string }} HostileModel */

const HTML = '<img src=x onerror=alert(1)>"\'&';
const CONTROL = 'a\u0000b\u001b[2J\u001b]0;title\u0007\r\nnext line\u202e';
const text = (/** @type {string} */ content) => new TextEncoder().encode(content);
const magic = (/** @type {number[]} */ ...head) => concat(head, new Uint8Array(200).fill(0x78));

/** y = x through one node, with something else in the graph. */
const around = (/** @type {Uint8Array[]} */ ...fields) =>
  model(graph(node('Identity', ['x'], ['y']), input('x'), output('y'), ...fields));

function cutModels() {
  const whole = soundModel();
  const places = [
    1,
    2,
    3,
    12,
    13,
    14,
    20,
    40,
    80,
    150,
    500,
    1500,
    whole.length - 300,
    whole.length - 20,
    whole.length - 1,
  ];
  return places.map((at) => ({
    name: `cut_at_${at}`,
    bytes: whole.slice(0, at),
    // Too short to say that it is a model; without its first complete field; or cut in the middle.
    expect: at < 2 ? 'not_onnx' : at < 12 ? 'not_onnx|truncated' : 'truncated|invalid_graph',
  }));
}

function otherFormats() {
  const formats = {
    empty: new Uint8Array(),
    zeros: new Uint8Array(4096),
    ones: new Uint8Array(4096).fill(0xff),
    zip: magic(0x50, 0x4b, 3, 4),
    tflite: magic(0x18, 0, 0, 0, ...text('TFL3')),
    ort: magic(0x18, 0, 0, 0, ...text('ORTM')),
    html: text('<!DOCTYPE html>\n<html><body>404</body></html>'),
    json: text('{"error": "not found"}'),
    pickle: magic(0x80, 2, 0x7d),
    lfs_pointer: text('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n'),
    plain_text: text('This is a text file.\n'),
    tensorflow_graph: concat(bytes(1, bytes(1, 'node')), bytes(1, bytes(1, 'node2'))),
  };
  return Object.entries(formats).map(([name, content]) => ({ name, bytes: content, expect: 'not_onnx' }));
}

function nestedGraphs(/** @type {number} */ depth) {
  let inner = new Uint8Array();
  for (let i = 0; i < depth; i++) inner = bytes(1, concat(bytes(4, 'If'), bytes(5, bytes(6, inner))));
  return inner;
}

function nestedTypes(/** @type {number} */ depth) {
  let type = new Uint8Array();
  for (let i = 0; i < depth; i++) type = bytes(4, bytes(1, type));
  return type;
}

function wireDamage() {
  const name = (/** @type {Uint8Array} */ field) => around(field);
  return [
    { name: 'graph_length_2_31', bytes: concat(number(1, 8), lying(7, 2 ** 31)), expect: 'truncated' },
    { name: 'graph_length_2_63', bytes: concat(number(1, 8), lying(7, 2n ** 63n)), expect: 'truncated' },
    { name: 'graph_length_2_64', bytes: concat(number(1, 8), lying(7, 2n ** 64n - 1n)), expect: 'truncated' },
    { name: 'tensor_length_wild', bytes: name(lying(5, 2n ** 40n)), expect: 'truncated' },
    { name: 'name_length_past_graph', bytes: name(lying(2, 4)), expect: 'invalid_graph' },
    { name: 'endless_varint', bytes: name(new Uint8Array(30).fill(0xff)), expect: 'invalid_graph' },
    { name: 'field_zero', bytes: name(Uint8Array.of(0, 0)), expect: 'invalid_graph' },
    { name: 'wire_type_7', bytes: name(Uint8Array.of(0x0f)), expect: 'invalid_graph' },
    { name: 'stray_group_end', bytes: name(groupEnd(500)), expect: 'invalid_graph' },
    { name: 'open_group', bytes: concat(soundModel(), groupStart(500)), expect: 'truncated' },
    {
      name: 'million_groups',
      bytes: concat(soundModel(), new Uint8Array(1e6).fill(0x0b)),
      expect: 'invalid_graph',
    },
    { name: 'node_as_number', bytes: name(number(1, 7)), expect: 'invalid_graph' },
    { name: 'graph_as_number', bytes: concat(number(1, 8), number(7, 7)), expect: 'invalid_graph' },
    { name: 'name_as_group', bytes: name(concat(groupStart(2), groupEnd(2))), expect: 'invalid_graph' },
    {
      name: 'floats_of_three_bytes',
      bytes: name(initializer('w', [1], lying(4, 3, [1, 2, 3]))),
      expect: 'invalid_graph',
    },
    {
      name: 'two_graphs',
      bytes: concat(soundModel(), bytes(7, bytes(2, 'second'))),
      expect: 'invalid_graph',
    },
    { name: 'thousand_subgraphs', bytes: model(nestedGraphs(1000)), expect: 'too_large' },
    {
      name: 'thousand_sequence_types',
      bytes: name(bytes(13, concat(bytes(1, 's'), bytes(2, nestedTypes(1000))))),
      expect: 'too_large',
    },
    { name: 'eight_million_nodes', bytes: name(emptyNodes(8_000_000)), expect: 'too_large' },
  ];
}

function emptyNodes(/** @type {number} */ count) {
  const nodes = new Uint8Array(2 * count);
  for (let i = 0; i < nodes.length; i += 2) nodes[i] = 0x0a;
  return nodes;
}

function missingParts() {
  return [
    { name: 'no_graph', bytes: model(null), expect: 'invalid_graph' },
    { name: 'no_graph_and_nothing_else', bytes: number(1, 8), expect: 'not_onnx' },
    { name: 'no_ir_version', bytes: model(graph(), { irVersion: null }), expect: 'invalid_graph' },
    { name: 'no_opset', bytes: model(graph(), { opset: null }), expect: 'invalid_graph' },
  ];
}

function wrongTensors() {
  const with_ = (name, ...args) => ({ name, bytes: around(initializer(...args)), expect: 'invalid_graph' });
  return [
    with_('dims_negative', 'w', [-4n], raw(16)),
    with_('dims_overflow', 'w', [2n ** 31n, 2n ** 31n, 2n ** 31n], raw(16)),
    with_('dims_wrap_to_size', 'w', [2n ** 62n, 16, 4], raw(16)),
    with_('dims_too_large', 'w', [1_000_000_000_000], raw(16)),
    with_('dims_too_small', 'w', [3], raw(16)),
    with_('large_data_too_short', 'w', [1024], raw(4092)),
    with_('no_data', 'w', [4], new Uint8Array()),
    with_('data_twice', 'w', [4], concat(raw(16), bytes(4, new Uint8Array(16)))),
    with_('strings_as_raw', 'w', [4], raw(16), STRING),
    with_('type_undefined', 'w', [4], raw(16), 0),
    with_('integers_in_float_data', 'w', [4], bytes(4, new Uint8Array(16)), 7),
    {
      name: 'two_values_in_one_attribute',
      bytes: around(
        node('Constant', [], ['c'], {
          attributes: [
            concat(
              bytes(1, 'value'),
              bytes(5, tensor('a', [512], raw(2048))),
              bytes(5, tensor('b', [512], raw(2048))),
              number(20, 4),
            ),
          ],
        }),
      ),
      expect: 'invalid_graph',
    },
  ];
}

function externalData() {
  const at = (name, expect, entries) => ({
    name: `external_${name}`,
    bytes: around(initializer('w', [4], external(entries))),
    expect,
  });
  const missing = 'external_data_missing';
  return [
    at('not_there', missing, { location: 'not_there.bin' }),
    at('absolute', missing, { location: '/etc/passwd' }),
    at('parent', missing, { location: '../../secret.bin' }),
    at('parent_inside', missing, { location: 'a/../../secret.bin' }),
    at('backslash', missing, { location: '..\\secret.bin' }),
    at('drive', missing, { location: 'C:secret.bin' }),
    at('nul', missing, { location: 'a\u0000.bin' }),
    at('empty', missing, { location: '' }),
    at('control_characters', missing, { location: CONTROL.replaceAll('\u0000', '') }),
    at('no_location', 'invalid_graph', { offset: '0', length: '16' }),
    at('offset_text', 'invalid_graph', { location: 'w.bin', offset: 'zero' }),
    at('offset_overflow', 'invalid_graph', {
      location: 'w.bin',
      offset: '18446744073709551610',
      length: '16',
    }),
    at('length_wrong', 'invalid_graph', { location: 'w.bin', offset: '0', length: '999999999999' }),
    at('forged_reference', 'invalid_graph', {
      'halftone.path': 'model',
      'halftone.offset': '0',
      'halftone.length': '99999999',
      'halftone.field': '0',
    }),
  ];
}

function wrongGraphs() {
  const invalid = (name, ...fields) => ({ name, bytes: model(graph(...fields)), expect: 'invalid_graph' });
  return [
    invalid(
      'cycle_of_two',
      node('Add', ['x', 'b'], ['a']),
      node('Relu', ['a'], ['b']),
      input('x'),
      output('b'),
    ),
    invalid('cycle_of_one', node('Add', ['x', 'a'], ['a']), input('x'), output('a')),
    invalid(
      'duplicate_tensor',
      node('Relu', ['x'], ['y']),
      node('Neg', ['x'], ['y']),
      input('x'),
      output('y'),
    ),
    invalid('duplicate_in_one_node', node('Split', ['x'], ['y', 'y']), input('x'), output('y')),
    invalid('missing_producer', node('Relu', ['nowhere'], ['y']), output('y')),
    invalid('output_without_producer', node('Relu', ['x'], ['y']), input('x'), output('z')),
    invalid(
      'duplicate_initializer',
      node('Add', ['x', 'w'], ['y']),
      initializer('w', [4], raw(16)),
      initializer('w', [4], raw(16, 1)),
      input('x'),
      output('y'),
    ),
    invalid('duplicate_input', node('Relu', ['x'], ['y']), input('x'), input('x'), output('y')),
    invalid('html_name_missing', node('Relu', [HTML], ['y']), output('y')),
    invalid('control_name_missing', node('Relu', [CONTROL], ['y']), output('y')),
    invalid('long_name_missing', node('Relu', ['n'.repeat(1e6)], ['y']), output('y')),
    {
      name: 'invalid_utf8_name_missing',
      bytes: model(
        graph(
          bytes(1, concat(bytes(1, Uint8Array.of(0xff, 0xfe, 0xc3)), bytes(2, 'y'), bytes(4, 'Relu'))),
          output('y'),
        ),
      ),
      expect: 'invalid_graph',
    },
  ];
}

/** Strange, but models: they open, perhaps with warnings. */
function strangeButSound() {
  const ok = (name, content) => ({ name: `ok_${name}`, bytes: content, expect: 'ok' });
  return [
    ok('sound', soundModel()),
    ok('zero_nodes', model(graph(input('x'), output('x')))),
    ok('html_names', model(graph(node('Relu', ['x'], [HTML], { name: HTML }), input('x'), output(HTML)))),
    ok(
      'control_names',
      model(graph(node('Relu', ['x'], [CONTROL], { name: CONTROL }), input('x'), output(CONTROL))),
    ),
    ok('future_opset', model(graph(node('Relu', ['x'], ['y']), input('x'), output('y')), { opset: 9999 })),
    ok('unknown_operator', model(graph(node('NoSuchThing', ['x'], ['y']), input('x'), output('y')))),
    ok(
      'unknown_domain',
      model(graph(node('Thing', ['x'], ['y'], { domain: 'nowhere' }), input('x'), output('y'))),
    ),
    ok('unknown_fields', concat(soundModel(), bytes(1000, 'kept'), number(1001, 2n ** 64n - 1n))),
    ok('unknown_type', around(initializer('w', [4], raw(3), 99))),
    ok(
      'huge_input_dims',
      model(graph(node('Relu', ['x'], ['y']), input('x', [2n ** 62n, 2n ** 62n]), output('y', ['n']))),
    ),
    ok(
      'inside_out_order',
      model(graph(node('Neg', ['a'], ['y']), node('Relu', ['x'], ['a']), input('x'), output('y'))),
    ),
    ok(
      'duplicate_node_names',
      around(node('Relu', ['x'], ['a'], { name: 'n' }), node('Neg', ['x'], ['b'], { name: 'n' })),
    ),
    ok(
      'padded_lengths',
      concat(number(1, 8), tag(7, 2), [0x80, 0x80, 0x80, 0x80, 0x00], bytes(8, number(2, 17))),
    ),
  ];
}

/** All of them, in a fixed order; `expect` is 'ok' or the error codes that are right, joined by '|'. @returns {HostileModel[]} */
export function hostileModels() {
  return [
    ...cutModels(),
    ...otherFormats(),
    ...wireDamage(),
    ...missingParts(),
    ...wrongTensors(),
    ...externalData(),
    ...wrongGraphs(),
    ...strangeButSound(),
  ];
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) {
  const folder = argv[2];
  if (folder === undefined) throw new Error('usage: node make_models.mjs FOLDER');
  mkdirSync(folder, { recursive: true });
  const models = hostileModels();
  for (const each of models) writeFileSync(join(folder, `${each.name}.onnx`), each.bytes);
  writeFileSync(join(folder, 'models.tsv'), models.map((each) => `${each.name}\t${each.expect}\n`).join(''));
}
