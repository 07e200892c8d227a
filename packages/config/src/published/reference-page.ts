import type { GenericSchema } from "valibot";
import type { Registry } from "../registry.ts";
import { STORE_ROLES } from "../rules/stores.ts";
import { documentSchema } from "../schema/document.ts";
import { keyTables } from "./key-tables.ts";
import { schemaNode } from "./schema-node.ts";

const INTRODUCTION = `# Configuration reference

The configuration is one YAML or JSON document. It is read strictly: a key that is not listed here, a value of another
type, and \`null\` are errors. All errors are reported at once, each with its place.

- A **duration** is a string of numbers with units (\`ms\`, \`s\`, \`m\`, \`h\`, \`d\`): \`250ms\`, \`1m30s\`, \`30d\`. A bare number is refused.
- An **id** has up to 64 letters, digits, \`.\`, \`_\` and \`-\`, begins with a letter, a digit or \`_\`, and is unique in its list.
- A **secret** is a string whose value is never shown. One that only looks like a reference (\`\${NAME}\`, \`{{ name }}\`) is refused.
- \`\${env:NAME}\` in a string stands for an environment variable, \`\${file:/path}\` for the text of a file without its last line
  break; \`$\${env:\` stands for \`\${env:\` itself. The values of references are never shown. A relative path starts at the
  folder of the configuration file. Where a number, a duration, or true or false is expected, the text has to be one. Where text is
  allowed as well, as in the value of a condition, it stays text.
- The text is **UTF-8** and **YAML 1.2**: \`yes\`, \`no\`, \`on\`, \`off\` and dates are strings. Anchors stand for whole values, as in
  \`policy: *strict\`, and expand to at most 100,000 values. These are refused, with the line and what to write instead: merge keys
  (\`<<\`), duplicate keys, tags, tabs as indentation, numbers that begin with 0 or are too long to be kept exactly, a second document,
  \`%YAML 1.1\`.
`;

/** The configuration reference as Markdown: every key of the document, and the options of the plugins in `registry`. */
export function configReference(registry: Registry): string {
  const document = schemaNode(documentSchema);
  const blocks = Object.entries(document.properties ?? {}).map(
    ([key, node]) => `## \`${key}\`\n\n${keyTables(key, node, document.required?.includes(key) === true)}`,
  );
  return [INTRODUCTION, ...blocks, ...pluginSections(registry)].join("\n");
}

/** The part of it on the options of the plugins, for a page of one's own. */
export function adapterReference(registry: Registry): string {
  return pluginSections(registry).join("\n");
}

function pluginSections({ transports, stores, processors }: Registry): readonly string[] {
  const sections: string[] = [];
  for (const [type, { session, receiver, sender }] of transports) {
    sections.push(`## Transport \`${type}\`\n`);
    for (const [half, factory] of Object.entries({ session, receiver, sender })) {
      if (factory !== undefined)
        sections.push(optionsSection(`### Options of a ${half} of \`${type}\``, factory.options));
    }
  }
  for (const role of STORE_ROLES) {
    for (const [type, { options }] of stores[role]) {
      sections.push(optionsSection(`## Store \`${type}\` in the role \`${role}\``, options));
    }
  }
  for (const [type, { options }] of processors) sections.push(optionsSection(`## Processor \`${type}\``, options));
  return sections;
}

function optionsSection(title: string, options: GenericSchema): string {
  return `${title}\n\n${keyTables("options", schemaNode(options), true)}`;
}
