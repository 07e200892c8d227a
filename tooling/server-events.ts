/** One event of `text/event-stream`, its data parsed. */
export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** The events of an answer, as they come; ends when the answer does. Comments are left out, but `onComment` hears of them. */
export async function* serverEvents(answer: Response, onComment: () => void = () => {}): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of answer.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      if (block.startsWith(":")) onComment();
      else yield eventOf(block);
    }
  }
}

function eventOf(block: string): ServerEvent {
  const lines = block.split("\n");
  const field = (name: string): string =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
  return { event: field("event"), data: JSON.parse(field("data")) };
}
