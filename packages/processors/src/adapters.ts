import { type ProcessorAdapter, processorAdapter } from "@bridge/ports";
import { circuitBreakerPlugin } from "./circuit-breaker-plugin.ts";
import { filterPlugin } from "./filter-plugin.ts";
import type { CircuitBreakerOptions, FilterOptions, SchemaOptions, TransformOptions } from "./option-types.ts";
import { schemaPluginOf } from "./schema-plugin.ts";
import { type ThreadAdapter, threadAdapter } from "./thread-adapter.ts";
import { transformPluginOf } from "./transform-plugin.ts";

/** Lets messages pass by conditions, which mean what they mean to a resolver. */
export const filter: ProcessorAdapter<FilterOptions> = processorAdapter(filterPlugin);

/** Changes messages. */
export const transform: ThreadAdapter<TransformOptions> = threadAdapter(transformPluginOf);

/** Holds JSON payloads against a JSON Schema. */
export const schema: ThreadAdapter<SchemaOptions> = threadAdapter(schemaPluginOf);

/** Holds sends back while a target fails. */
export const circuitBreaker: ProcessorAdapter<CircuitBreakerOptions> = processorAdapter(circuitBreakerPlugin);
