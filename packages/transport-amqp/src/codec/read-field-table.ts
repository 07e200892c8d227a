import { type ByteReader, Malformed } from "./byte-reader.ts";
import { Decimal, type Field, FieldTable, type FieldValue, Timestamp } from "./field-value.ts";

/** Of lists and tables in one another. */
const MAX_DEPTH = 32;

/**
 * Reads a field table, whose length was read already: all types that brokers take, whoever wrote them.
 *
 * @throws Malformed
 */
export function readFieldTable(from: ByteReader): FieldTable {
  return tableOf(from, MAX_DEPTH);
}

function tableOf(from: ByteReader, depth: number): FieldTable {
  const fields: Field[] = [];
  while (from.left > 0) {
    const name = from.text(from.uint8());
    if (typeof name !== "string") throw new Malformed("has a name that is no UTF-8");
    fields.push([name, valueOf(from, depth)]);
  }
  return new FieldTable(fields);
}

function listOf(from: ByteReader, depth: number): readonly FieldValue[] {
  const values: FieldValue[] = [];
  while (from.left > 0) values.push(valueOf(from, depth));
  return values;
}

/** The letters are the brokers' own, in which `s` is a number and no text; `L` is as py-amqp and RabbitMQ have it. */
function valueOf(from: ByteReader, depth: number): FieldValue {
  const type = String.fromCharCode(from.uint8());
  switch (type) {
    case "S":
      return from.text(from.uint32());
    case "t":
      return from.uint8() !== 0;
    case "b":
      return from.int8();
    case "B":
      return from.uint8();
    case "s":
      return from.int16();
    case "u":
      return from.uint16();
    case "I":
      return from.int32();
    case "i":
      return from.uint32();
    case "l":
    case "L":
      return integerOf(from.int64());
    case "f":
      return from.float();
    case "d":
      return from.double();
    case "D":
      return new Decimal(from.uint8(), from.int32());
    case "T":
      return new Timestamp(from.uint64());
    case "V":
      return null;
    case "x":
      return from.slice(from.uint32());
    case "A":
      return listOf(deeper(from, depth), depth - 1);
    case "F":
      return tableOf(deeper(from, depth), depth - 1);
    default:
      throw new Malformed(`has a value of the unknown type ${JSON.stringify(type)}`);
  }
}

function deeper(from: ByteReader, depth: number): ByteReader {
  if (depth === 0) throw new Malformed(`has lists and tables in one another, more than ${MAX_DEPTH} deep`);
  return from.part(from.uint32());
}

function integerOf(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
