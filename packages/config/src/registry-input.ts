import type { Plugins } from "./registry.ts";

/** What is written into each list, for remedies. */
const LISTS = {
  transports: "mqtt",
  dlqStores: "fileDlq",
  outboxStores: "fileOutbox",
  leaseStores: "memoryLeases",
  processors: "filter",
} as const;
type List = keyof typeof LISTS;

/** The role of the stores of a list. */
const ROLES: { readonly [list in List]?: string } = { dlqStores: "dlq", outboxStores: "outbox", leaseStores: "lease" };

const REACHES: readonly unknown[] = ["process", "instance", "cluster"];
const PARTS = ["session", "receiver", "sender"] as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Looks at what a program that the compiler has not seen hands over; a mistake would come to light at the first
 * configuration.
 * @throws Error naming the list, the plugin, its field and the remedy
 */
export function checkPlugins(plugins: Plugins): void {
  if (!isObject(plugins)) {
    throw new Error(`createRegistry takes an object of lists, such as { transports: [mqtt] }, not ${kindOf(plugins)}`);
  }
  for (const [name, value] of Object.entries(plugins)) {
    if (name === "elsewhere") checkElsewhere(value);
    else if (!Object.hasOwn(LISTS, name)) {
      throw new Error(`createRegistry knows no "${name}": there are ${Object.keys(LISTS).join(", ")} and elsewhere`);
    } else if (value !== undefined) checkList(name as List, value);
  }
}

function checkList(list: List, value: unknown): void {
  if (!Array.isArray(value)) {
    throw new Error(`${list} of createRegistry is ${kindOf(value)}: give it a list, as in ${list}: [${LISTS[list]}]`);
  }
  value.forEach((plugin: unknown, index) => checkPlugin(list, plugin, `${list}[${index}] of createRegistry`));
}

function checkPlugin(list: List, plugin: unknown, where: string): void {
  if (typeof plugin === "function" && !("type" in plugin)) {
    throw new Error(`${where} is a function, not a plugin: call it, as in ${plugin.name || "memory"}()`);
  }
  // Adapters that programs call with options are plugins, too.
  if (!isObject(plugin) && typeof plugin !== "function")
    throw new Error(`${where} is ${kindOf(plugin)}, not a plugin: is its import right?`);
  const { type } = plugin as Fields;
  if (typeof type !== "string" || type === "") {
    throw new Error(`${where} has no type: give it the name under which configurations ask for it, as a string`);
  }
  const named = `${where}, "${type}",`;
  if (list === "transports") return checkTransport(plugin as Fields, named);
  checkFactory(plugin as Fields, named);
  if (list !== "processors" && !REACHES.includes((plugin as Fields)["reach"])) {
    throw new Error(`${named} has no reach: set it to ${REACHES.map(String).join(", ")}, as far as its data goes`);
  }
  checkRole(list, (plugin as Fields)["role"], named);
}

/** A store says what it was made for, or nothing. */
function checkRole(list: List, role: unknown, named: string): void {
  if (role === undefined || list === "processors" || role === ROLES[list]) return;
  const [right] = Object.entries(ROLES).find(([, of]) => of === role) ?? [];
  if (right === undefined) throw new Error(`${named} has a role that is none of ${Object.values(ROLES).join(", ")}`);
  throw new Error(`${named} is made for ${right}: put it there, and here one such as ${LISTS[list]}`);
}

function checkTransport(plugin: Fields, where: string): void {
  const parts = PARTS.filter((part) => plugin[part] !== undefined);
  if (parts.length === 0) {
    throw new Error(`${where} has no session, receiver or sender: give it one, made with defineFactory`);
  }
  for (const part of parts) {
    const factory = plugin[part];
    if (!isObject(factory)) {
      throw new Error(`${part} of ${where} is ${kindOf(factory)}: make it with defineFactory, of options and create`);
    }
    checkFactory(factory, `${part} of ${where}`);
  }
}

function checkFactory({ create, options }: Fields, where: string): void {
  if (typeof create !== "function") {
    throw new Error(`${where} has no create: give it the function that builds the part, (options, context) => part`);
  }
  if (!isObject(options)) {
    throw new Error(
      `${where} has no options: give it the valibot schema of its options, v.strictObject({}) if it has none`,
    );
  }
}

function checkElsewhere(value: unknown): void {
  if (value === undefined || (isObject(value) && Object.values(value).every((name) => typeof name === "string")))
    return;
  throw new Error(
    'elsewhere of createRegistry takes an object of types and programs, such as { sqs: "bridge-aws" }: every value has to be a string',
  );
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
