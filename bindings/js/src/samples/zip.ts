// The part of ZIP that .npz files use: entries stored or deflated, with zip64 sizes. The directory at the file's end is
// trusted for places and sizes only after they were checked against the file.
import { InflateError, inflateExactly, inflatePrefix } from './inflate.js';
import { RecentBytes } from './recent_bytes.js';
import { invalidSample } from './sample_error.js';
import type { ReadableFile, SampleFile } from './source.js';

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const MAX_DIRECTORY_BYTES = 1 << 26;
/** A beginning is unpacked from at most this much; an array's header needs far less. */
const HEAD_STORED_BYTES = 1 << 18;
/** One entry as a whole in memory. */
const MAX_ENTRY_BYTES = 2 ** 31 - 1;
const UNPACKED = new RecentBytes(1 << 27);

export interface ZipEntry {
  name: string;
  /** Of a deflated entry, any read unpacks and checks all of it. */
  file: ReadableFile;
  /** The same bytes, for looking at the beginning only: unpacks no more than asked, and checks nothing. */
  head: ReadableFile;
}

interface DirectoryEntry {
  name: string;
  flags: number;
  method: number;
  crc: number;
  storedBytes: number;
  bytes: number;
  headerStart: number;
}

/** Lists the entries of a ZIP file. Errors: invalid_sample, also later from the entries' slice(). */
export async function openZip(zip: SampleFile): Promise<ZipEntry[]> {
  const fail: Fail = (what) => {
    throw invalidSample(`${zip.name} ${what}.`, zip.name, 'Save it again with numpy.savez.');
  };
  const directory = await readDirectory(zip, fail);
  return directory.map((entry) => ({ name: entry.name, ...entryFiles(zip, entry, fail) }));
}

type Fail = (what: string) => never;

async function readDirectory(zip: SampleFile, fail: Fail): Promise<DirectoryEntry[]> {
  const tailStart = Math.max(0, zip.size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await zip.slice(tailStart, zip.size);
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  let end = tail.length - END_BYTES;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) --end;
  if (end < 0) return fail('is not a ZIP file, or its end is missing');
  let bytes = view.getUint32(end + 12, true);
  let start = view.getUint32(end + 16, true);
  if (start === 0xffffffff || bytes === 0xffffffff) {
    [start, bytes] = await readZip64End(zip, tailStart + end, fail);
  }
  if (bytes > MAX_DIRECTORY_BYTES) return fail('has a directory larger than 64 MB');
  if (!(start + bytes <= zip.size)) return fail('has a directory outside the file');
  return parseDirectory(await zip.slice(start, start + bytes), fail);
}

async function readZip64End(zip: SampleFile, end: number, fail: Fail): Promise<[number, number]> {
  if (end < 20) return fail('lacks its zip64 record');
  const locator = dataView(await zip.slice(end - 20, end));
  const place = Number(locator.getBigUint64(8, true));
  if (locator.getUint32(0, true) !== 0x07064b50 || !(place + 56 <= zip.size))
    return fail('lacks its zip64 record');
  const record = dataView(await zip.slice(place, place + 56));
  if (record.getUint32(0, true) !== 0x06064b50) return fail('lacks its zip64 record');
  return [Number(record.getBigUint64(48, true)), Number(record.getBigUint64(40, true))];
}

function dataView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parseDirectory(bytes: Uint8Array, fail: Fail): DirectoryEntry[] {
  const view = dataView(bytes);
  const entries: DirectoryEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50)
      return fail('has a broken directory');
    const nameBytes = view.getUint16(at + 28, true);
    const extraBytes = view.getUint16(at + 30, true);
    const next = at + 46 + nameBytes + extraBytes + view.getUint16(at + 32, true);
    if (next > bytes.length) return fail('has a broken directory');
    const entry = {
      name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameBytes)),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      storedBytes: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      headerStart: view.getUint32(at + 42, true),
    };
    readZip64Extra(bytes.subarray(at + 46 + nameBytes, at + 46 + nameBytes + extraBytes), entry);
    entries.push(entry);
    at = next;
  }
  return entries;
}

