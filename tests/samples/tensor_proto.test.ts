import { describe, expect, it } from 'vitest';
import { readSamples } from '../../bindings/js/src/samples/index.js';
import type { ValueInfo } from '../../bindings/js/src/types.js';
import { bytesOf, lengthField, named, tensorProto, varint } from './make_files.js';

const input = (type: string, shape: ValueInfo['shape'], name = 'x'): ValueInfo => ({ name, type, shape });

async function read(file: Uint8Array | number[], type: string, shape: ValueInfo['shape']) {
  const set = await readSamples([named('t.pb', Uint8Array.from(file))], [input(type, shape)]);
  return (await set.load(0)).x!;
}

const float = (value: number) => [...bytesOf(Float32Array.of(value))];
const double = (value: number) => [...bytesOf(Float64Array.of(value))];

describe('.pb', () => {
  it('reads raw_data', async () => {
    const file = tensorProto(1, [1, 2], bytesOf(Float32Array.of(0.5, -8)), 'anything');
    expect(await read(file, 'float32', [1, 2])).toEqual({
      type: 'float32',
      dims: [1, 2],
      data: Float32Array.of(0.5, -8),
    });
  });

  it('reads a scalar', async () => {
    expect(await read(tensorProto(7, [], bytesOf(BigInt64Array.of(-7n))), 'int64', [])).toMatchObject({
      dims: [],
      data: BigInt64Array.of(-7n),
    });
  });

  const dims = (count: number) => [...varint(1 * 8), count];
  const type = (number: number) => [...varint(2 * 8), number];
  it.each([
    [
      'float_data, packed',
      'float32',
      [...dims(2), ...type(1), ...lengthField(4, [...float(1), ...float(2.5)])],
      Float32Array.of(1, 2.5),
    ],
    [
      'float_data, one by one',
      'float32',
      [...dims(2), ...type(1), ...varint(4 * 8 + 5), ...float(3), ...varint(4 * 8 + 5), ...float(4)],
      Float32Array.of(3, 4),
    ],
    [
      'double_data',
      'double',
      [...dims(2), ...type(11), ...lengthField(10, [...double(0.1), ...double(-2)])],
      Float64Array.of(0.1, -2),
    ],
    [
      'int64_data',
      'int64',
      [...dims(2), ...type(7), ...lengthField(7, [...varint(-1), ...varint(2n ** 40n)])],
      BigInt64Array.of(-1n, 2n ** 40n),
    ],
    [
      'int32_data',
      'int32',
      [...dims(2), ...type(6), ...lengthField(5, [...varint(-9), ...varint(9)])],
      Int32Array.of(-9, 9),
    ],
    [
      'int32_data of int8',
      'int8',
      [...dims(2), ...type(3), ...lengthField(5, [...varint(-128), ...varint(5)])],
      Int8Array.of(-128, 5),
    ],
    ['int32_data of bool', 'bool', [...dims(2), ...type(9), ...lengthField(5, [1, 0])], Uint8Array.of(1, 0)],
    [
      'int32_data of float16',
      'float16',
      [...dims(2), ...type(10), ...lengthField(5, [...varint(0x3c00), ...varint(0xfc00)])],
      Uint16Array.of(0x3c00, 0xfc00),
    ],
    [
      'uint64_data',
      'uint64',
      [...dims(2), ...type(13), ...lengthField(11, [...varint(1), ...varint(2n ** 64n - 1n)])],
      BigUint64Array.of(1n, 2n ** 64n - 1n),
    ],
    [
      'uint64_data of uint32',
      'uint32',
      [...dims(2), ...type(12), ...lengthField(11, [...varint(1), ...varint(2 ** 32 - 1)])],
      Uint32Array.of(1, 4294967295),
    ],
  ])('reads %s', async (_, name, bytes, values) => {
    expect((await read(bytes, name, [2])).data).toEqual(values);
  });

  it('skips fields that it does not know', async () => {
    const extra = [
      ...lengthField(12, [65]),
      ...varint(99 * 8),
      5,
      ...varint(98 * 8 + 1),
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
    ];
    const file = [...extra, ...tensorProto(2, [2], Uint8Array.of(7, 9))];
    expect((await read(file, 'uint8', [2])).data).toEqual(Uint8Array.of(7, 9));
  });

  it.each([
    ['nothing', [], 'it is empty'],
    [
      'values in another file',
      [...dims(1), ...type(1), ...lengthField(13, [])],
      'its values are in another file',
    ],
    [
      'strings',
      [...dims(1), ...type(8), ...lengthField(6, [65])],
      "it holds values of string, which samples can't have",
    ],
    [
      'a type of the future',
      [...dims(1), ...varint(16), 77],
      "it holds values of type 77, which samples can't have",
    ],
    [
      'too few values',
      [...dims(3), ...type(1), ...lengthField(4, float(1))],
      'it should hold 3 values but holds 1',
    ],
    ['a negative dimension', [...varint(8), ...varint(-4), ...type(1)], 'its dimensions are no dimensions'],
    [
      'a wild length',
      [...varint(9 * 8 + 2), ...varint(2n ** 60n), 1],
      'a length in it points outside the file',
    ],
    ['an endless number', new Array(20).fill(0xff), 'a number in it has no end'],
    [
      'huge dimensions',
      [...lengthField(1, [...varint(2n ** 40n), ...varint(2n ** 40n)]), ...type(1)],
      'its dimensions are no dimensions',
    ],
  ])('refuses %s with one sentence', async (_, bytes, reason) => {
    await expect(read(bytes, 'float32', [1])).rejects.toMatchObject({
      code: 'invalid_sample',
      message: `t.pb is not a readable TensorProto: ${reason}.`,
      where: 't.pb',
    });
  });

  it('refuses every cut', async () => {
    const file = tensorProto(1, [1, 3], bytesOf(Float32Array.of(1, 2, 3)));
    for (let length = 0; length < file.length; ++length) {
      await expect(read(file.slice(0, length), 'float32', [1, 3])).rejects.toMatchObject({
        code: 'invalid_sample',
      });
    }
  });
});

