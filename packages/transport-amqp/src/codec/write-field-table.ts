import { Decimal, FieldTable, type FieldValue, Timestamp } from "./field-value.ts";

const MAX_NAME_BYTES = 255;

/** A field table as it is written, its length first. @throws RangeError for a name of more than 255 bytes */
export function writeFieldTable(table: FieldTable): Buffer {
  const fields = table.fields.map(([name, value]) => {
    const size = Buffer.byteLength(name);
    if (size > MAX_NAME_BYTES) throw new RangeError(`the name of a field has ${size} bytes, at most ${MAX_NAME_BYTES}`);
    return Buffer.concat([Buffer.of(size), Buffer.from(name), valueBytes(value)]);
  });
  return sized(Buffer.concat(fields));
}

function valueBytes(value: FieldValue): Buffer {
  if (value === null) return Buffer.from("V");
  if (typeof value === "string") return tagged("S", sized(Buffer.from(value)));
  if (typeof value === "boolean") return tagged("t", Buffer.of(value ? 1 : 0));
  if (typeof value === "bigint")
    return tagged(
      "l",
      fixed(8, (bytes) => bytes.writeBigInt64BE(value)),
    );
  return typeof value === "number" ? numberBytes(value) : objectBytes(value);
}

function numberBytes(value: number): Buffer {
  if (!Number.isSafeInteger(value) || Object.is(value, -0))
    return tagged(
      "d",
      fixed(8, (bytes) => bytes.writeDoubleBE(value)),
    );
  if (value === (value | 0))
    return tagged(
      "I",
      fixed(4, (bytes) => bytes.writeInt32BE(value)),
    );
  return tagged(
    "l",
    fixed(8, (bytes) => bytes.writeBigInt64BE(BigInt(value))),
  );
}

function objectBytes(value: Extract<FieldValue, object>): Buffer {
  if (value instanceof FieldTable) return tagged("F", writeFieldTable(value));
  if (value instanceof Timestamp)
    return tagged(
      "T",
      fixed(8, (bytes) => bytes.writeBigUInt64BE(value.seconds)),
    );
  if (value instanceof Decimal) {
    const digits = fixed(4, (bytes) => bytes.writeInt32BE(value.digits));
    return tagged("D", Buffer.concat([Buffer.of(value.places), digits]));
  }
  if (value instanceof Uint8Array) return tagged("x", sized(value));
  return tagged("A", sized(Buffer.concat(value.map(valueBytes))));
}

function tagged(type: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(type), bytes]);
}

/** Bytes after their length. */
function sized(bytes: Uint8Array): Buffer {
  return Buffer.concat([fixed(4, (length) => length.writeUInt32BE(bytes.length)), bytes]);
}

function fixed(size: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
}
