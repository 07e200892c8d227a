import type { ToStringOptions } from "yaml";

/** How a text is written, so that what is changed in it looks like the rest. */
export interface Layout {
  readonly yaml: ToStringOptions;
  readonly isJson: boolean;
  /** Whether it is JSON without blanks. */
  readonly isCompact: boolean;
  /** Prints a value; absent when the text is not JSON. */
  readonly json: ((value: unknown) => string) | undefined;
  /** Gives a text with `\n` the line ends of the original. */
  breakLines(text: string): string;
}

export function layoutOf(text: string): Layout {
  const lines = text.replaceAll("\r\n", "\n");
  const indent = /^( *)[^\s#-].*:[ \t]*(?:#.*)?\n(?:\s*#.*\n|\s*\n)*\1( +)[^\s#-]/m.exec(lines)?.[2]?.length ?? 2;
  const json = isJson(lines);
  return {
    isJson: json,
    isCompact: json && !/[,:]\s/.test(lines),
    yaml: {
      lineWidth: 0,
      indent: Math.min(indent, 8),
      indentSeq: !/^( *)[^\s#-].*:[ \t]*(?:#.*)?\n(?:\s*#.*\n|\s*\n)*\1- /m.test(lines),
      flowCollectionPadding: /[{[] +[^\s}\]]/.test(lines),
    },
    json: json
      ? (value) => JSON.stringify(value, undefined, jsonIndent(lines)) + (lines.endsWith("\n") ? "\n" : "")
      : undefined,
    breakLines: (printed) => (text.includes("\r\n") ? printed.replaceAll("\n", "\r\n") : printed),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function jsonIndent(text: string): string {
  return /^\{\n([ \t]+)/.exec(text.trimStart())?.[1] ?? "";
}