describe('test_data_set folders', () => {
  const two = [input('float32', [1, 2], 'a'), input('int64', [1], 'b')];
  const a = (value: number, name = '') =>
    tensorProto(1, [1, 2], bytesOf(Float32Array.of(value, value)), name);
  const b = (value: bigint, name = '') => tensorProto(7, [1], bytesOf(BigInt64Array.of(value)), name);

  it('takes input_K in the order of the inputs and ignores outputs', async () => {
    const files = [
      named('m/test_data_set_10/input_0.pb', a(10)),
      named('m/test_data_set_10/input_1.pb', b(10n)),
      named('m/test_data_set_2/output_0.pb', a(99)),
      named('m/test_data_set_2/input_1.pb', b(2n)),
      named('m/test_data_set_2/input_0.pb', a(2)),
    ];
    const set = await readSamples(files, two);
    expect([set.count, set.name(0), set.name(1)]).toEqual([2, 'm/test_data_set_2', 'm/test_data_set_10']);
    expect((await set.load(0)).b?.data).toEqual(BigInt64Array.of(2n));
    expect((await set.load(1)).a?.data).toEqual(Float32Array.of(10, 10));
    expect(set.warnings).toEqual([]);
  });

  it("prefers the tensors' own names", async () => {
    const set = await readSamples([named('s/input_0.pb', b(4n, 'b')), named('s/input_1.pb', a(5, 'a'))], two);
    expect((await set.load(0)).a?.data).toEqual(Float32Array.of(5, 5));
  });

  it('says when a file is for an input that the model lacks', async () => {
    await expect(readSamples([named('s/input_2.pb', a(1))], two)).rejects.toMatchObject({
      message: 's/input_2.pb is for input number 2, but the model has 2 inputs.',
    });
  });
});
