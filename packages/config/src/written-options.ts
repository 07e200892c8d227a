import { HiddenValues } from "./check/hidden-values.ts";
import { isBlock } from "./check/schema-shape.ts";
import { Report } from "./check/report.ts";
import { optionBlocks, type OptionsBlock } from "./plugin-options.ts";
import type { Registry } from "./registry.ts";
import type { Draft } from "./rules/draft.ts";
import { RuleContext } from "./rules/rule-context.ts";

/** The blocks of options of a document as people wrote it, as far as its plugins can be told. */
export function* writtenOptions(document: unknown, registry: Registry): Generator<OptionsBlock> {
  if (!isBlock(document)) return;
  const context = new RuleContext(document, draftOf(document), registry, new Report(), new HiddenValues(document));
  yield* optionBlocks(context);
}

/** The default that finding a part's transport depends on. */
function draftOf(document: Readonly<Record<string, unknown>>): Draft {
  const { receivers, senders } = document;
  return { ...document, receivers: withTransport(receivers), senders: withTransport(senders) } as unknown as Draft;
}

function withTransport(parts: unknown): readonly unknown[] {
  if (!Array.isArray(parts)) return [];
  return parts.map((part: unknown) => (isBlock(part) ? { transport: "", ...part } : part));
}
