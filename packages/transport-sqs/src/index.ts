export { type SqsTransportSettings } from "./sqs-transport.ts";
export { sqs, type SqsAdapter } from "./sqs.ts";
export type * from "./option-types.ts";
