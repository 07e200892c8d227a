import type { GenericSchema } from "valibot";
import type { Registry } from "../registry.ts";
import { STORE_ROLES } from "../rules/stores.ts";
import { documentSchema } from "../schema/document.ts";
import { schemaNode } from "./schema-node.ts";
import { interfaceText } from "./interface-text.ts";

const INTRODUCTION = `/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */
`;

/** The module of `BridgeDocument`, the type of what people write. */
export function documentTypes(): string {
  return moduleOf([
    typeOf(
      "BridgeDocument",
      "A configuration document; the options of each part are those of its plugin.",
      documentSchema,
    ),
  ]);
}

/**
 * For each adapter in `registry` the module of the types of its options, by a name such as `transport-http`, `dlq-file` and
 * `processors`.
 */
export function adapterTypes({ transports, stores, processors }: Registry): ReadonlyMap<string, string> {
  const modules = new Map<string, string>();
  for (const [type, { session, receiver, sender }] of transports) {
    const halves = Object.entries({ session, receiver, sender }).flatMap(([half, factory]) =>
      factory === undefined
        ? []
        : [typeOf(`${titled(type)}${titled(half)}Options`, `Options of a ${half} of \`${type}\`.`, factory.options)],
    );
    modules.set(`transport-${type}`, moduleOf(halves));
  }
  for (const role of STORE_ROLES) {
    for (const [type, { options }] of stores[role]) {
      const name = `${titled(type)}${titled(role)}StoreOptions`;
      modules.set(`${role}-${type}`, moduleOf([typeOf(name, `Options of the ${role} store \`${type}\`.`, options)]));
    }
  }
  const steps = [...processors].map(([type, { options }]) =>
    typeOf(`${titled(type)}Options`, `Options of the processor \`${type}\`.`, options),
  );
  return steps.length === 0 ? modules : modules.set("processors", moduleOf(steps));
}

function typeOf(name: string, about: string, schema: GenericSchema): string {
  return interfaceText(name, about, schemaNode(schema));
}

function moduleOf(interfaces: readonly string[]): string {
  return [INTRODUCTION, ...interfaces.filter((text) => text !== "")].join("\n");
}

/** `circuit_breaker` becomes `CircuitBreaker`. */
function titled(type: string): string {
  return type.replaceAll(/(?:^|[^A-Za-z0-9])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
