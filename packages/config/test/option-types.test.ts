import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { adapterTypes, type BridgeDocument, createRegistry, documentTypes } from "../src/index.ts";
import type { documentSchema } from "../src/schema/document.ts";
import { conditionSchema } from "@bridge/ports/conditions";
import { describe as about, integer, oneOrList, secret, text } from "@bridge/ports/options";

type Input = v.InferInput<typeof documentSchema>;
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

describe("types of what people write", () => {
  test("BridgeDocument is what the schema takes", () => {
    expectTypeOf<Frozen<Input>>().toExtend<BridgeDocument>();
    expectTypeOf<Frozen<BridgeDocument>>().toExtend<Frozen<Input>>();
    expect(documentTypes()).toContain("export interface BridgeDocument {");
  });

  test("say of each key what it means, what it takes and what its default is", () => {
    const create = () => ({ process: (envelope: never) => ({ kind: "pass", envelope }) as const });
    const options = v.strictObject({
      name: about(text(), "Names it."),
      size: about(v.optional(integer(1), 10), "How many."),
      token: about(v.optional(secret()), "Ends no comment: */ is escaped."),
      words: v.optional(oneOrList(v.picklist(["a", "b"])), "a"),
      rules: v.array(
        v.variant("op", [
          v.strictObject({ op: v.literal("x"), value: v.union([v.string(), v.number()]) }),
          v.strictObject({ op: v.literal("y") }),
        ]),
      ),
      by: about(v.optional(v.record(v.string(), v.boolean())), "By name. Default: none."),
    });
    const modules = adapterTypes(createRegistry({ processors: [{ type: "two_words", options, create }] }));
    expect(modules.get("processors")?.replace(/^.*?\n\n/s, "")).toBe(`/** Options of the processor \`two_words\`. */
export interface TwoWordsOptions {
  /** Names it. */
  readonly name: string;
  /** How many. Default: 10. */
  readonly size?: number | undefined;
  /** Ends no comment: *\\/ is escaped. */
  readonly token?: string | undefined;
  /** Default: a. */
  readonly words?: "a" | "b" | readonly ("a" | "b")[] | undefined;
  readonly rules: readonly ({
    readonly op: "x";
    readonly value: string | number;
  } | {
    readonly op: "y";
  })[];
  /** By name. Default: none. */
  readonly by?: { readonly [name: string]: boolean } | undefined;
}
`);
  });

  test("a condition has a name, which stands wherever one is written, and is said once", () => {
    const create = () => ({ process: (envelope: never) => ({ kind: "pass", envelope }) as const });
    const options = v.strictObject({
      only: about(v.optional(oneOrList(conditionSchema)), "What to keep."),
      not: about(conditionSchema, "What not to."),
    });
    const module = adapterTypes(createRegistry({ processors: [{ type: "own", options, create }] })).get("processors");
    expect(module).toContain("readonly only?: ConditionOptions | readonly ConditionOptions[] | undefined;\n");
    expect(module).toContain("readonly not: ConditionOptions;\n");
    expect(module?.match(/export type ConditionOptions = /g)).toHaveLength(1);
    expect(module?.match(/readonly op: "prefix"/g)).toHaveLength(1);
  });

  test("are in a module for each adapter, and say nothing of parts without options", () => {
    const part = { options: v.strictObject({}), create: () => ({}) as never };
    const transport = {
      type: "own",
      session: part,
      sender: { needsSession: true, ...part, options: v.strictObject({ to: v.string() }) },
    };
    const store = {
      type: "own",
      reach: "instance",
      options: v.strictObject({ path: v.string() }),
      create: () => () => ({}) as never,
    } as const;
    const modules = adapterTypes(createRegistry({ transports: [transport], leaseStores: [store] }));
    expect([...modules.keys()]).toEqual(["transport-own", "lease-own"]);
    expect(modules.get("transport-own")?.match(/export interface \w+/g)).toEqual(["export interface OwnSenderOptions"]);
    expect(modules.get("lease-own")?.match(/export interface \w+/g)).toEqual(["export interface OwnLeaseStoreOptions"]);
  });
});
