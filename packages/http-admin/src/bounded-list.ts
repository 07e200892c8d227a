import * as v from "valibot";

/**
 * A list of at most `max` elements. One that is longer is told as that alone: a body has room for half a million elements, and each
 * that is wrong would be told by itself.
 */
export function list<Item extends v.GenericSchema>(
  item: Item,
  max: number,
  { expected, tooMany }: { readonly expected: string; readonly tooMany: string },
) {
  const all = v.array(item, expected);
  const atMost = v.maxLength<{ readonly length: number }, number, string>(max, tooMany);
  const bounded: typeof all = {
    ...all,
    "~run": (dataset, config) => {
      const { value } = dataset;
      const length = Array.isArray(value) ? value.length : 0;
      if (length <= max) return all["~run"](dataset, config);
      const { issues } = atMost["~run"]({ typed: true, value: { length } }, config);
      return { typed: false, value, issues } as ReturnType<(typeof all)["~run"]>;
    },
  };
  return v.pipe(bounded, v.metadata({ maxItems: max }));
}
