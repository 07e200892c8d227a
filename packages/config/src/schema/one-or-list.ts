import * as v from "valibot";

/** One value or a list of at least one; the output is a list. */
export function oneOrList<const Item extends v.GenericSchema>(item: Item) {
  return v.pipe(
    v.union([item, v.pipe(v.array(item), v.minLength(1, "must name at least one"))]),
    v.transform((value): readonly v.InferOutput<Item>[] => (Array.isArray(value) ? value : [value])),
  );
}
