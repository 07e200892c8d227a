/** Queues that keep groups in order are told apart by their names; SQS insists on it. */
export function isFifo(queueUrl: string): boolean {
  return queueUrl.endsWith(".fifo");
}

/** What the published schema asks of it, as the binary does. */
export const QUEUE_URL = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#\\@]+\/(?:[^\s?#\\]*\/)?[A-Za-z0-9_-]{1,80}(?:\.fifo)?$/;

/** Why `url` is no queue to send to or receive from, as the end of a sentence; `undefined` when it may be one. */
export function queueUrlProblem(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return "is no URL, such as https://sqs.eu-central-1.amazonaws.com/123456789012/orders";
  }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") return "is no http(s) URL";
  if (parsed.username !== "" || parsed.password !== "")
    return "holds credentials: they belong to the SDK's configuration";
  if (parsed.search !== "" || parsed.hash !== "") return "has a query or a fragment";
  if (!/\/[\w-]{1,80}(?:\.fifo)?$/.test(parsed.pathname)) return "does not end with the name of a queue";
  return QUEUE_URL.test(url) ? undefined : "is no URL as SQS writes it: it has blanks, backslashes or no //";
}
