import * as v from "valibot";

/** A table as its store needs it: what `bridge-aws -create-tables` and deployments make, and what is checked at opening. */
export interface TableDescription {
  readonly name: string;
  readonly key: TableKey;
  readonly indexes: readonly TableIndex[];
  /** The attribute, in epoch seconds, after which the service may remove an item. Default: items stay. */
  readonly ttlAttribute?: string | undefined;
  /** The writes without which the store does not work; with none of them it only has to be read. Default: `PutItem`. */
  readonly writes?: readonly Write[] | undefined;
}

export type Write = "PutItem" | "UpdateItem" | "DeleteItem";

/** The attributes that order the items: strings, numbers or bytes. */
export interface TableKey {
  readonly partition: KeyAttribute;
  readonly sort?: KeyAttribute | undefined;
}

export interface KeyAttribute {
  readonly name: string;
  readonly type: "S" | "N" | "B";
}

/** A global secondary index. Items without its key are not in it. */
export interface TableIndex {
  readonly name: string;
  readonly key: TableKey;
  /** What it holds besides the keys: everything, nothing, or these attributes. */
  readonly projection: "all" | "keys" | readonly string[];
}

/** The option `table_name` of a store: the name that AWS allows. */
export function tableName() {
  return v.pipe(
    v.string("expected a string"),
    v.regex(/^[\w.-]{3,255}$/, "a table's name has 3 to 255 letters, digits, '_', '-' and '.'"),
  );
}
