/** A time of the protocol: whole seconds since 1970, in 64 bits without a sign. */
export class Timestamp {
  readonly seconds: bigint;

  constructor(seconds: bigint) {
    this.seconds = seconds;
  }
}

/** A decimal number: `digits` with a point before the last `places` of them. */
export class Decimal {
  /** 0 to 255. */
  readonly places: number;
  /** 32 bits with a sign. */
  readonly digits: number;

  constructor(places: number, digits: number) {
    this.places = places;
    this.digits = digits;
  }
}

/** Named values in their order. Nothing keeps a name from being there twice, or from being empty. */
export class FieldTable {
  readonly fields: readonly Field[];

  constructor(fields: readonly Field[]) {
    this.fields = fields;
  }
}

export type Field = readonly [name: string, value: FieldValue];

/**
 * A value of a field table. Integers are numbers as long as those are exact, and `bigint` beyond; a number beyond
 * 2^53 is therefore always one that was written as floating point.
 */
export type FieldValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | Timestamp
  | Decimal
  | FieldTable
  | readonly FieldValue[];
