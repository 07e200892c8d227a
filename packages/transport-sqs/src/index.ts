export { sqsTransport, type SqsTransportSettings } from "./sqs-transport.ts";
