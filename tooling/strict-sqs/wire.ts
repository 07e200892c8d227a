/** The parts of SQS's JSON protocol that the double speaks. */
interface AttributeValue {
  readonly DataType: string;
  readonly StringValue?: string;
  /** Base64. */
  readonly BinaryValue?: string;
}

export interface SendEntry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageAttributes?: Readonly<Record<string, AttributeValue>>;
  readonly DelaySeconds?: number;
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
}

export interface SendResult {
  readonly MessageId: string;
  readonly MD5OfMessageBody: string;
  readonly SequenceNumber?: string;
}

export interface ReceiveInput {
  readonly MaxNumberOfMessages?: number;
  readonly WaitTimeSeconds?: number;
  readonly VisibilityTimeout?: number;
  readonly MessageAttributeNames?: readonly string[];
  readonly MessageSystemAttributeNames?: readonly string[];
  readonly ReceiveRequestAttemptId?: string;
}

export interface ReceivedMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MessageAttributes?: Readonly<Record<string, AttributeValue>>;
}

/** One call, as a fault may look at it. */
export interface Call {
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** How a call goes wrong. */
export type Fault =
  /** It is refused. */
  | { readonly kind: "refuse"; readonly code: string; readonly status?: number }
  /** Entries of the batch fail; the others are carried out. */
  | {
      readonly kind: "entries";
      readonly code: string;
      readonly senderFault?: boolean;
      /** They are carried out, and the answer does not mention them. */
      readonly silent?: boolean;
      readonly fails: (entry: Entry) => boolean;
    }
  /** It is carried out, and its answer is lost. */
  | { readonly kind: "lose" }
  /** Nothing is answered, ever. */
  | { readonly kind: "hang" }
  /** Nothing is done, and these bytes are the answer, as from something broken between the two. Default status: 200. */
  | { readonly kind: "answer"; readonly body: string; readonly status?: number };

interface Entry {
  readonly Id: string;
  readonly [field: string]: unknown;
}

/** An entry of any batch; which of its fields are there is its action's business. */
export type BatchEntry = Entry & SendEntry & { readonly ReceiptHandle: string; readonly VisibilityTimeout: number };
