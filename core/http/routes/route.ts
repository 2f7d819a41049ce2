/**
 * One route is one object. From it come validation, the OpenAPI document, the
 * reference page and the auth matrix. Handlers get parsed input and return a
 * value; they never see the request, check auth or set a status.
 */
import type { EventFilter, EventSpec } from '../../events/contract.js'
import type { AnyStruct, Infer, Json, Struct } from '../../base/schema.js'
import type { ProblemFactory } from '../../base/errors.js'
import type { TextHashes } from '../../base/text/canonical-json.js'
import type { Sliced } from './sliced.js'

/** Most bytes of a body when its route says nothing: 1 MiB. */
export const defaultBodyLimit = 1_048_576

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** Who may call: anyone; a read-only token; an admin token; whom `ingress` of the route lets in (http-23, http-40). */
export type Access = 'public' | 'read' | 'admin' | 'ingress'

export type ReplySpec =
  | { readonly kind: 'json'; readonly status: 200 | 201 | 202; readonly body: AnyStruct }
  | { readonly kind: 'text'; readonly status: 200; readonly type: string }
  | { readonly kind: 'bytes'; readonly status: 200 }
  | { readonly kind: 'stream'; readonly status: 200; readonly events?: readonly EventSpec<any>[] }

/** Bytes that are read while they are sent. */
export interface ByteParts {
  /** From `start` up to `end`. What it throws cuts the connection: a part that is not the whole never looks like it. */
  pieces(start: number, end: number): Iterable<Uint8Array>
  close(): Promise<void>
}
/** What a handler of a `bytes` route returns: a file, as it is stored. */
export interface BytesReply {
  /** Its media type. No browser takes it for anything else, nor runs what is in it. */
  readonly type: string
  /** The name to save it by. */
  readonly name: string
  /** Bytes. */
  readonly length: number
  /** Names exactly these bytes, such as their digest. */
  readonly tag: string
  /** Called before anything is sent: what it throws is the answer. */
  open(): Promise<ByteParts>
}

/** What a handler of a `stream` route returns: the view of the bus that this client follows. */
export interface StreamReply {
  readonly filter?: EventFilter
  /** Deltas that the client has asked for, by the words of their kinds. */
  readonly include?: readonly string[]
  /** A frame before all others; what happened since it was made follows it. */
  readonly first?: { readonly name: string; readonly data: object }
}

/** A JSON answer. The struct is checked against every answer in the tests, not in production. */
export const jsonReply = <S extends AnyStruct, const C extends 200 | 201 | 202 = 200>(
  body: S,
  status?: C,
): { kind: 'json'; status: C | 200; body: S } => ({ kind: 'json', status: status ?? 200, body })
/** Text of this media type: plain if none is named. */
export const textReply = (type = 'text/plain; charset=utf-8'): { kind: 'text'; status: 200; type: string } => ({
  kind: 'text',
  status: 200,
  type,
})
/** A file: whole, its head alone, or the part that a `Range` asks for. */
export const bytesReply = (): { kind: 'bytes'; status: 200 } => ({ kind: 'bytes', status: 200 })
/** A stream of events; those named here are described in the OpenAPI document. */
export const streamReply = (
  ...events: EventSpec<any>[]
): { kind: 'stream'; status: 200; events: readonly EventSpec<any>[] } => ({ kind: 'stream', status: 200, events })

const asCommitted = Symbol('committed')
/** An answer that leaves as soon as a commit of its request is on disk. */
export interface Committed<T> {
  readonly [asCommitted]: T
}
/**
 * Marks an answer that shows nothing but what the request's own commit saw:
 * it need not wait for commits of others. It must be made inside the callback
 * of that commit, and only after the commit has settled may it be returned.
 */
export const committed = <T>(value: T): Committed<T> => ({ [asCommitted]: value })
/** The answer inside; undefined if it is not marked. */
export const committedValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && asCommitted in value ? value[asCommitted] : undefined

type Parsed<S> = S extends Struct<any, any> ? Infer<S> : undefined
type ReplyValue<R> = R extends { kind: 'json'; body: infer B extends AnyStruct }
  ? Infer<B>
  : R extends { kind: 'stream' }
    ? StreamReply
    : R extends { kind: 'bytes' }
      ? BytesReply
      : string

type SlicedReply<T> = T extends readonly (infer V)[] ? Sliced<V> : never
type HandlerReply<T> = T | Committed<T> | SlicedReply<T>

/** What is known of a request to an `ingress` route before its body is read. */
export interface IngressHead<P> {
  readonly params: P
  readonly method: string
  /** Path and query as they came, for signatures. */
  readonly target: string
  /** The values of a header, each time that it came; its name in any case. */
  header(name: string): readonly string[]
  /** The address of the connection's other end, which may be a proxy. */
  readonly remote_addr: string | null
}

