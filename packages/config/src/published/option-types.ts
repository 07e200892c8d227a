import type { GenericSchema } from "valibot";
import type { Registry } from "../registry.ts";
import { STORE_ROLES } from "../rules/stores.ts";
import { documentSchema } from "../schema/document.ts";
import { schemaNode } from "./schema-node.ts";
import { TypeWriter } from "./type-writer.ts";

const INTRODUCTION = `/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */
`;

/** An interface of a module. */
interface Block {
  readonly name: string;
  readonly about: string;
  readonly schema: GenericSchema;
}

/** The module of `BridgeDocument`, the type of what people write. */
export function documentTypes(): string {
  const about = "A configuration document; the options of each part are those of its plugin.";
  return moduleOf([{ name: "BridgeDocument", about, schema: documentSchema }]);
}

/**
 * For each adapter in `registry` the module of the types of its options, by a name such as `transport-http`, `dlq-file`
 * and `processors`.
 */
export function adapterTypes({ transports, stores, processors }: Registry): ReadonlyMap<string, string> {
  const modules = new Map<string, string>();
  for (const [type, { session, receiver, sender }] of transports) {
    const halves = Object.entries({ session, receiver, sender }).flatMap(([half, factory]) => {
      const [name, about] = [`${titled(type)}${titled(half)}Options`, `Options of a ${half} of \`${type}\`.`];
      return factory === undefined ? [] : [{ name, about, schema: factory.options }];
    });
    modules.set(`transport-${type}`, moduleOf(halves));
  }
  for (const role of STORE_ROLES) {
    for (const [type, { options: schema }] of stores[role]) {
      const name = `${titled(type)}${titled(role)}StoreOptions`;
      modules.set(`${role}-${type}`, moduleOf([{ name, about: `Options of the ${role} store \`${type}\`.`, schema }]));
    }
  }
  const steps = [...processors].map(([type, { options: schema }]) => ({
    name: `${titled(type)}Options`,
    about: `Options of the processor \`${type}\`.`,
    schema,
  }));
  return steps.length === 0 ? modules : modules.set("processors", moduleOf(steps));
}

function moduleOf(blocks: readonly Block[]): string {
  const writer = new TypeWriter();
  const interfaces = blocks.map(({ name, about, schema }) => writer.interfaceText(name, about, schemaNode(schema)));
  return [INTRODUCTION, ...interfaces.filter((text) => text !== ""), ...writer.namedTexts()].join("\n");
}

/** `circuit_breaker` becomes `CircuitBreaker`. */
function titled(type: string): string {
  return type.replaceAll(/(?:^|[^A-Za-z0-9])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