/** Fields of the directory that are all ones stand in the extra field with 8 bytes each, in this order. */
function readZip64Extra(extra: Uint8Array, entry: DirectoryEntry): void {
  const view = dataView(extra);
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    const end = Math.min(extra.length, at + 4 + view.getUint16(at + 2, true));
    let from = at + 4;
    for (const field of ['bytes', 'storedBytes', 'headerStart'] as const) {
      if (entry[field] !== 0xffffffff || from + 8 > end) continue;
      entry[field] = Number(view.getBigUint64(from, true));
      from += 8;
    }
    return;
  }
}

function entryFiles(zip: SampleFile, entry: DirectoryEntry, failZip: Fail): Omit<ZipEntry, 'name'> {
  const fail: Fail = (what) => failZip(`has an entry ${JSON.stringify(entry.name)} that ${what}`);
  if (entry.flags & 1) return fail('is encrypted');
  if (entry.method !== 0 && entry.method !== 8)
    return fail(`is packed by method ${entry.method}; stored and deflated can be read`);
  if (entry.method === 0 && entry.bytes !== entry.storedBytes) return fail('says two different sizes');
  if (entry.method === 8 && entry.bytes > MAX_ENTRY_BYTES)
    return fail('is larger than 2 GB; save it with numpy.savez, which stores entries');
  const place = once(() => dataStart(zip, entry, fail));
  if (entry.method === 0) {
    const slice = async (start: number, end: number) =>
      zip.slice((await place()) + start, (await place()) + end);
    const file = { size: entry.bytes, slice };
    return { file, head: file };
  }
  return deflatedFiles(zip, entry, place, fail);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function dataStart(zip: SampleFile, entry: DirectoryEntry, fail: Fail): Promise<number> {
  if (!(entry.headerStart + 30 <= zip.size)) return fail('lies outside the file');
  const view = dataView(await zip.slice(entry.headerStart, entry.headerStart + 30));
  if (view.getUint32(0, true) !== 0x04034b50) return fail('has no header where the directory says');
  const start = entry.headerStart + 30 + view.getUint16(26, true) + view.getUint16(28, true);
  if (!(start + entry.storedBytes <= zip.size)) return fail('reaches beyond the end of the file');
  return start;
}

function deflatedFiles(
  zip: SampleFile,
  entry: DirectoryEntry,
  place: () => Promise<number>,
  fail: Fail,
): Omit<ZipEntry, 'name'> {
  const guarded = <T>(inflate: () => T): T => {
    try {
      return inflate();
    } catch (error) {
      if (error instanceof InflateError) return fail(`can't be unpacked: ${error.message}`);
      throw error;
    }
  };
  const whole = async (): Promise<Uint8Array> => {
    const known = UNPACKED.get(entry);
    if (known !== undefined) return known;
    const start = await place();
    const stored = await zip.slice(start, start + entry.storedBytes);
    const bytes = guarded(() => inflateExactly(stored, entry.bytes));
    if (crc32(bytes) !== entry.crc) return fail('is damaged: its checksum is wrong');
    UNPACKED.put(entry, bytes);
    return bytes;
  };
  const head = async (start: number, end: number) => {
    const from = await place();
    const stored = await zip.slice(from, from + Math.min(entry.storedBytes, HEAD_STORED_BYTES));
    const bytes = guarded(() => inflatePrefix(stored, end));
    return bytes.length === end ? bytes.slice(start) : fail('holds less than it says');
  };
  return {
    file: { size: entry.bytes, slice: async (start, end) => (await whole()).slice(start, end) },
    head: { size: entry.bytes, slice: head },
  };
}

let crcTable: Uint32Array | undefined;

function crc32(bytes: Uint8Array): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