/** How callers of an `ingress` route show who they are, as the OpenAPI document names it (http-44). */
export interface IngressScheme {
  /** Unique among the schemes of the daemon: `[a-z][a-z0-9_]*`. */
  readonly id: string
  /** The header that tells: with `authorization` it is a bearer token. */
  readonly header: string
  /** What stands in it, in a sentence. */
  readonly description: string
}

/** Who was let in. */
export interface Admitted<S> {
  /** Comes to the handler as `caller.subject`. */
  readonly subject: S
  /** Looks at the body as it came, before anything reads it; throws the problem of one who is not let in after all. */
  readonly verify?: (body: Uint8Array) => void
}

/**
 * How a body is read: as the JSON of our own clients, strictly (http-20); as that of a platform, whatever its media
 * type says, where integers that a double would change are text and of a key given twice the last counts; or not at
 * all, and the handler gets the bytes.
 */
export type BodyForm = 'strict' | 'lenient' | 'bytes'

export interface Caller {
  readonly role: 'anonymous' | 'read' | 'admin' | 'ingress'
}

/** A caller with whom the `ingress` of its route let in, where it has one. */
export type SubjectCaller<S> = Caller & { readonly subject: S }

export interface RouteInput<P, Q, B, S = unknown> {
  readonly params: P
  readonly query: Q
  readonly body: B
  /** The `Idempotency-Key` header, checked for form; only on routes with `idempotent: true`. */
  readonly idempotencyKey: string | undefined
  /** Of the long texts of the body: for `fingerprint`. */
  readonly hashes: TextHashes
  readonly caller: SubjectCaller<S>
  /**
   * Aborts when the client goes away or sends the end of its stream, or the daemon begins to stop: a handler that waits
   * then answers with what there is.
   */
  readonly signal: AbortSignal
  /**
   * Says that the body is not needed any more, and takes it away: a handler that goes on to wait must say so, because
   * the bodies of all requests have a common bound.
   */
  release(): void
}

export interface RouteSpec<
  P extends AnyStruct | undefined,
  Q extends AnyStruct | undefined,
  B extends AnyStruct | undefined,
  R extends ReplySpec,
  S = unknown,
> {
  /** `noun.verb`, unique: the OpenAPI operationId. */
  readonly id: string
  readonly method: Method
  /** `/v1/sessions/:session_id`. Literal segments win over parameters, whatever the order of registration. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  /**
   * Lets a request in before its body is read, or throws the problem of one that is not: exactly where `access` is
   * `ingress`. Problems of status 401 and 403 are counted as refusals (http-28).
   */
  readonly ingress?: (head: IngressHead<Parsed<P>>) => Admitted<S> | Promise<Admitted<S>>
  /** How the callers of `ingress` show who they are; without it the document says no more than that they must. */
  readonly scheme?: IngressScheme
  readonly params?: P
  /** Values arrive as text and are read by their JSON Schema type; a repeated key is refused. */
  readonly query?: Q
  readonly body?: B
  /** `strict` when absent; the struct of `bytes` is `bytes()`. */
  readonly bodyForm?: BodyForm
  /** The body may be left out; then `body` is the parse of `{}`. */
  readonly bodyOptional?: boolean
  /** Bytes; 1 MiB when absent. */
  readonly bodyLimit?: number
  /** How many bytes of a body that is larger than 1 MiB are contents of files. The rest of it must be within 1 MiB. */
  readonly fileBytes?: (body: Parsed<B>) => number
  /**
   * The problem, with the offending fields, of an object that does not fit; `bad_request` when absent, and for what is
   * no object.
   */
  readonly invalidBody?: ProblemFactory
  /** Every problem of this route is told in this domain, also those of HTTP itself (http-46). */
  readonly problemDomain?: string
  readonly idempotent?: boolean
  /** Answers also when the state could not be loaded: it shows nothing of what is stored, or says that it is not. */
  readonly withoutState?: boolean
  readonly reply: R
  /** Problems this route may answer with, beyond those of every route. */
  readonly problems?: readonly ProblemFactory[]
  /**
   * When an acknowledged change is safe: A on disk before the answer, B within a second, C can be rebuilt. Absent for
   * reads.
   */
  readonly durability?: 'A' | 'B' | 'C'
  readonly example?: { readonly body?: Json; readonly reply?: Json }
  readonly handler: (
    input: RouteInput<Parsed<P>, Parsed<Q>, Parsed<B>, S>,
  ) => HandlerReply<ReplyValue<R>> | Promise<HandlerReply<ReplyValue<R>>>
}

/** A route whose types have been checked by `defineRoute`. */
export type Route = RouteSpec<any, any, any, ReplySpec, any>

export const defineRoute = <
  R extends ReplySpec,
  P extends AnyStruct | undefined = undefined,
  Q extends AnyStruct | undefined = undefined,
  B extends AnyStruct | undefined = undefined,
  S = unknown,
>(
  spec: RouteSpec<P, Q, B, R, S>,
): Route => spec
