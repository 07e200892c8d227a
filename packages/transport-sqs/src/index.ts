export { sqsTransport, type SqsTransportSettings } from "./sqs-transport.ts";
export type * from "./option-types.ts";
