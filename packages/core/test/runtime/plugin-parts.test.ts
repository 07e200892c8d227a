import { createRegistry, type ProcessorConfig, type SenderConfig } from "@bridge/config";
import type { LogFields, Seams, Sender } from "@bridge/ports";
import { memoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { PluginParts } from "../../src/runtime/plugin-parts.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { fieldLogger } from "../support/field-logger.ts";

const config = { id: "own", transport: "unheard-of", type: "unheard-of", options: {} };

/** Seams whose loggers say which fields they were made with. */
function watchedSeams(): { readonly seams: Seams; readonly fields: readonly LogFields[] } {
  const { logger, fields } = fieldLogger();
  return { seams: { clock: new FakeClock(), random: { next: () => 0.5, id: () => "id" }, logger }, fields };
}

test("a part of a plugin that is not registered is refused by its type: the configuration was made by hand", () => {
  const parts = new PluginParts(createRegistry({}), watchedSeams().seams);
  const sender = config as unknown as SenderConfig;
  expect(() => parts.sender(sender, undefined)).toThrow('no transport plugin is registered for type "unheard-of"');
  const processor = config as unknown as ProcessorConfig;
  expect(() => parts.processor(processor)).toThrow('no processor plugin is registered for type "unheard-of"');
});

test("senders and processors get their id, the seams and a logger that names them, senders their session too", () => {
  const given: unknown[] = [];
  const registry = createRegistry({
    transports: [
      {
        type: "own",
        sender: {
          options: memoryDlq.options,
          create: (_: unknown, context: unknown) => {
            given.push(context);
            return { send: async () => {}, [Symbol.asyncDispose]: async () => {} } as unknown as Sender;
          },
        },
      },
    ] as never,
    processors: [
      {
        type: "own",
        options: memoryDlq.options,
        create: (_, context) => {
          given.push(context);
          return { process: () => Promise.reject(new Error("is not asked")) };
        },
      },
    ],
  });
  const { seams, fields } = watchedSeams();
  const parts = new PluginParts(registry, seams);
  const session = {} as never;
  parts.sender({ ...config, transport: "own" } as unknown as SenderConfig, session);
  parts.processor({ ...config, type: "own" });
  const { clock, random, logger } = seams;
  expect(given).toEqual([
    { id: "own", clock, random, logger, session },
    { id: "own", clock, random, logger },
  ]);
  expect(fields).toEqual([{ sender_id: "own" }, { processor_id: "own" }]);
});
