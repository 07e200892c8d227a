/**
 * Arrays in the binary form of the protocol (`array_send` of the server): as text, each element would have to be quoted,
 * and bytes would take twice their room.
 */

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/** The types of the server that values are sent as, by their number there (catalogue `pg_type`). */
const OID = { bytea: 17, int8: 20, int4: 23, text: 25, float8: 701, uuid: 2950 } as const;

interface Form<Value> {
  readonly oid: number;
  bytes(value: Value): number;
  write(to: Buffer, value: Value, at: number): void;
}

const INT4: Form<number> = {
  oid: OID.int4,
  bytes: () => 4,
  write: (to, value, at) => void to.writeInt32BE(value, at),
};
const INT8: Form<number> = {
  oid: OID.int8,
  bytes: () => 8,
  write: (to, value, at) => void to.writeBigInt64BE(BigInt(value), at),
};
const FLOAT8: Form<number> = {
  oid: OID.float8,
  bytes: () => 8,
  write: (to, value, at) => void to.writeDoubleBE(value, at),
};
const TEXT: Form<string> = {
  oid: OID.text,
  bytes: (value) => Buffer.byteLength(value),
  write: (to, value, at) => void to.write(value, at),
};
const BYTEA: Form<Uint8Array> = {
  oid: OID.bytea,
  bytes: (value) => value.length,
  write: (to, value, at) => to.set(value, at),
};
const UUID: Form<Uint8Array> = { ...BYTEA, oid: OID.uuid };

export const int4s = (values: readonly number[]): Buffer => arrayOf(INT4, values);
export const int8s = (values: readonly number[]): Buffer => arrayOf(INT8, values);
export const float8s = (values: readonly number[]): Buffer => arrayOf(FLOAT8, values);
export const texts = (values: readonly (string | undefined)[]): Buffer => arrayOf(TEXT, values);
export const byteas = (values: readonly (Uint8Array | undefined)[]): Buffer => arrayOf(BYTEA, values);
/** Of 16 bytes each. */
export const uuids = (values: readonly (Uint8Array | undefined)[]): Buffer => arrayOf(UUID, values);

function arrayOf<Value>(form: Form<Value>, values: readonly (Value | undefined)[]): Buffer {
  let size = HEADER_BYTES;
  let nulls = 0;
  for (const value of values) {
    size += LENGTH_BYTES;
    if (value === undefined) nulls = 1;
    else size += form.bytes(value);
  }
  const array = Buffer.allocUnsafe(size);
  // An array without elements has no dimension, and the header ends there.
  array.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  array.writeInt32BE(nulls, 4);
  array.writeInt32BE(form.oid, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (const value of values) {
    const length = value === undefined ? NULL_LENGTH : form.bytes(value);
    array.writeInt32BE(length, at);
    at += LENGTH_BYTES;
    if (value === undefined) continue;
    form.write(array, value, at);
    at += length;
  }
  return values.length === 0 ? array.subarray(0, 12) : array;
}
