import type { GenericSchema, InferOutput, ObjectSchema, OptionalSchema } from "valibot";
import type { Caller } from "./own-authentication.ts";
import type { StreamRow } from "./event-stream.ts";
import type { PartedBody } from "./parted-body.ts";
import type { CallSession } from "./session/call-session.ts";
import type { StreamBody } from "./stream-body.ts";
import type { Permission } from "@bridge/ports/internal";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may call: anybody; whoever holds a monitor or an admin key; whoever holds an admin key (spec 5.1 to 5.3). */
export type Access = "open" | "monitor" | "admin";

/** The names in braces of a path such as `/api/v1/admin/dlq/messages/{id}`. */
type NameIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never;

/** What stands in their places, decoded. */
type PathParams<Path extends string> = Readonly<Record<NameIn<Path>, string>>;

/** Query parameters: each is a string on the wire, given at most once; any other is answered 400. */
export type QuerySchema = ObjectSchema<
  Readonly<Record<string, OptionalSchema<GenericSchema<string, unknown>, string | undefined>>>,
  undefined
>;

/** One answer that an endpoint gives by itself. */
export interface Answer {
  readonly description: string;
  readonly schema: GenericSchema;
  /** Default `application/json`. A string is sent as it is, anything else as JSON. */
  readonly contentType?: string;
}

export type Outcome = "success" | "failure" | "partial_failure" | "pending" | "not_delivered";
export type Detail = Readonly<Record<string, unknown>>;

export interface Reply<Status extends number = number, Body = unknown> {
  readonly status: Status;
  /** Or the bytes of it, when they are there already, or what makes its text, or what goes on. */
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the audit record says. Default outcome: `success` below status 400, else `failure`. */
  readonly audit?: { readonly outcome?: Outcome; readonly detail?: Detail };
}

/** A request that has passed all checks, decoded. */
interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The name of the caller, or of the key that was shown; empty when none had to be. */
  readonly actor: string;
  /** A header that the row names; `undefined` when it was not given. */
  readonly header: (name: string) => string | undefined;
  /** Who that is, and what they may do. */
  readonly caller: Caller;
  /** What the call can do with sessions of browsers. Absent: the server has none. */
  readonly session?: CallSession | undefined;
}

type Replies<Answers> = {
  [Status in keyof Answers & number]: Answers[Status] extends { readonly schema: infer Schema extends GenericSchema }
    ? Reply<Status, InferOutput<Schema> | Uint8Array | PartedBody | StreamBody>
    : never;
}[keyof Answers & number];

type Decoded<Schema> = Schema extends GenericSchema ? InferOutput<Schema> : undefined;

/** A permission, and which bodies need it. */
interface BodyNeed<Body> {
  readonly permission: Permission;
  readonly when: (body: Body) => boolean;
}

/** A permission that a query needs which has a parameter, but with one value: told before anything else is looked at. */
interface QueryNeed {
  readonly permission: Permission;
  readonly parameter: string;
  readonly but: string;
}

type Need<Body> = BodyNeed<Body> | QueryNeed;

/** One row of a server's table: the whole of what is to be known about an endpoint. Made by an {@link EndpointFactory}. */
interface EndpointRow<
  Path extends `/api/v1/${string}`,
  Action extends string,
  Query extends QuerySchema | undefined,
  Body extends GenericSchema | undefined,
  Answers extends Readonly<Record<number, Answer>>,
