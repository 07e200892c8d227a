/**
 * What a JSON Schema cannot say, and the binary does: rules by the words of their problems, each with the reason. Whatever
 * is not here the schema has to refuse as well. @module
 */
export const BEYOND_SHAPE: readonly (readonly [reason: string, problem: RegExp])[] = [
  ["names a part that another list holds", /: there is no \w+ .*; |: "[^"]*" is not among the bindings of the route/],
  [
    "ids are told apart by one field of an element",
    /: the id .* is taken by |: names a processor that the list has already/,
  ],
  [
    "one part is of the transport of another",
    /differs from the (?:transport|session_id) of the (?:session|sender)|session is of another transport|^\w+\[\d+\]\.session_id: the transport .* has no |^bindings\[\d+\]\.session_id: is required/,
  ],
  ["a store is needed for what a route or a session says", /, but stores\.\w+ is not configured/],
  [
    "several parts have to be apart, or to fit",
    /^(?:receivers|sessions|stores|http|audit)\S*: .*(?:already|alike)\b|cannot both|one exclusive session|allow_unfenced|is not shared by all instances|feeds? |no route/,
  ],
  [
    "times, or numbers, that are compared with others",
    /is shorter than |is more than nine tenths|lease_ttl|lease_poll_interval|quiesce_timeout/,
  ],
  ["what the rules of a resolver come to", /never chooses a binding|never reached|as many bindings|dispatch_mode/],
  [
    "what a broker takes for a topic or an address, which depends on the transport of another part",
    /^(?:receivers\[\d+\]\.topics|bindings\[\d+\]\.address)/,
  ],
  ["expressions of another language", /not a (?:regular expression of RE2|JSONata expression)|not a JSON Schema/],
  [
    "a URL, a host or an IPv6 address of the right form that is none, or that holds a user",
    /not an? (?:broker address|server's address|address|address to listen on|http or https URL|list of origins|comma-separated list of origins|origin)\b|not the (?:URL of a collector|address of a server)|holds no credentials|no query or fragment|needs a host|user part|percent-encoded|sslmode|is written as %2F|^stores\.\w+\.options\.url: is not valid/,
  ],
  [
    "sums of several parts of a duration, and a tenth of a unit beside a bound",
    /: (?:expected a duration|must be longer than 0s|must be at least|must be from|not a duration).*got "(?:[\d.]+[a-z]+){2,}"|got "\d+\.\d+[a-z]+"/,
  ],
  [
    "lengths in bytes or in UTF-16 units of characters that take several",
    /(?:at most \d+ (?:bytes|characters)|longer than \d+ bytes).*got "[^"]*[^\0-\x7f]/,
  ],
];
