// Protobuf's wire format, written by hand: hostile models need bytes that no protobuf library would write.

/** @param {number | bigint} value @returns {Uint8Array} */
export function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** @param {...(Uint8Array | number[])} parts @returns {Uint8Array} */
export function concat(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {number} field @param {number} wireType */
export const tag = (field, wireType) => varint((BigInt(field) << 3n) | BigInt(wireType));

/** @param {number} field @param {number | bigint} value */
export const number = (field, value) => concat(tag(field, 0), varint(value));

/** A length-delimited field; a string is written as UTF-8. @param {number} field @param {string | Uint8Array} content */
export function bytes(field, content) {
  const payload = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return concat(tag(field, 2), varint(payload.length), payload);
}

/** A length-delimited field that claims another length than it has. @param {number} field @param {number | bigint} length */
export const lying = (field, length, content = new Uint8Array()) =>
  concat(tag(field, 2), varint(length), content);

export const groupStart = (/** @type {number} */ field) => tag(field, 3);
export const groupEnd = (/** @type {number} */ field) => tag(field, 4);