> {
  readonly method: Method;
  readonly path: Path;
  readonly access: Access;
  /** What a caller has to be let do; `any`: something. Default: `read`, unless access is `open`. */
  readonly needs?: Permission | "any";
  /** What some bodies or queries need besides. */
  readonly needsFor?: readonly Need<Decoded<Body>>[];
  /** What a call may need besides, as only {@link EndpointRow.admit} can tell. */
  readonly mayNeed?: readonly Permission[];
  /**
   * The last check, when the body is read: of what has to be looked up. `mustHave` refuses a caller who lacks a permission.
   * @throws HttpError
   */
  readonly admit?: (params: PathParams<Path>, mustHave: (permission: Permission) => void) => Promise<void>;
  /** Only a key opens it, and no session. */
  readonly byKeyOnly?: true;
  /** Request headers that it reads, with what each is for. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** What the endpoint is for, in a sentence. */
  readonly summary: string;
  /** The action that is recorded for each call that was let in. Absent: calls are not recorded. */
  readonly audit?: Action;
  /**
   * For what has effects outside of the call: the action that is recorded, outcome pending, when all checks are passed
   * and before the work begins. A process that ends in between leaves this.
   */
  readonly begin?: {
    readonly action: Action;
    /** What was asked for. Default: nothing that the action and the resource do not say. */
    readonly detail?: (body: Decoded<Body>, query: Decoded<Query>) => Detail;
  };
  /** The resource that the record names. Default: none. */
  readonly resourceId?: (params: PathParams<Path>) => string;
  /** On every answer to this path, refusals included. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Says what each name in the path stands for. */
  readonly params?: Readonly<Record<NameIn<Path>, string>>;
  readonly query?: Query;
  /** Of the JSON body, which is then required, unless the schema is an optional one. */
  readonly body?: Body;
  /** Of a body that is no JSON: `handle` gets its bytes, of which the schema only tells. */
  readonly bodyType?: string;
  readonly answers: Answers;
  /** The statuses of the {@link HttpError}s that `guard` and `handle` throw, with what each means. */
  readonly refusals?: Readonly<Record<number, string>>;
  /** Whether its answers share what they are made of, so that any number may be made at once. Default: only two of a GET. */
  readonly isShared?: boolean;
  /** It answers with a {@link StreamBody}, which takes one of the places that there are for streams. */
  readonly stream?: StreamRow;
  /** Checked before the body is looked at. @throws HttpError */
  readonly guard?: (params: PathParams<Path>) => void;
}

/** A row whose types have done their work. */
export type Endpoint<Action extends string = string> = Omit<
  EndpointRow<
    `/api/v1/${string}`,
    Action,
    QuerySchema | undefined,
    GenericSchema | undefined,
    Readonly<Record<number, Answer>>
  >,
  "resourceId" | "guard" | "params" | "begin" | "needsFor" | "admit"
> & {
  readonly needsFor?: readonly Need<unknown>[];
  readonly admit?: (
    params: Readonly<Record<string, string>>,
    mustHave: (permission: Permission) => void,
  ) => Promise<void>;
  readonly begin?: { readonly action: Action; readonly detail?: (body: unknown, query: unknown) => Detail };
  readonly params?: Readonly<Record<string, string>>;
  readonly resourceId?: (params: Readonly<Record<string, string>>) => string;
  readonly guard?: (params: Readonly<Record<string, string>>) => void;
  readonly handle: (call: Call<Readonly<Record<string, string>>, unknown, unknown>) => Promise<Reply> | Reply;
};

/** What an endpoint does with a call that has passed every check. */
type Handler<Path extends string, Query, Body, Answers> = (
  call: Call<PathParams<Path>, Decoded<Query>, Decoded<Body>>,
) => Promise<Replies<Answers>> | Replies<Answers>;

/**
 * Makes the rows of a table: `endpoint({…}).handle((call) => …)` for each row and the work that it stands for.
 *
 * Parameters, query and body have the types of their schemas, and so has each reply that of its status. An
 * {@link HttpError} that is thrown is answered as what it says, anything else as an internal error.
 */
export type EndpointFactory<Action extends string> = <
  const Path extends `/api/v1/${string}`,
  const Answers extends Readonly<Record<number, Answer>>,
  Query extends QuerySchema | undefined = undefined,
  Body extends GenericSchema | undefined = undefined,
>(
  row: EndpointRow<Path, Action, Query, Body, Answers>,
) => {
  // A step of its own, because the types of the replies are those of the schemas only once these are known.
  readonly handle: (handle: Handler<Path, Query, Body, Answers>) => Endpoint<Action>;
};

/** For a table whose calls are recorded as these actions. */
export function endpointFor<Action extends string>(): EndpointFactory<Action> {
  return (row) => ({ handle: (handle) => ({ ...row, handle }) as unknown as Endpoint<Action> });
}
