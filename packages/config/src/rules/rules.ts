import { addresses } from "./addresses.ts";
import { backoffOrder } from "./backoff-order.ts";
import { bindingSessions } from "./binding-sessions.ts";
import { crossReferences } from "./cross-references.ts";
import { fedRoutes } from "./fed-routes.ts";
import { fencing, oneExclusiveSession } from "./fencing.ts";
import { idleBindings } from "./idle-bindings.ts";
import { leaseTimes, tightLeaseTimes } from "./lease-times.ts";
import { mistakenReferences } from "./mistaken-references.ts";
import { neededStores } from "./needed-stores.ts";
import { processorTypes } from "./processor-types.ts";
import { quiesceBudget } from "./quiesce-budget.ts";
import { repeatedBindings } from "./repeated-bindings.ts";
import { resolverChoices } from "./resolver-choices.ts";
import type { Rule } from "./rule-context.ts";
import { serverAddresses } from "./server-addresses.ts";
import { apiKeys } from "./api-keys.ts";
import { sharedKey } from "./shared-key.ts";
import { stores } from "./stores.ts";
import { tlsFiles } from "./tls-files.ts";
import { topics } from "./topics.ts";
import { transports } from "./transports.ts";
import { uniqueIds } from "./unique-ids.ts";
import { unkeptMessages } from "./unkept-messages.ts";
import { unusedParts } from "./unused-parts.ts";

/** What must hold beyond the schema. They look at whatever is sound, so that one fault does not hide others. */
export const RULES: readonly Rule[] = [
  uniqueIds,
  crossReferences,
  transports,
  topics,
  bindingSessions,
  addresses,
  processorTypes,
  stores,
  neededStores,
  fedRoutes,
  repeatedBindings,
  resolverChoices,
  backoffOrder,
  leaseTimes,
  fencing,
  oneExclusiveSession,
  serverAddresses,
  tlsFiles,
  mistakenReferences,
];

/** What is allowed and yet worth a word. They need the whole document to be sound, or they would be wrong. */
export const WARNINGS: readonly Rule[] = [
  quiesceBudget,
  tightLeaseTimes,
  unkeptMessages,
  idleBindings,
  unusedParts,
  sharedKey,
  apiKeys,
];
